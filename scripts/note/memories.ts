import { lstat, open, readdir } from 'node:fs/promises';
import type { Checkouts } from '../rollout/checkouts.ts';
import { MemoryError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { noteLimits } from '../workspace/note.ts';

/** A file, or a part of one, of an agent's own memory. */
export interface Found {
  /** As it is shown. */
  readonly path: string;
  /** Its name without `.md`. */
  readonly name: string;
  readonly repo: string;
  /** As it stands. */
  readonly text: string;
}

export interface Memories {
  readonly files: readonly Found[];
  readonly refused: readonly { readonly path: string; readonly why: string }[];
}

/** What tells the repository of a memory. */
export interface ImportPlace {
  readonly home: string;
  readonly include: readonly string[];
  readonly checkouts: Checkouts;
  /** The repository that the person named for what does not say its own. */
  readonly named: string | null;
  /** Why nothing of a repository is brought in; null where it may be. */
  whyStays(repo: string): string | null;
}

/** Files that one folder gives. */
const most = 500;

/**
 * Entries of a folder by name, of one kind only: symbolic links are never followed.
 * @throws MemoryError where the folder cannot be listed; one that is not there has none.
 */
export async function entriesOf(folder: string, kind: 'file' | 'folder'): Promise<string[]> {
  try {
    if (!(await lstat(folder)).isDirectory()) return [];
    const found = await readdir(folder, { withFileTypes: true });
    const wanted = found.filter((entry) => (kind === 'file' ? entry.isFile() : entry.isDirectory()));
    return wanted
      .map(({ name }) => name)
      .sort(byBinary)
      .slice(0, most);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw unreadable(folder, error);
  }
}

/** A regular file's text, or why it is not read, as the end of a sentence that begins with its name. */
export async function textOf(
  path: string,
  bytes: number = noteLimits.resourceBytes,
): Promise<{ text: string } | { why: string }> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) return { why: 'it is no regular file' };
    if (found.size > bytes) return { why: `it has more than ${bytes} bytes` };
    const file = await open(path);
    try {
      return decoded(await file.readFile());
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return { why: `it cannot be read (${code})` };
    throw unreadable(path, error);
  }
}

/** @throws MemoryError where there is no such folder. */
export async function requireFolder(folder: string): Promise<void> {
  const found = await lstat(folder).catch((error: unknown) => {
    throw unreadable(folder, error);
  });
  if (!found.isDirectory()) throw new MemoryError(`${folder} is no folder.`, 'Name the memory’s own folder: --from.');
}

function decoded(bytes: Buffer): { text: string } | { why: string } {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? { text } : { why: 'it is no UTF-8' };
}

function unreadable(path: string, cause: unknown): MemoryError {
  const { code } = cause as NodeJS.ErrnoException;
  return new MemoryError(
    `${path} cannot be read (${code ?? 'unknown reason'}).`,
    'Name the memory’s own folder: npm run note -- --import <agent> --from <dir>',
    { cause },
  );
}
