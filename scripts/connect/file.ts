import { chmod, lstat, readFile, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { makeFolder } from '../shared/make-folder.ts';

/** A file of a person as it stands. */
export interface Standing {
  /** Where it is once links are followed; the file itself where it is not there yet. */
  readonly real: string;
  /** null: there is none. */
  readonly bytes: Buffer | null;
}

/**
 * Reads a file that may be changed.
 * @param within a link may lead no further than this folder, as a repository's content is not its owner's word; null:
 * a person's own folder, whose links are theirs.
 * @throws MemoryError for a folder, a link to nothing or out of `within`, a file that may not be written.
 */
export async function readStanding(path: string, within: string | null): Promise<Standing> {
  try {
    if (within !== null) await requireInside(path, within);
    const link = await kindOf(path);
    if (link === null) return { real: path, bytes: null };
    const real = await realpath(path).catch((cause: unknown) => {
      throw new MemoryError(`${path} is a link that leads nowhere.`, 'Correct or remove it, then run it again.', {
        cause,
      });
    });
    const facts = await stat(real);
    if (!facts.isFile()) throw new MemoryError(`${path} is no file.`, 'Move it away, then run it again.');
    if ((facts.mode & 0o200) === 0)
      throw new MemoryError(`${path} is read-only, so it was left as it is.`, `Allow it: chmod u+w ${path}`);
    return { real, bytes: await readFile(real) };
  } catch (error) {
    throw error instanceof MemoryError ? error : cannot('read', path, error);
  }
}

/**
 * Puts a file in the place of what was read, whole or not at all, with the same rights.
 * @param token of this process alone.
 * @returns the folders that had to be made, outermost first.
 * @throws MemoryError where somebody changed it since, or it cannot be written: it is left as it is.
 */
export async function replaceStanding(
  path: string,
  { real, bytes }: Standing,
  next: Buffer,
  token: string,
): Promise<readonly string[]> {
  const folder = dirname(real);
  const draft = join(folder, `.commit-to-memory-${token.slice(0, 8)}`);
  try {
    const first = await makeFolder(folder);
    // Settings hold keys: what replaces them is never more readable than they are.
    await writeFile(draft, next, { flag: 'wx', mode: bytes === null ? 0o666 : 0o600 });
    try {
      if (bytes !== null) await chmod(draft, (await stat(real)).mode & 0o7777);
      await requireUnchanged(path, { real, bytes });
      await rename(draft, real);
    } finally {
      await rm(draft, { force: true });
    }
    return first === undefined ? [] : foldersFrom(first, folder);
  } catch (error) {
    throw error instanceof MemoryError ? error : cannot('written', path, error);
  }
}

/** Removes a file, and those of the folders that are empty then. */
export async function removeStanding(path: string, standing: Standing, folders: readonly string[]): Promise<void> {
  await requireUnchanged(path, standing);
  try {
    for (const one of new Set([standing.real, path])) await rm(one, { force: true });
    await removeFolders(folders);
  } catch (error) {
    throw cannot('removed', path, error);
  }
}

/** @param folders outermost first. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of [...folders].reverse()) {
    try {
      await rmdir(folder);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error))) throw error;
      return;
    }
  }
}

/** Every folder from `first` down to `last`. */
export function foldersFrom(first: string, last: string): readonly string[] {
  const parts = relative(first, last)
    .split(sep)
    .filter((part) => part !== '');
  return [first, ...parts.map((_, index) => join(first, ...parts.slice(0, index + 1)))];
}

/** @throws MemoryError where a link on the way leads out of the folder. */
export async function requireInside(path: string, within: string): Promise<void> {
  const root = await realpath(within);
  for (let at = path; at !== within && at.length > within.length; at = dirname(at)) {
    if ((await kindOf(at)) !== 'link') continue;
    const real = await realpath(at).catch(() => null);
    if (real === null || (real !== root && !real.startsWith(root + sep)))
      throw new MemoryError(
        `${at} is a link that leads out of ${within}, so nothing was written through it.`,
        'Replace it by a file or folder of the project, or connect for yourself: --scope user.',
      );
  }
}

/** null: nothing is there. */
export async function kindOf(path: string): Promise<'file' | 'folder' | 'link' | 'other' | null> {
  try {
    const facts = await lstat(path);
    return facts.isSymbolicLink() ? 'link' : facts.isFile() ? 'file' : facts.isDirectory() ? 'folder' : 'other';
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

/** A file that is only looked at; '' where there is none, or it cannot be read. */
export async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP'].includes(codeOf(error))) return '';
    throw error;
  }
}

async function requireUnchanged(path: string, { real, bytes }: Standing): Promise<void> {
  const now = await readFile(real).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });
  if (now === bytes || (now !== null && bytes?.equals(now) === true)) return;
  throw new MemoryError(`${path} was changed by another program just now, so it was left as it is.`, 'Run it again.');
}

function cannot(what: string, path: string, cause: unknown): MemoryError {
  return new MemoryError(
    `${path} cannot be ${what} (${codeOf(cause) || messageOf(cause)}).`,
    'Correct its rights or those of its folder, then run it again; nothing else was changed.',
    { cause },
  );
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
