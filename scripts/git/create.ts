import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explain, GitError } from './errors.ts';
import { type OpenOptions, openRepository } from './open.ts';
import { checkedRef } from './ref-name.ts';
import type { Repository } from './types.ts';

/**
 * Makes an empty repository, as `git init` would without templates and hooks; the folder is made where it is missing.
 * @param options.branch the unborn branch that HEAD names.
 */
export async function createRepository(
  dir: string,
  { branch, ...options }: OpenOptions & { readonly branch: string },
): Promise<Repository> {
  const head = checkedRef(`refs/heads/${branch}`);
  const gitDir = join(dir, '.git');
  if (existsSync(gitDir)) throw new GitError(`There is a repository at ${dir} already.`, 'Name an empty folder.');
  try {
    for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
      await mkdir(join(gitDir, folder), { recursive: true });
    const core = ['repositoryformatversion = 0', 'filemode = true', 'bare = false', 'logallrefupdates = true'];
    await writeFile(join(gitDir, 'config'), ['[core]', ...core.map((line) => `\t${line}`), ''].join('\n'));
    await writeFile(join(gitDir, 'HEAD'), `ref: ${head}\n`);
  } catch (error) {
    throw explain(`No repository could be made at ${dir}`, error);
  }
  return openRepository(dir, options);
}
