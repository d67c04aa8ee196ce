import { parseEvidence } from '../shared/evidence.ts';
import { type BlockLine, type LineKind, labels, readBlockLines } from './block-lines.ts';
import { type Block, parseHandbook, scopeOf } from './handbook.ts';
import { everywhere, type Scope } from './layout.ts';
import { normaliseLine } from './lines.ts';
import { parseReference } from './reference.ts';
import { itemsOf } from './shrink.ts';
import { summaryHeadings } from './summary-sections.ts';

/** The smallest piece that is merged: a bullet with its continuation, a line of prose, a whole code fence, a heading. */
export interface Leaf {
  readonly kind: LineKind;
  /** What it says, wherever it stands: its normalised words; of a reference the file it names. */
  readonly token: string;
  /** Tells it apart from its siblings. */
  readonly key: string;
  /** What is compared: its lines without carriage returns. */
  readonly raw: string;
  /** Its source lines, without line feeds. */
  readonly lines: readonly string[];
  /** The blank lines above it. */
  readonly lead: readonly string[];
  /** Whether its file begins with it. */
  readonly isTop: boolean;
  /** Its evidence, `k3f7x2ab@88`, sorted. */
  readonly items: readonly string[];
}

/** A heading with what stands below it: first its leaves, then its parts. */
export interface Outline {
  /** 0: the file, 1: a block, 2: `##`, 3: `###` and below. */
  readonly level: 0 | 1 | 2 | 3;
  readonly key: string;
  /** '' outside every scope. */
  readonly scope: Scope;
  readonly heading: Leaf | null;
  readonly leaves: readonly Leaf[];
  readonly parts: readonly Outline[];
}

export interface Document {
  readonly root: Outline;
  /** What follows the last line that is not blank. */
  readonly tail: string;
}

export function outlineHandbook(text: string): Document {
  const { preamble, blocks } = parseHandbook(text);
  const entries = entriesOf(readBlockLines(`\n${preamble}`).slice(1), preamble, '', '');
  for (const block of blocks)
    entries.push(...entriesOf(block.lines, block.raw, scopeOf(block) ?? '', `${scopeOf(block) ?? ''}\n${block.title}`));
  return outline(entries, text, '');
}

export function outlineSummary(text: string): Document {
  return outline(entriesOf(readBlockLines(`\n${text}`).slice(1), text, everywhere, ''), text, everywhere);
}

/** Whether people or an agent chose to write it; the rest is a block's frame, of which there is one each. */
export function isContent({ kind }: Leaf): boolean {
  return kind !== 'scope' && kind !== 'applies_to' && kind !== 'keywords';
}

/** Every leaf at and below an outline that is no heading. */
export function* leavesOf(node: Outline): Generator<Leaf> {
  yield* node.leaves;
  for (const part of node.parts) yield* leavesOf(part);
}

interface Entry {
  readonly line: BlockLine;
  readonly source: string;
  readonly scope: Scope;
  /** Of the block that it is the heading of. */
  readonly blockKey: string;
}

function entriesOf(lines: Block['lines'], raw: string, scope: Scope, blockKey: string): Entry[] {
  const sources = raw.split('\n');
  return lines.map((line, at) => ({ line, source: sources[at] ?? '', scope, blockKey: at === 0 ? blockKey : '' }));
}

interface Growing {
  readonly level: Outline['level'];
  readonly key: string;
  readonly scope: Scope;
  readonly heading: GrowingLeaf | null;
  readonly leaves: GrowingLeaf[];
  readonly parts: Growing[];
}

interface GrowingLeaf {
  readonly kind: LineKind;
  readonly fenced: boolean;
  readonly lines: string[];
  readonly lead: readonly string[];
  readonly isTop: boolean;
}

