import { existsSync, type Stats } from 'node:fs';
import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { type GitConfig, isOn, parseGitConfig } from './config-text.ts';
import { explain, GitError } from './errors.ts';
import type { ObjectFormat } from './objects.ts';

/** Where the parts of a repository are; absolute paths without symbolic links. */
export interface Layout {
  /** HEAD and index of this working tree. */
  readonly gitDir: string;
  /** Objects, refs and configuration; other than `gitDir` in a linked worktree only. */
  readonly commonDir: string;
  readonly workTree: string | null;
  readonly config: GitConfig;
  readonly format: ObjectFormat;
}

/** Finds the repository of a folder, also from a folder inside its working tree. @throws GitError where there is none. */
export async function findRepository(dir: string): Promise<Layout> {
  const start = await existingFolder(dir);
  for (let folder = start; ; folder = dirname(folder)) {
    const marker = join(folder, '.git');
    const found = await lstatOrNull(marker);
    if (found && !found.isFile() && existsSync(join(marker, 'HEAD'))) return layoutOf(await realpath(marker), folder);
    if (found?.isFile()) return layoutOf(await linkedGitDir(marker), folder);
    if (isGitDir(folder)) return layoutOf(folder, null);
    if (dirname(folder) === folder) break;
  }
  throw new GitError(
    `There is no Git repository at ${start}.`,
    'Name the folder of one with --repo, or make it one: git init',
  );
}

/** What a path is, itself and not what it links to; null where nothing is. */
export async function lstatOrNull(path: string | Buffer): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw explain(`${path} cannot be looked at`, error);
  }
}

async function existingFolder(dir: string): Promise<string> {
  try {
    return await realpath(dir);
  } catch (error) {
    throw new GitError(`The folder ${dir} cannot be opened.`, 'Check its spelling and its rights.', { cause: error });
  }
}

function isGitDir(folder: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));
}

async function linkedGitDir(marker: string): Promise<string> {
  const target = /^gitdir: (.+)$/m.exec(await readFile(marker, 'utf8'))?.[1]?.trim();
  const gitDir = target === undefined ? null : resolve(dirname(marker), target);
  if (gitDir === null || !existsSync(join(gitDir, 'HEAD')))
    throw new GitError(
      `${marker} does not lead to a repository${gitDir === null ? '' : `: ${gitDir} is not there`}.`,
      'Where a worktree or its main repository was moved: git worktree repair',
    );
  return realpath(gitDir);
}

async function layoutOf(gitDir: string, folder: string | null): Promise<Layout> {
  const common = await textOrNull(join(gitDir, 'commondir'));
  const commonDir = common === null ? gitDir : await realpath(resolve(gitDir, common.trim()));
  const config = parseGitConfig((await textOrNull(join(commonDir, 'config'))) ?? '');
  const bare = common === null && isOn(config, 'core.bare');
  const elsewhere = common === null ? config.get('core.worktree') : undefined;
  const workTree = elsewhere === undefined ? folder : await realpath(resolve(gitDir, elsewhere));
  return {
    gitDir,
    commonDir,
    workTree: bare ? null : workTree,
    config,
    format: config.get('extensions.objectformat')?.toLowerCase() === 'sha256' ? 'sha256' : 'sha1',
  };
}

/** @returns null where there is no such file. */
export async function textOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw explain(`${path} cannot be read`, error);
  }
}
