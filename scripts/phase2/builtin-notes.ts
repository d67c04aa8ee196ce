import { formatEvidence, withoutEvidence } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { SectionName } from '../workspace/block-lines.ts';
import { type ExtensionEntry, entriesIn, importExtension } from '../workspace/extension.ts';
import { type Block, type Bullet, bulletsOf } from '../workspace/handbook.ts';
import type { ConsolidationTask } from './types.ts';

/** What a note, or a line of a resource, becomes where no model reads it: its words and where they stand. */
export interface NoteBullet {
  /** `k3f7x2ab@1` */
  readonly key: string;
  readonly section: SectionName;
  /** Without marker, with mark and evidence. */
  readonly text: string;
}

/** Stands in whatever was made from a note. @source spec §10 */
export const noteMark = '[ad-hoc note]';

/** Characters of a bullet's words; the file has them all. */
const longest = 600;
/** Lines that one resource gives. */
const linesOfResource = 10;

/**
 * One bullet a note, by path: a person's says what to do, an agent's is quoted as what an agent noted. Of a resource
 * its first statements, quoted as what it says.
 */
export function noteBullets(files: Files): NoteBullet[] {
  return entriesIn(files).flatMap((entry) => (entry.kind === 'note' ? bulletOfNote(entry) : bulletsOfResource(entry)));
}

/** The one place of a note that a bullet rests on; null where it rests on several, or on sessions too. */
export function keyOfNoted({ evidence }: Bullet, isNote: (thread: string, item: string) => boolean): string | null {
  const places = evidence.flatMap(({ thread, items }) => items.map((item) => ({ thread, item })));
  const [first] = places;
  return first !== undefined && places.length === 1 && isNote(first.thread, first.item)
    ? `${first.thread}@${first.item}`
    : null;
}

/** The root, where a note has no bullet yet, and folders of blocks that hold one. */
export function foldersOfNotes(
  task: ConsolidationTask,
  blocks: readonly Block[],
  notes: readonly NoteBullet[],
): string[] {
  const holding = task.appendOnly ? [] : blocks.filter((block) => holdsNotes(block, task));
  return [...(notes.length === 0 ? [] : ['.']), ...holding.map(({ appliesTo }) => appliesTo.cwd)];
}

export function holdsNotes(block: Block, task: ConsolidationTask): boolean {
  return bulletsOf(block).some((bullet) => keyOfNoted(bullet, task.isNote) !== null);
}

function bulletOfNote(entry: ExtensionEntry): NoteBullet[] {
  const words = wordsOf(entry.body);
  if (words === '') return [];
  return entry.authority === 'human'
    ? [bulletAt(entry, '1', 'preferences', `${words} ${noteMark}`)]
    : [bulletAt(entry, '1', 'knowledge', `An agent noted: ${quoted(words)} ${noteMark}`)];
}

function bulletsOfResource(entry: ExtensionEntry): NoteBullet[] {
  const source = entry.extension === importExtension ? 'An imported memory' : `The extension ${entry.extension}`;
  return statementsIn(entry.body)
    .slice(0, linesOfResource)
    .map(({ n, words }) => bulletAt(entry, n, 'knowledge', `${source} says: ${quoted(words)} [extension]`));
}

/** Lines that say something: no front matter, no headings, nothing in a code fence. */
function statementsIn(body: string): { readonly n: string; readonly words: string }[] {
  const lines = body.split('\n');
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1;
  let isCode = false;
  return lines.flatMap((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode;
    if (index <= end || isCode || /^\s*(?:#|```|~~~|\||---)/.test(line) || line === '(forgotten)') return [];
    const words = wordsOf(line.replace(/^\s*(?:[-*+]|\d{1,3}\.)\s+/, ''));
    return /\p{L}.*\p{L}/u.test(words) ? [{ n: String(index + 1), words }] : [];
  });
}

function bulletAt({ threadId }: ExtensionEntry, n: string, section: SectionName, text: string): NoteBullet {
  const thread = shortThreadId(threadId);
  return { key: `${thread}@${n}`, section, text: `${text} ${formatEvidence([{ thread, items: [n] }])}` };
}

/** One line, without what looks like evidence. */
function wordsOf(text: string): string {
  const line = withoutEvidence(text).replace(/\s+/g, ' ').trim();
  return line.length <= longest ? line : `${line.slice(0, longest).replace(/[\ud800-\udbff]$/, '')} …`;
}

function quoted(words: string): string {
  return `“${words.replace(/[“”]/g, '"')}”`;
}
