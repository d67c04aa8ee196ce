import { lstatSync, readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { slashes } from './home.ts';

/** A repository on this machine. */
export interface Checkout {
  readonly root: string;
  /** URLs, origin first. */
  readonly remotes: readonly string[];
  /** Null where nobody looked for it. */
  readonly rootCommit: string | null;
}

/** Which repository a session's folder belongs to. Resolves to null where there is none (any more). */
export interface Checkouts {
  of(cwd: string): Promise<Checkout | null>;
}

/** A fixed map of root folders: for tests and the bundled samples. The deepest root that holds the folder counts. */
export function checkoutsFrom(map: Readonly<Record<string, Omit<Checkout, 'root'>>>): Checkouts {
  const roots = Object.keys(map).sort((a, b) => b.length - a.length);
  return {
    of(cwd) {
      const folder = slashes(cwd);
      const root = roots.find(
        (candidate) => folder === slashes(candidate) || folder.startsWith(`${slashes(candidate)}/`),
      );
      const found = root === undefined ? undefined : map[root];
      return Promise.resolve(root === undefined || found === undefined ? null : { root, ...found });
    },
  };
}

/**
 * Repositories on disk: walks up from a folder to its `.git` and reads the remotes from the configuration of the
 * repository itself, also for linked worktrees and submodules, at once, since a session's start waits for it. Runs
 * nothing; `rootCommit` stays null.
 */
export function checkoutsOnDisk(): Checkouts {
  const known = new Map<string, Checkout | null>();
  return {
    async of(cwd) {
      const found = known.get(cwd);
      if (found !== undefined) return found;
      const fresh = find(cwd);
      known.set(cwd, fresh);
      return fresh;
    },
  };
}

const maxLevels = 64;
const maxConfigBytes = 1024 * 1024;

function find(cwd: string): Checkout | null {
  if (!isAbsolute(cwd)) return null;
  let folder = resolve(cwd);
  for (let level = 0; level < maxLevels; level += 1) {
    const common = commonFolder(join(folder, '.git'));
    if (common !== null) {
      const config = textOf(join(common, 'config'));
      return config === null ? null : { root: folder, remotes: remotesIn(config), rootCommit: null };
    }
    const parent = dirname(folder);
    if (parent === folder) return null;
    folder = parent;
  }
  return null;
}

/** The folder that holds a repository's configuration, from its `.git` folder or file; null where there is none. */
function commonFolder(git: string): string | null {
  const kind = kindOf(git);
  if (kind === 'folder') return git;
  if (kind !== 'file') return null;
  const target = /^gitdir: ([^\n]{1,4000})/.exec(textOf(git) ?? '')?.[1]?.trim();
  if (target === undefined) return null;
  const own = resolve(dirname(git), target);
  const common = textOf(join(own, 'commondir'))?.trim();
  return common === undefined || common === '' ? own : resolve(own, common);
}

function kindOf(path: string): 'folder' | 'file' | null {
  try {
    const found = lstatSync(path);
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : null;
  } catch (error) {
    if (isUnreachable(error)) return null;
    throw error;
  }
}

function textOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= maxConfigBytes ? readFileSync(path, 'utf8') : null;
  } catch (error) {
    if (isUnreachable(error)) return null;
    throw error;
  }
}

function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'].includes(
    String(code),
  );
}

/** The `url` of every `[remote "…"]`, origin first, the others as they stand. */
export function remotesIn(config: string): string[] {
  const urls = new Map<string, string>();
  let remote: string | null = null;
  for (const line of config.split(/\r?\n/)) {
    const text = line.trim();
    if (text.startsWith('[')) remote = /^\[remote "([^"]{1,200})"\]/i.exec(text)?.[1] ?? null;
    const url = remote === null ? null : /^url\s{0,20}=\s{0,20}(.{1,2000})$/i.exec(text)?.[1];
    if (remote !== null && url && !urls.has(remote)) urls.set(remote, unquoted(url));
  }
  const origin = urls.get('origin');
  urls.delete('origin');
  return origin === undefined ? [...urls.values()] : [origin, ...urls.values()];
}

function unquoted(value: string): string {
  const quoted = /^"([^"]*)"/.exec(value)?.[1];
  return quoted ?? value.replace(/\s[#;].*$/, '').trim();
}
