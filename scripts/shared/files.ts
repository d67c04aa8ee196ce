/**
 * Memory files as a value: path (relative to the repository's root, `/` between parts, never starting with one) to
 * text (LF line ends). Binary files are never in it.
 */
export type Files = ReadonlyMap<string, string>;

/** Lower-case hexadecimal SHA-1 (40) or SHA-256 (64) of a Git object. */
export type Oid = string;

export function areSame(a: Files, b: Files): boolean {
  if (a.size !== b.size) return false;
  for (const [path, text] of a) if (b.get(path) !== text) return false;
  return true;
}

/** Binary (UTF-16 code unit) order: the same in every locale. */
export function byBinary(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
