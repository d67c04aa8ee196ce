import {
  type Evidence,
  formatEvidence,
  formatSuperseded,
  parseEvidence,
  replaceSuperseded,
} from '../shared/evidence.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { type BlockLine, readBlockLines } from '../workspace/block-lines.ts';
import { entryOf, withoutHiddenItems } from '../workspace/extension.ts';
import { joinBlocks, parseHandbook, scopeOf } from '../workspace/handbook.ts';
import { rawSections, splitHeader } from '../workspace/inputs.ts';
import { handbookPath, rawMemoriesPath, skillOf, stemOf, summaryPath } from '../workspace/layout.ts';
import { unitsOf } from '../workspace/lines.ts';
import { parseReference } from '../workspace/reference.ts';
import { renumbered } from '../workspace/repair.ts';
import type { Doomed } from './doomed.ts';
import { withoutHidden } from './rows.ts';

/** A summary's stem without the words of its slug: its start and four digits of its session. */
export function plainStem(stem: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[A-Za-z0-9]{4}(?=-)/.exec(stem)?.[0] ?? stem;
}

/** Whether a file's name holds words that go: a slug writes them with other signs between. */
export function isNamedAfter(name: string, { says }: Doomed): boolean {
  return says(name) || says(name.replace(/[-_./]+/g, ' '));
}

/** Memory files without what is forgotten: lines, sections, whole files; a summary named after it is renamed. */
export function cleanFiles(files: Files, doomed: Doomed): Files {
  const renamed = new Map(
    [...files.keys()].flatMap((path): [string, string][] => {
      const stem = stemOf(path);
      return stem !== null && isNamedAfter(stem, doomed) ? [[stem, plainStem(stem)]] : [];
    }),
  );
  const cleaned = [...files].flatMap(([path, text]): [string, string][] => {
    const left = cleanFile(path, text, doomed);
    if (left === null) return [];
    const named = [...renamed].reduce((shown, [from, to]) => shown.replaceAll(`${from}.md`, `${to}.md`), left);
    const stem = stemOf(path);
    const to = stem === null ? undefined : renamed.get(stem);
    return [[to === undefined ? path : summaryPath(to), named]];
  });
  return new Map(cleaned.sort(([a], [b]) => byBinary(a, b)));
}

function cleanFile(path: string, text: string, doomed: Doomed): string | null {
  if (path === handbookPath) return cleanHandbook(text, doomed);
  if (path === rawMemoriesPath) return cleanRawMemories(text, doomed);
  if (stemOf(path) !== null) {
    const { thread_id: thread = '' } = splitHeader(text).header;
    return doomed.hidesThread(thread) ? null : cleanStage1(text, thread, doomed);
  }
  if (isNamedAfter(path, doomed)) return null;
  const entry = entryOf(path, text);
  const said = entry === null ? text : withoutHiddenItems(entry, text, (n) => doomed.hidesItem(entry.threadId, n));
  if (said === null) return null;
  const isSkill = skillOf(path) !== null;
  // What says when a skill is to be used cannot lose a word: such a skill goes whole.
  if (isSkill && doomed.says(frontMatterOf(text))) return null;
  return cleanLines(said, readBlockLines(said), doomed).join('\n');
}

/** A stage-1 text of a session: its lines that rest on what goes, say it, or quote it. */
export function cleanStage1(text: string, thread: string, doomed: Doomed): string {
  const kept = withoutHidden(text, (n) => doomed.hidesItem(thread, n));
  const lines = kept.split('\n');
  const left = lines.filter((line) => line.trim() === '' || !(doomed.says(line) || doomed.isLine(line)));
  return left.length === lines.length ? kept : left.join('\n');
}

