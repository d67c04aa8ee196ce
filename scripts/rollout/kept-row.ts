import type { OutlineItem } from './forks.ts';
import type { Found } from './source.ts';

/** What a listing knows of a session without where its file is and how it compares with others. */
export type Facts = Omit<Found, 'path' | 'kin'>;

/** What is kept of a session's file. Cleaned texts only; what an agent or this machine calls things is hashed or sealed. */
export type Row = IgnoredRow | SessionRow;

export interface IgnoredRow {
  /** A reader's reason. */
  readonly ignored: string;
}

export interface SessionRow {
  readonly facts: Facts;
  readonly bytes: number;
  readonly sha256: string;
  /** Of its outline. */
  readonly parents: readonly string[];
  readonly items: PackedItems;
  /** Its folder, sealed with its file's path: a cache alone tells nobody's folders. */
  readonly cwd: string | null;
  /** Hash of the checkout that its folder belonged to. */
  readonly checkout: string;
  /** What is its own once it is without items that it only repeats. */
  readonly own?: {
    /** Hash of the items' numbers. */
    readonly repeats: string;
    readonly facts: Facts;
  };
}

/** Numbers, times (each as what it adds to the one before, '' for none) and marks, with a space between two. */
export type PackedItems = readonly [numbers: string, times: string, marks: string];

export function packed(items: readonly OutlineItem[]): PackedItems {
  let before = 0;
  const times = items.map(({ at }) => {
    if (at === null) return '';
    const more = at - before;
    before = at;
    return String(more);
  });
  return [items.map(({ n }) => n).join(' '), times.join(' '), items.map(({ mark }) => mark).join(' ')];
}

export function unpacked([numbers, times, marks]: PackedItems): OutlineItem[] {
  if (numbers === '') return [];
  const [more, mark] = [times.split(' '), marks.split(' ')];
  let before = 0;
  return numbers.split(' ').map((n, index) => {
    const added = more[index] ?? '';
    if (added !== '') before += Number(added);
    return { n, at: added === '' ? null : before, mark: mark[index] ?? '' };
  });
}
