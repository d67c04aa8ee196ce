import { ToolError } from './tool-error.ts';

/** A part of a list, and where the next one starts. */
export interface Page<T> {
  readonly entries: readonly T[];
  readonly nextCursor: string | null;
}

/**
 * Where a page starts, by a cursor: a decimal offset into the whole result.
 * @throws ToolError for one that no page gave.
 */
export function offsetOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^(?:0|[1-9]\d{0,8})$/.test(cursor))
    throw new ToolError(
      `The cursor “${cursor.slice(0, 40)}” is none.`,
      'Leave it out for the first page, else give next_cursor as it came.',
    );
  return Number(cursor);
}

/** @throws ToolError for an offset beyond the end. */
export function pageOf<T>(all: readonly T[], offset: number, most: number): Page<T> {
  assertWithin(offset, all.length);
  const end = Math.min(all.length, offset + most);
  return { entries: all.slice(offset, end), nextCursor: end < all.length ? String(end) : null };
}

export function assertWithin(offset: number, count: number): void {
  if (offset > count)
    throw new ToolError(`The cursor ${offset} is beyond the ${count} results.`, 'Start again without a cursor.');
}