function cleanHandbook(text: string, doomed: Doomed): string {
  const { preamble, blocks } = parseHandbook(text);
  const raws = blocks.flatMap((block) => {
    const { raw, lines, isTaskGroup } = block;
    const scope = scopeOf(block) ?? '';
    const left = cleanLines(raw, lines, doomed, (line) => doomed.spares(scope, line));
    const isAsBefore = left.length === raw.split('\n').length;
    const says = isTaskGroup ? /^[-*+][ \t]/ : /^(?!#)\s*\S/;
    if (isAsBefore) return [left.join('\n')];
    return left.some((line) => says.test(line)) ? [counted(left.join('\n'))] : [];
  });
  const before = preamble === '' ? '' : cleanLines(preamble, readBlockLines(preamble), doomed).join('\n');
  const isSame =
    before === preamble && raws.length === blocks.length && raws.every((raw, at) => raw === blocks[at]?.raw);
  return isSame ? text : joinBlocks(before, raws);
}

/** A block that may have lost tasks. */
function counted(raw: string): string {
  return renumbered(readBlockLines(raw))
    .map(({ text }) => text)
    .join('\n');
}

/** The source's lines that stay, with what is left of their evidence. */
function cleanLines(
  source: string,
  lines: readonly BlockLine[],
  doomed: Doomed,
  spares: (line: string) => boolean = () => false,
): string[] {
  const shown: (string | null)[] = source.split('\n');
  for (const { raw, evidence, line, kind } of unitsOf({ lines, line: 1 })) {
    const length = raw.split('\n').length;
    const cited = evidence.flatMap(({ thread, items }) => items.map((n) => doomed.hidesShort(thread, n)));
    const isGone =
      (cited.length > 0 && cited.every(Boolean)) || doomed.says(raw) || (kind !== 'heading' && doomed.isLine(raw));
    const isSpared = spares(raw);
    for (let at = line - 1; at < line - 1 + length; at += 1) {
      const now = shown[at];
      if (now === null || now === undefined) continue;
      if (isGone) shown[at] = null;
      else if (!isSpared) shown[at] = withoutMarks(now, doomed);
    }
  }
  for (const [at, { kind, text }] of lines.entries()) {
    const now = shown[at];
    if (now === null || now === undefined) continue;
    if (kind === 'reference' && doomed.hidesThread(parseReference(text)?.fields.thread_id ?? '')) shown[at] = null;
    else if (doomed.says(now)) shown[at] = withoutWords(now, kind, doomed);
  }
  dropEmptyTasks(shown, lines);
  return shown.filter((line) => line !== null);
}

function withoutMarks(line: string, doomed: Doomed): string {
  const marked = replaceSuperseded(line, (marks) => formatSuperseded(left(marks, doomed)));
  return marked.replace(/ ?\[[a-z2-7]{8}@[\d:., ]{1,2000}\]/g, (mark) => {
    const [all, some] = [parseEvidence(mark), left(parseEvidence(mark), doomed)];
    const isSame = all.length === some.length && all.every(({ items }, at) => items.length === some[at]?.items.length);
    if (isSame) return mark;
    return some.length === 0 ? '' : `${mark.startsWith(' ') ? ' ' : ''}${formatEvidence(some)}`;
  });
}

/** What of some evidence is not doomed. */
function left(evidence: readonly Evidence[], doomed: Doomed): Evidence[] {
  return evidence
    .map(({ thread, items }) => ({ thread, items: items.filter((n) => !doomed.hidesShort(thread, n)) }))
    .filter(({ items }) => items.length > 0);
}

/** A line that its block cannot do without keeps its place; any other goes. */
function withoutWords(line: string, kind: BlockLine['kind'], { says }: Doomed): string | null {
  if (kind === 'title') return '# Task Group: (forgotten)';
  if (kind === 'scope') return 'scope: (forgotten)';
  if (kind === 'task') return line.replace(/^(## Task[^:]*:).*$/, '$1 (forgotten), outcome uncertain');
  if (kind !== 'keywords') return null;
  const [marker = '- ', rest = ''] = [line.slice(0, 2), line.slice(2)];
  const kept = rest.split(',').filter((keyword) => !says(keyword));
  return `${marker}${kept.length === 0 ? 'forgotten' : kept.join(',').trim()}`;
}

/** A task that lost all its sessions told of them alone. */
function dropEmptyTasks(shown: (string | null)[], lines: readonly BlockLine[]): void {
  for (const [from, { kind }] of lines.entries()) {
    if (kind !== 'task') continue;
    const rest = lines.slice(from + 1).findIndex((line) => line.kind === 'task' || /^#{1,2}[ \t]/.test(line.text));
    const to = rest === -1 ? lines.length : from + 1 + rest;
    const references = lines.slice(from, to).flatMap((line, at) => (line.kind === 'reference' ? [from + at] : []));
    if (references.length === 0 || references.some((at) => shown[at] !== null)) continue;
    for (let at = from; at < to; at += 1) shown[at] = null;
  }
}

function cleanRawMemories(text: string, doomed: Doomed): string {
  return text
    .split(/^(?=## Thread `)/m)
    .flatMap((part) => {
      const thread = rawSections(part)[0]?.threadId;
      if (thread === undefined) return [part];
      return doomed.hidesThread(thread) ? [] : [cleanStage1(part, thread, doomed)];
    })
    .join('');
}

function frontMatterOf(text: string): string {
  return /^---\n[\s\S]*?\n---/.exec(text)?.[0] ?? '';
}
