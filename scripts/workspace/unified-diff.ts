import { structuredPatch } from 'diff';

/** A run of changed lines with what is around it; line numbers from 1, lines with their ` `, `+` or `-`. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly lines: readonly string[];
}

/** Bounds of one comparison. */
const bounds = {
  context: 3,
  /** Inserted and deleted lines after which it is given up: the same on every machine. */
  maxEditLength: 2_000,
  /** Milliseconds; far above what `maxEditLength` allows, so that it never decides. */
  timeout: 20_000,
} as const;

/** @returns null where the texts differ too much to be told line by line. */
export function hunksBetween(before: string, after: string): readonly Hunk[] | null {
  const patch = structuredPatch('', '', before, after, undefined, undefined, bounds);
  return patch === undefined ? null : patch.hunks;
}

/** All of a text as one hunk, for what appears or disappears; none for an empty text. */
export function wholeHunk(text: string, mark: '+' | '-'): readonly Hunk[] {
  if (text === '') return [];
  const lines = text.split('\n');
  const ended = lines.at(-1) === '';
  if (ended) lines.pop();
  const marked = lines.map((line) => `${mark}${line}`);
  if (!ended) marked.push('\\ No newline at end of file');
  const [old, fresh] = mark === '+' ? [0, lines.length] : [lines.length, 0];
  return [{ oldStart: 1, oldLines: old, newStart: 1, newLines: fresh, lines: marked }];
}

/** The hunk as a unified diff shows it, moved down by the lines that precede the compared part. */
export function formatHunk(hunk: Hunk, oldOffset: number, newOffset: number): string {
  // A side without lines is numbered by the line before it.
  const oldStart = hunk.oldStart + oldOffset - (hunk.oldLines === 0 ? 1 : 0);
  const newStart = hunk.newStart + newOffset - (hunk.newLines === 0 ? 1 : 0);
  return `@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@\n${hunk.lines.join('\n')}\n`;
}
