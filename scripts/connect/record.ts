import { sha256 } from '../shared/thread-id.ts';

/**
 * What was done to one file, so that it can be undone byte for byte: only what was taken out is kept here, never a copy
 * of the file, as settings hold keys.
 */
export interface Change {
  readonly path: string;
  /** sha256 of the bytes as we left them. */
  readonly after: string;
  /** So many bytes at the start were left. */
  readonly start: number;
  /** Then so many bytes were put in … */
  readonly added: number;
  /** … in the place of these, in base64. */
  readonly removed: string;
  readonly wasAbsent: boolean;
  /** Folders that were made for it, outermost first. */
  readonly folders: readonly string[];
  /** What held ours before we came: `Edit.structure`. */
  readonly kept: readonly string[];
  /** Folders of pinned programs that it has named since it was connected. */
  readonly pinned: readonly string[];
}

/** The one difference between two texts of bytes; `null` is a file that was absent. */
export function differenceOf(
  before: Buffer | null,
  after: Buffer,
): Pick<Change, 'after' | 'start' | 'added' | 'removed' | 'wasAbsent'> {
  const old = before ?? Buffer.alloc(0);
  const most = Math.min(old.length, after.length);
  let start = 0;
  while (start < most && old[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && old[old.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  return {
    after: hashOf(after),
    start,
    added: after.length - start - end,
    removed: old.subarray(start, old.length - end).toString('base64'),
    wasAbsent: before === null,
  };
}

/** The bytes as they were before the change; undefined: somebody edited the file since. */
export function undone(change: Change, now: Buffer): Buffer | null | undefined {
  if (hashOf(now) !== change.after) return undefined;
  if (change.wasAbsent) return null;
  const removed = Buffer.from(change.removed, 'base64');
  return Buffer.concat([now.subarray(0, change.start), removed, now.subarray(change.start + change.added)]);
}

/** What `recordsIn` read, if it is a change. */
export function isChange(value: Readonly<Record<string, unknown>>): value is Change & Record<string, unknown> {
  const { path, after, start, added, removed, wasAbsent, folders, kept, pinned } = value;
  return (
    typeof path === 'string' &&
    typeof after === 'string' &&
    typeof removed === 'string' &&
    typeof wasAbsent === 'boolean' &&
    [start, added].every((count) => Number.isSafeInteger(count)) &&
    [folders, kept, pinned].every((list) => Array.isArray(list) && list.every((entry) => typeof entry === 'string'))
  );
}

function hashOf(bytes: Buffer): string {
  return sha256(bytes.toString('latin1'));
}
