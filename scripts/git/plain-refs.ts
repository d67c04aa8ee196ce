import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import { readHeadFile, readRefFile } from './ref-files.ts';
import type { Head } from './types.ts';

/**
 * A ref as Git's files have it: to read them costs a hundredth of starting the git program, which is left to say what a
 * symbolic or damaged ref is, and to know other ways of keeping refs.
 * @returns undefined where the program has to be asked; null where there is no such ref.
 */
export function plainRef(layout: Layout, ref: string): Promise<Oid | null | undefined> {
  return ifPlain(layout, () => readRefFile(layout.gitDir, ref));
}

/** What is checked out; undefined where the git program has to be asked. */
export function plainHead(layout: Layout): Promise<Head | undefined> {
  return ifPlain(layout, async () => {
    const isFile = (await lstatOrNull(join(layout.gitDir, 'HEAD')))?.isFile() ?? false;
    return isFile ? readHeadFile(layout.gitDir) : undefined;
  });
}

/** A linked worktree has some refs of its own, and refs may stand in tables. */
async function ifPlain<T>(
  { gitDir, commonDir, config, format }: Layout,
  read: () => Promise<T>,
): Promise<T | undefined> {
  const isPlain =
    gitDir === commonDir && format === 'sha1' && (config.get('extensions.refstorage') ?? 'files') === 'files';
  if (!isPlain) return undefined;
  try {
    return await read();
  } catch (error) {
    if (error instanceof GitError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
