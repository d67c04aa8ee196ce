import type { Line } from '../publish/lines.ts';
import { citedItems, type Evidence, parseEvidence, parseSuperseded } from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { type BlockLine, readBlockLines } from '../workspace/block-lines.ts';
import { type Block, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { splitHeader } from '../workspace/inputs.ts';
import {
  everywhere,
  handbookPath,
  memorySummaryPath,
  rawMemoriesPath,
  type Scope,
  skillOf,
  stemOf,
} from '../workspace/layout.ts';
import { lineHash, normaliseLine } from '../workspace/lines.ts';
import { bulletSpans } from '../workspace/read-block.ts';
import { parseReference } from '../workspace/reference.ts';
import { itemsOf } from '../workspace/shrink.ts';
import { skillScope } from '../workspace/skill.ts';

/** A line of any memory file that somebody may ask about: a bullet with its continuation, or any other with words. */
export interface MemoryLine extends Line {
  readonly path: string;
  /** Of its first line, from 1. */
  readonly line: number;
  /** The source: all its lines, LF between them. */
  readonly raw: string;
  /** The thread whose file or section it stands in, or which it refers to; null in what people review. */
  readonly threadId: string | null;
}

/** Files by how likely somebody means a line of them: what people review before what code makes from sessions. */
export function filesByRank(files: Files): string[][] {
  const rank = (path: string) => ranks.findIndex((is) => is(path));
  const paths = [...files.keys()].filter((path) => path.startsWith('memories/')).sort(byBinary);
  return ranks.map((_, at) => paths.filter((path) => rank(path) === at)).filter((group) => group.length > 0);
}

/** Every line with words of a memory file, in its order. */
export function linesOf(path: string, text: string): MemoryLine[] {
  if (path === handbookPath) {
    const { preamble, blocks } = parseHandbook(text);
    return [
      ...linesIn(path, readBlockLines(preamble), 1, noPlace),
      ...blocks.flatMap((block) => linesIn(path, block.lines, block.line, placeOf(block))),
    ];
  }
  if (path === rawMemoriesPath) return rawLines(text);
  const threadId = stemOf(path) === null ? null : (splitHeader(text).header.thread_id ?? null);
  const scope = path === memorySummaryPath ? everywhere : skillOf(path) === null ? '' : (skillScope(text) ?? '');
  return linesIn(path, readBlockLines(text), 1, { ...noPlace, scope, threadId });
}

const ranks: readonly ((path: string) => boolean)[] = [
  (path) => path === handbookPath,
  (path) => path.startsWith('memories/skills/'),
  (path) => path === memorySummaryPath,
  (path) => path !== rawMemoriesPath && stemOf(path) === null,
  () => true,
];

interface Standing {
  readonly scope: Scope;
  readonly title: string;
  readonly threadId: string | null;
}

const noPlace: Standing = { scope: '', title: '', threadId: null };

function placeOf(block: Block): Standing {
  return { scope: scopeOf(block) ?? '', title: block.title, threadId: null };
}

/** By thread: the numbers of a section's evidence are its own rollout's. */
function rawLines(text: string): MemoryLine[] {
  let line = 1;
  return text.split(/^(?=## Thread `)/m).flatMap((section) => {
    const first = line;
    line += section.split('\n').length - 1;
    const threadId = /^## Thread `(.+)`/.exec(section)?.[1] ?? null;
    return linesIn(rawMemoriesPath, readBlockLines(section), first, { ...noPlace, title: threadId ?? '', threadId });
  });
}

function linesIn(path: string, lines: readonly BlockLine[], first: number, standing: Standing): MemoryLine[] {
  const spans = new Map(bulletSpans(lines).map(({ start, end }) => [start, end]));
  const found: MemoryLine[] = [];
  let heading = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === undefined || line.text.trim() === '') continue;
    if (/^##[ \t]/.test(line.text) && !line.fenced) heading = line.text.trim();
    const end = spans.get(at) ?? at + 1;
    const raw = lines
      .slice(at, end)
      .map(({ text }) => text)
      .join('\n');
    found.push(lineOf(path, raw, first + at, kindOf(line), heading, standing));
    at = end - 1;
  }
  return found;
}

function kindOf({ kind, fenced }: BlockLine): Line['kind'] {
  if (kind === 'bullet') return 'bullet';
  return !fenced && ['title', 'task', 'section', 'label', 'heading'].includes(kind) ? 'heading' : 'prose';
}

function lineOf(
  path: string,
  raw: string,
  line: number,
  kind: Line['kind'],
  heading: string,
  { scope, title, threadId: owner }: Standing,
): MemoryLine {
  const threadId = owner ?? parseReference(raw)?.fields.thread_id ?? null;
  const evidence = [...parseEvidence(raw), ...localEvidence(raw, owner)];
  return {
    path,
    line,
    raw,
    kind,
    scope,
    threadId,
    place: `${path}\n${scope}\n${title}\n${heading.toLowerCase()}`,
    hash: lineHash(raw),
    words: normaliseLine(raw),
    evidence,
    items: itemsOf(evidence),
    supersedes: itemsOf(parseSuperseded(raw)),
    unverified: raw.includes('(unverified)'),
  };
}

function localEvidence(raw: string, threadId: string | null): Evidence[] {
  const items = threadId === null ? [] : citedItems(raw);
  return items.length === 0 ? [] : [{ thread: shortThreadId(threadId ?? ''), items }];
}
