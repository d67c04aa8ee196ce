import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import { jsonFields } from '../shared/json.ts';
import { sha256 } from '../shared/thread-id.ts';

/** What this laptop remembers of the files that it changed: one small file for each, that only its owner can read. */
export interface Records<T extends { readonly path: string }> {
  of(path: string): Promise<T | null>;
  all(): Promise<readonly T[]>;
  keep(record: T): Promise<void>;
  drop(path: string): Promise<void>;
}

/**
 * @param token of this process alone.
 * @param isRecord a file that is none counts as not there: what it was about then counts as edited by its person.
 */
export function recordsIn<T extends { readonly path: string }>(
  folder: string,
  token: string,
  isRecord: (value: Readonly<Record<string, unknown>>) => value is T & Record<string, unknown>,
): Records<T> {
  const fileOf = (path: string): string => join(folder, `${sha256(path).slice(0, 32)}.json`);
  const read = async (file: string): Promise<T | null> => {
    const value = jsonFields(await readFile(file, 'utf8').catch((error: unknown) => absent(error, '')));
    return isRecord(value) ? value : null;
  };
  return {
    of: (path) => read(fileOf(path)),
    async all() {
      const names = await readdir(folder).catch((error: unknown) => absent(error, []));
      const files = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
      return (await Promise.all(files.map(read))).filter((record) => record !== null);
    },
    async keep(record) {
      const file = fileOf(record.path);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await writeFile(`${file}.${token}`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
        await rename(`${file}.${token}`, file);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new MemoryError(
          `${folder} cannot be written (${code ?? 'unknown reason'}), so ${record.path} was left as it is.`,
          'Correct its rights, or name another folder: CTM_HOME.',
          { cause },
        );
      }
    },
    drop: (path) => rm(fileOf(path), { force: true }),
  };
}

function absent<T>(error: unknown, instead: T): T {
  if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return instead;
  throw error;
}
