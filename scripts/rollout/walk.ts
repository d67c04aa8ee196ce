import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import type { Reader } from './reader.ts';

export interface Ignored {
  readonly path: string;
  readonly reason: string;
}

export interface SessionFiles {
  /** Absolute, in a fixed order. */
  readonly paths: readonly string[];
  readonly ignored: readonly Ignored[];
}

const maxDepth = 32;
const foldersAtOnce = 64;
const neverSearched = new Set(['.git', 'node_modules']);

/**
 * Every file below a folder that may hold a session of a reader, hidden folders too; symbolic links are not followed.
 * Where its sessions have side folders, `<name>/` beside `<name>.jsonl` is left out: it belongs to that session.
 * @throws MemoryError when the folder is missing or cannot be read; a folder below it that cannot is ignored.
 */
export async function sessionFiles(
  path: string,
  { sideFolders, endings }: Pick<Reader, 'sideFolders' | 'endings'>,
  signal?: AbortSignal,
): Promise<SessionFiles> {
  const root = resolve(path);
  if (isFile(root)) return { paths: [root], ignored: [] };
  const paths: string[] = [];
  const ignored: Ignored[] = [];
  let searched = 0;
  const search = async (folder: string, depth: number): Promise<void> => {
    // A folder is sooner read than waited for; now and then others have their turn.
    if (++searched % foldersAtOnce === 0) await setImmediate();
    signal?.throwIfAborted();
    const entries = entriesOf(folder, depth === 0, ignored);
    const names = new Set(entries.map((entry) => entry.name));
    for (const entry of entries) {
      const full = join(folder, entry.name);
      if (entry.isSymbolicLink()) ignored.push({ path: full, reason: 'a symbolic link' });
      else if (entry.isDirectory()) {
        if (neverSearched.has(entry.name) || (sideFolders && names.has(`${entry.name}.jsonl`))) continue;
        if (depth >= maxDepth) ignored.push({ path: full, reason: 'too deep' });
        else await search(full, depth + 1);
      } else if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) paths.push(full);
      else ignored.push({ path: full, reason: `not a ${endings.join(' or ')} file` });
    }
  };
  await search(root, 0);
  return { paths, ignored };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch (error) {
    throw unreachable(path, error);
  }
}

function entriesOf(folder: string, isRoot: boolean, ignored: Ignored[]): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => byBinary(a.name, b.name));
  } catch (error) {
    if (isRoot) throw unreachable(folder, error);
    ignored.push({ path: folder, reason: `unreadable: ${messageOf(error)}` });
    return [];
  }
}

function unreachable(path: string, error: unknown): MemoryError {
  return new MemoryError(
    `The source ${path} cannot be read: ${messageOf(error)}.`,
    'Correct sources[].path in .github/memory.yml, or name a folder with --source <agent>:<folder>.',
    { cause: error },
  );
}