function outline(entries: readonly Entry[], text: string, scope: Scope): Document {
  const root: Growing = { level: 0, key: '', scope, heading: null, leaves: [], parts: [] };
  const path: Growing[] = [root];
  let blanks: string[] = [];
  let open: GrowingLeaf | null = null;
  let isTop = true;
  for (const { line, source, scope: own, blockKey } of entries) {
    if (line.kind === 'blank') {
      blanks.push(source);
      if (open?.fenced === true) open = null;
      continue;
    }
    const continues = open !== null && (line.kind === 'continuation' || (open.fenced && isFence(line)));
    if (open !== null && continues) {
      open.lines.push(...blanks, source);
    } else {
      const leaf: GrowingLeaf = { kind: line.kind, fenced: isFence(line), lines: [source], lead: blanks, isTop };
      const level = levelOf(line);
      if (level === null) {
        path.at(-1)?.leaves.push(leaf);
      } else {
        while ((path.at(-1)?.level ?? 0) >= level) path.pop();
        const node: Growing = {
          level,
          key: level === 1 ? blockKey : headingKey(line),
          scope: level === 1 ? own : (path.at(-1)?.scope ?? ''),
          heading: leaf,
          leaves: [],
          parts: [],
        };
        path.at(-1)?.parts.push(node);
        path.push(node);
      }
      open = level === null ? leaf : null;
    }
    blanks = [];
    isTop = false;
  }
  const end = text === '' || text.endsWith('\n') ? '\n' : '';
  return { root: finish(root), tail: end + blankTail(blanks, text) };
}

/** The blank lines at a file's end; its last line end is said already. */
function blankTail(blanks: readonly string[], text: string): string {
  if (blanks.length === 0) return '';
  return text.endsWith('\n') ? `${blanks.join('\n')}\n` : `\n${blanks.join('\n')}`;
}

function isFence({ fenced, kind }: BlockLine): boolean {
  return fenced && kind === 'prose';
}

function levelOf({ kind, text, fenced }: BlockLine): 1 | 2 | 3 | null {
  if (kind === 'title') return 1;
  if (kind === 'task' || kind === 'section') return 2;
  if (kind === 'label') return 3;
  if (kind !== 'heading' || fenced || /^#(?:[ \t]|$)/.test(text)) return null;
  return /^##(?:[ \t]|$)/.test(text) ? 2 : 3;
}

function headingKey({ kind, text }: BlockLine): string {
  const words = text.trim().toLowerCase();
  if (kind !== 'task') return words;
  const title = words.replace(/^## task\b[ \t]*\d{0,6}[ \t]*:?[ \t]*/, '');
  return `task ${title.replace(/[\s,(]{0,4}\b(?:success|partial|uncertain|fail)\)?$/, '')}`;
}

function finish(node: Growing): Outline {
  const isContents = node.heading?.lines[0]?.trim() === summaryHeadings.contents;
  const numbered = numberer();
  const leaves = node.leaves.map((leaf) => {
    const token = tokenOf(leaf, isContents);
    return finishLeaf(leaf, token, numbered(token));
  });
  const numberedPart = numberer();
  const parts = node.parts.map((part) => ({ ...finish(part), key: numberedPart(part.key) }));
  return {
    ...node,
    heading: node.heading === null ? null : finishLeaf(node.heading, node.key, node.key),
    leaves,
    parts,
  };
}

/** Tells apart what is called the same: the second of a name gets a number. */
function numberer(): (name: string) => string {
  const counts = new Map<string, number>();
  return (name) => {
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name} #${count}`;
  };
}

const none: readonly string[] = [];

function finishLeaf({ kind, lines, lead, isTop }: GrowingLeaf, token: string, key: string): Leaf {
  const raw = rawOf(lines);
  const items = kind === 'bullet' && raw.includes('[') ? itemsOf(parseEvidence(raw.replace(/\s+/g, ' '))).sort() : none;
  return { kind, token, key, raw, lines, lead, isTop, items };
}

function tokenOf({ kind, lines }: GrowingLeaf, isContents: boolean): string {
  const raw = rawOf(lines);
  if (kind === 'scope' || kind === 'applies_to' || kind === 'keywords') return kind;
  if (kind === 'reference') {
    const file = parseReference(raw)?.file;
    return file === undefined ? normaliseLine(raw) : `${labels.references} ${file}`;
  }
  // A repository's line in the summary's index is the same line whatever topics it names.
  const entry = isContents ? /^- (\S{1,300}?)(?::[ \t]|$)/.exec(raw)?.[1] : undefined;
  return entry === undefined ? normaliseLine(raw) : `${summaryHeadings.contents} ${entry}`;
}

function rawOf(lines: readonly string[]): string {
  return lines.map((line) => line.replace(/\r$/, '')).join('\n');
}
