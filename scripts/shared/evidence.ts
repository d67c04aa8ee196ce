/**
 * An item's number within its rollout: the ordinal of the source record, `12`; a further part of that record, `12.2`;
 * a record of the second side file, `2:7`. It never changes when a filter or a newer reader comes.
 */
export type ItemNumber = string;

/** Where a line of memory comes from: items of one thread. In a handbook `[k3f7x2ab@88,91]`. */
export interface Evidence {
  /** The thread's short id (`shortThreadId`). */
  readonly thread: string;
  readonly items: readonly ItemNumber[];
}

const item = String.raw`(?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?`;
const items = `${item}(?:, ?${item}){0,99}`;
const local = new RegExp(String.raw`\(@(${items})\)`, 'g');
const global = new RegExp(String.raw`\[([a-z2-7]{8})@(${items})\]`, 'g');
const bare = `([a-z2-7]{8})@(${items})`;
const superseded = new RegExp(
  String.raw`\(supersedes ((?:[a-z2-7]{8}@${items})(?: [a-z2-7]{8}@${items}){0,19})\)`,
  'g',
);

/** Every item that a stage-1 text cites as `(@12,15)`, in the order of first mention. */
export function citedItems(text: string): ItemNumber[] {
  return unique([...text.matchAll(local)].flatMap((match) => splitItems(match[1] ?? '')));
}

/** `(@12,15)`: the evidence of a bullet inside its own thread's stage-1 output. */
export function formatItems(numbers: readonly ItemNumber[]): string {
  return `(@${numbers.join(',')})`;
}

/** Every `[k3f7x2ab@88,91]` of a handbook text, in order, one entry a thread. */
export function parseEvidence(text: string): Evidence[] {
  return byThread(text.matchAll(global));
}

/** What a line says that it corrects, `(supersedes k3f7x2ab@88,91 m2p7c4dw@12)`: the evidence of the lines that it replaces. */
export function parseSuperseded(text: string): Evidence[] {
  if (!text.includes('(supersedes ')) return [];
  const marks = [...text.matchAll(superseded)].map((match) => match[1] ?? '').join(' ');
  return byThread(marks.matchAll(new RegExp(bare, 'g')));
}

/** `(supersedes k3f7x2ab@88,91 m2p7c4dw@12)`; '' for nothing. */
export function formatSuperseded(evidence: readonly Evidence[]): string {
  const marks = evidence.map(({ thread, items: numbers }) => `${thread}@${numbers.join(',')}`);
  return marks.length === 0 ? '' : `(supersedes ${marks.join(' ')})`;
}

/** A text with each of its `(supersedes …)` replaced; where nothing comes instead, the space before it goes too. */
export function replaceSuperseded(text: string, replacement: (evidence: Evidence[]) => string): string {
  return text.replace(new RegExp(`( ?)(${superseded.source})`, 'g'), (_, space: string, mark: string) => {
    const instead = replacement(parseSuperseded(mark));
    return instead === '' ? '' : `${space}${instead}`;
  });
}

/** `[k3f7x2ab@88,91]`, several threads with a space between. */
export function formatEvidence(evidence: readonly Evidence[]): string {
  return evidence.map((entry) => `[${entry.thread}@${entry.items.join(',')}]`).join(' ');
}

/** A stage-1 bullet's local evidence as a handbook's: `(@12,15)` becomes `[k3f7x2ab@12,15]`. */
export function toHandbookEvidence(text: string, thread: string): string {
  return text.replace(local, (_, numbers: string) => `[${thread}@${splitItems(numbers).join(',')}]`);
}

/** The text without its evidence marks, what it says that it supersedes, and the space before them. */
export function withoutEvidence(text: string): string {
  return text
    .replace(superseded, '')
    .replace(global, '')
    .replace(local, '')
    .replace(/[ \t]{2,}/g, ' ')
    .replace(/[ \t]+$/gm, '');
}

function byThread(matches: Iterable<RegExpMatchArray>): Evidence[] {
  const found = new Map<string, ItemNumber[]>();
  for (const match of matches) {
    const thread = match[1] ?? '';
    found.set(thread, unique([...(found.get(thread) ?? []), ...splitItems(match[2] ?? '')]));
  }
  return [...found].map(([thread, numbers]) => ({ thread, items: numbers }));
}

function splitItems(numbers: string): ItemNumber[] {
  return numbers.split(',').map((number) => number.trim());
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
