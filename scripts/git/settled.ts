import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import { shownPath } from './objects.ts';
import { timeOf } from './ref-files.ts';
import { lockError } from './ref-name.ts';

/**
 * Refuses a working tree that cannot be compared or refreshed: something else is under way in it, its index is gone,
 * or one of the raw paths leads through a symbolic link or another repository.
 */
export async function requireSettled(layout: Layout, head: Oid | null, paths: readonly string[]): Promise<void> {
  const { gitDir, workTree } = layout;
  if (workTree === null) return;
  const lock = join(gitDir, 'index.lock');
  if (existsSync(lock)) throw lockError(lock, await timeOf(lock));
  for (const [marker, name] of underWay) {
    if (existsSync(join(gitDir, marker)))
      throw new GitError(`A ${name} is under way in ${workTree}.`, `Finish it, or give it up: git ${name} --abort`);
  }
  if (head !== null && !existsSync(join(gitDir, 'index')))
    throw new GitError(
      `The index of ${workTree} is missing, so every file looks deleted.`,
      'Build it again, which touches no file: git reset',
    );
  for (const path of paths) await refuseDetour(workTree, path);
}

const underWay = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const;

async function refuseDetour(workTree: string, path: string): Promise<void> {
  const parts = path.split('/');
  for (let length = 1; length <= parts.length; length += 1) {
    const part = parts.slice(0, length).join('/');
    const found = await lstatOrNull(Buffer.concat([Buffer.from(`${workTree}/`), Buffer.from(part, 'latin1')]));
    if (found === null) return;
    if (found.isSymbolicLink())
      throw new GitError(
        `${shownPath(part)} is a symbolic link, and what it leads to may lie outside the repository.`,
        `Replace it by a real ${length < parts.length ? 'folder' : 'folder or file'}, and commit that.`,
      );
    if (found.isDirectory() && existsSync(join(workTree, shownPath(part), '.git')))
      throw new GitError(
        `${shownPath(part)} is a repository of its own.`,
        'Memory files cannot be kept in a submodule: move it elsewhere.',
      );
  }
}
