import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from '../../git/types.ts';
import { makeFolder } from '../../shared/make-folder.ts';
import { HandOverError } from './fields.ts';

/** What one job leaves for the next, below the repository's common directory. */
export const handOvers = { start: 'start.json', result: 'night.json', bundle: 'night.bundle' } as const;

export type HandOver = (typeof handOvers)[keyof typeof handOvers];

/** Bytes of the largest text that is read. */
const largestText = 64 * 1024 * 1024;

export function handOverPath({ commonDir }: Repository, name: HandOver): string {
  return join(commonDir, 'memory', 'night', name);
}

/** The text of a hand-over; null where it is not there. @throws HandOverError for a link, a folder, or one too large. */
export async function readHandOver(repository: Repository, name: HandOver): Promise<string | null> {
  const path = handOverPath(repository, name);
  try {
    const status = await lstat(path);
    if (!status.isFile()) throw new HandOverError(name, 'it is no plain file');
    if (status.size > largestText) throw new HandOverError(name, `it is larger than ${largestText} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole or not at all. */
export async function writeHandOver(repository: Repository, name: HandOver, value: unknown): Promise<void> {
  const path = handOverPath(repository, name);
  await makeFolder(join(repository.commonDir, 'memory', 'night'), 0o700);
  const draft = `${path}.tmp`;
  await rm(draft, { force: true });
  await writeFile(draft, `${JSON.stringify(value)}\n`, { flag: 'wx', mode: 0o600, flush: true });
  await rename(draft, path);
}

/** Nothing of an earlier night is taken for this one's. */
export async function removeHandOvers(repository: Repository, names: readonly HandOver[]): Promise<void> {
  for (const name of names) await rm(handOverPath(repository, name), { force: true });
}
