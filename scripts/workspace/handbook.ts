import type { Evidence } from '../shared/evidence.ts';
import { type BlockLine, followFences, type SectionName, sectionHeadings, sectionNames } from './block-lines.ts';
import type { Scope } from './layout.ts';
import { readBlock } from './read-block.ts';

export interface AppliesTo {
  /** A repository id or `*`; '' where the line or the part is missing. */
  readonly repo: Scope;
  readonly cwd: string;
  readonly reuseRule: string;
}

export interface Task {
  /** null where the heading gives none. */
  readonly number: number | null;
  readonly title: string;
  /** `success`, `partial`, `uncertain` or `fail`; null where the heading ends in none. */
  readonly outcome: string | null;
  /** `rollout_summaries/<stem>.md` */
  readonly summaryFiles: readonly string[];
  readonly keywords: readonly string[];
  /** Of the heading, in the handbook, from 1. */
  readonly line: number;
}

export interface Bullet {
  /** Without marker and evidence, its lines joined. */
  readonly text: string;
  /** The source: all its lines, without the last line end. */
  readonly raw: string;
  readonly evidence: readonly Evidence[];
  /** The evidence of lines that it corrects and stands in place of. */
  readonly supersedes: readonly Evidence[];
  /** In the handbook, from 1. */
  readonly line: number;
}

/** A task group, with its exact source. */
export interface Block {
  /** After `# Task Group: `; the whole heading of any other. */
  readonly title: string;
  readonly isTaskGroup: boolean;
  readonly scopeLine: string;
  readonly appliesTo: AppliesTo;
  readonly tasks: readonly Task[];
  readonly preferences: readonly Bullet[];
  readonly knowledge: readonly Bullet[];
  readonly failures: readonly Bullet[];
  readonly lines: readonly BlockLine[];
  /** From the heading up to the next block. */
  readonly raw: string;
  /** Of the heading, from 1. */
  readonly line: number;
}

export interface Handbook {
  /** What precedes the first block. */
  readonly preamble: string;
  readonly blocks: readonly Block[];
}

/**
 * Reads `MEMORY.md` by lines: `preamble` and all `raw`s joined are the text again, byte for byte. A `# Task Group:`
 * begins a block even inside a code fence, so that one fence left open cannot swallow another scope's block.
 */
export function parseHandbook(text: string): Handbook {
  const sources = blockSources(text);
  const blocks = sources.map(({ raw, line }) => readBlock(raw, line));
  return { preamble: text.slice(0, sources[0]?.offset ?? text.length), blocks };
}

/** What a task group's heading begins with. */
export const groupMark = '# Task Group:';

/** Where a block stands in the handbook, unread: `line` is its heading's, from 1. */
export interface BlockSource {
  readonly raw: string;
  readonly line: number;
  readonly offset: number;
}

/** The handbook cut into blocks and no more: reading all of a large one takes ten times as long. */
export function blockSources(text: string): BlockSource[] {
  const starts = blockStarts(text);
  return starts.map(({ offset, line }, index) => ({
    raw: text.slice(offset, starts[index + 1]?.offset ?? text.length),
    line,
    offset,
  }));
}

/** The scope that a block speaks for; null for a person's own section without an `applies_to:` line. */
export function scopeOf(block: Pick<Block, 'isTaskGroup' | 'appliesTo'>): Scope | null {
  return block.isTaskGroup && block.appliesTo.repo !== '' ? block.appliesTo.repo : null;
}

/** The bullets of the three sections, in source order of the schema. */
export function bulletsOf(block: Block): readonly Bullet[] {
  return [...block.preferences, ...block.knowledge, ...block.failures];
}

/** One text from blocks: a blank line between, no source changed otherwise. */
export function joinBlocks(preamble: string, raws: readonly string[]): string {
  return spacedBlocks(preamble, raws).join('');
}

/** The parts of that text: what precedes the first block, then each block up to the next. */
export function spacedBlocks(preamble: string, raws: readonly string[]): string[] {
  const parts = [preamble];
  // Looking at the end of all that stands so far would copy it, block by block.
  let end = preamble.slice(-3);
  const ended = (text: string): void => {
    end = text.length < 3 ? `${end}${text}`.slice(-3) : text.slice(-3);
  };
  const add = (lines: string): void => {
    parts.push(`${parts.pop()}${lines}`);
    ended(lines);
  };
  for (const raw of raws) {
    if (end !== '' && !/\n\r?\n$/.test(end)) add(end.endsWith('\n') ? '\n' : '\n\n');
    parts.push(raw);
    ended(raw);
  }
  if (end !== '' && !end.endsWith('\n')) add('\n');
  return parts;
}

export interface TaskDraft {
  readonly title: string;
  /** Lines of `formatReference`. */
  readonly references: readonly string[];
  readonly keywords: readonly string[];
}

/** What a block is made of; every bullet ends in its evidence. */
export interface BlockDraft {
  readonly title: string;
  readonly scopeLine: string;
  readonly appliesTo: AppliesTo;
  readonly tasks: readonly TaskDraft[];
  /** Without marker, with evidence. */
  readonly bullets: Readonly<Record<SectionName, readonly string[]>>;
}

/** A new block's source. Sections without bullets are left out. */
export function renderBlock(draft: BlockDraft): string {
  const { repo, cwd, reuseRule } = draft.appliesTo;
  const parts = [
    `# Task Group: ${draft.title}\nscope: ${draft.scopeLine}\napplies_to: repo=${repo}; cwd=${cwd}; reuse_rule=${reuseRule}`,
    ...draft.tasks.map((task, index) => renderTask(task, index + 1)),
    ...sectionNames
      .filter((name) => draft.bullets[name].length > 0)
      .map((name) => `${sectionHeadings[name]}\n${draft.bullets[name].map((bullet) => `- ${bullet}`).join('\n')}`),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** A task's lines, without a line end after the last. */
export function renderTask({ title, references, keywords }: TaskDraft, number: number): string {
  return `## Task ${number}: ${title}\n### rollout_summary_files\n${references.join('\n')}\n### keywords\n- ${keywords.join(', ')}`;
}

interface Start {
  readonly offset: number;
  readonly line: number;
}

function blockStarts(text: string): Start[] {
  const starts: Start[] = [];
  let fences = followFences();
  let line = 1;
  let counted = 0;
  for (const offset of markedLines(text)) {
    const source = text.slice(offset, endOfLine(text, offset));
    const isTaskGroup = source.startsWith(groupMark);
    if (isTaskGroup) fences = followFences();
    const fenced = fences.cover(source.replace(/\r$/, ''));
    if (!isTaskGroup && (fenced || !/^#[ \t]/.test(source))) continue;
    for (let at = text.indexOf('\n', counted); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
    counted = offset;
    starts.push({ offset, line });
  }
  return starts;
}

/** Where the lines begin that may start a block or hold a fence's mark, ascending: no other tells where a block begins. */
function markedLines(text: string): number[] {
  const found = new Set<number>(text.startsWith('#') ? [0] : []);
  for (const mark of ['\n# ', '\n#\t'])
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, at + 1)) found.add(at + 1);
  for (const mark of ['```', '~~~']) {
    for (let at = text.indexOf(mark); at !== -1; at = text.indexOf(mark, endOfLine(text, at)))
      found.add(text.lastIndexOf('\n', at) + 1);
  }
  return [...found].sort((a, b) => a - b);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
