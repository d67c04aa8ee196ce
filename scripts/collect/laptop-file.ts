import { chmod, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';

/** A file of this laptop; null where there is none. */
export async function readOwn(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw cannot('read', path, error);
  }
}

/** Names in a folder of this laptop, in order; none where there is no such folder. */
export async function namesOwn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort(byBinary);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cannot('read', folder, error);
  }
}

/** Writes a file that only its owner can read, whole or not at all. */
export async function writeOwn(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(`${path}.new`, text, { mode: 0o600 });
    await chmod(`${path}.new`, 0o600);
    await rename(`${path}.new`, path);
  } catch (error) {
    throw cannot('written', path, error);
  }
}

function cannot(what: string, path: string, cause: unknown): MemoryError {
  const { code } = cause as NodeJS.ErrnoException;
  return new MemoryError(
    `${path} cannot be ${what} (${code ?? 'unknown reason'}).`,
    'Correct its rights, or name another folder: CTM_HOME.',
    { cause },
  );
}
