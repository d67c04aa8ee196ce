import { MemoryError } from './errors.ts';

/**
 * A path from outside that may be joined to a repository's root: relative, `/` between parts, in its only spelling.
 * @returns the path itself.
 * @throws MemoryError that says what is wrong with it.
 */
export function safePath(path: string): string {
  const fault = pathFault(path);
  if (fault !== null)
    throw new MemoryError(
      `The path ${JSON.stringify(path.slice(0, 200))} ${fault}.`,
      'Name a file inside the repository, such as memories/MEMORY.md; nothing was written.',
    );
  return path;
}

/** What is wrong with a path, as the rest of a sentence; null for a safe one. Parts ≤ 255 bytes, the whole ≤ 4,096. */
export function pathFault(path: string): string | null {
  if (path === '') return 'is empty';
  if (Buffer.byteLength(path) > 4096) return 'is longer than 4,096 bytes';
  if (/[\0-\x1f\x7f-\x9f]/.test(path)) return 'has a control character';
  if (/\p{Surrogate}/u.test(path)) return 'is not well-formed Unicode';
  if (path.includes('\\')) return 'has a backslash';
  if (path.startsWith('/')) return 'is absolute';
  if (/^(?:[A-Za-z])?:/.test(path)) return 'begins with a drive letter or a colon';
  for (const part of path.split('/')) {
    if (part === '') return 'has an empty part';
    if (part === '.' || part === '..') return `has the part ${part}`;
    if (isGitFolder(part)) return `has the part ${part}, which a file system may take for .git`;
    if (Buffer.byteLength(part) > 255) return 'has a part longer than 255 bytes';
  }
  return null;
}

/** `.git` as Windows (short name, trailing dots and spaces, streams) and macOS (ignorable characters) would read it. */
function isGitFolder(part: string): boolean {
  const seen = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/:.*$/, '')
    .toLowerCase();
  if (!/^(?:\.git|git~1)/.test(seen)) return false;
  return /^[. ]*$/.test(seen.replace(/^(?:\.git|git~1)/, ''));
}

/** A repository's id is a scope, and so a part of a path in the state: 255 bytes are the most that file systems take. */
export function fitsAName(id: string): boolean {
  return !/\p{Surrogate}/u.test(id) && encodeURIComponent(id).replaceAll('*', '%2A').length <= 250;
}
