import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import type { Remote } from '../../scripts/git/remote-types.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { aGitServer, type GitServer, type GitServerOptions } from './git-server.ts';
import { aRepository, env, git } from './repository.ts';

export const backends = ['git', 'isomorphic'] as const;
export type BackendName = (typeof backends)[number];

/** Three tokens, put together here so that no scanner takes them for one. */
export const writer = ['ghp', 'w'.repeat(36)].join('_');
export const reader = ['ghp', 'r'.repeat(36)].join('_');
export const limited = ['ghp', 'l'.repeat(36)].join('_');

export const rights: GitServerOptions = {
  tokens: { [writer]: { write: true }, [reader]: {}, [limited]: { write: true, refs: ['refs/heads/*'] } },
};

export interface Bench {
  readonly server: GitServer;
  readonly remote: Remote;
  readonly repository: Repository;
  readonly dir: string;
  /** Writes a commit that holds one file `state`. */
  commit(text: string, parent?: string | null): Promise<string>;
}

/** A local repository and an empty one on a server. */
export async function aRemote(t: TestContext, backend: BackendName, token = writer): Promise<Bench> {
  const server = await aGitServer(t, rights);
  server.create('team');
  const dir = aRepository(t);
  const repository = await openRepository(dir, { env, backend });
  const remote = await openRemote(repository, { url: server.url('team'), token, env, backend, stallSeconds: 20 });
  return { server, remote, repository, dir, commit: (text, parent = null) => commit(repository, text, parent) };
}

export function commit(repository: Repository, text: string, parent: string | null = null): Promise<string> {
  return repository.writeCommit({
    base: parent,
    parents: parent === null ? [] : [parent],
    changes: new Map([['state', text]]),
    message: 'State',
    author: { name: 'M', email: 'm@example.org' },
    at: 1_767_225_600,
  });
}

/** A commit made on the server's side by somebody else, with one file `state`. Without a parent unless given one. */
export function commitThere(server: GitServer, ref: string, text: string, parent: string | null = null): string {
  const dir = server.dir('team');
  writeFileSync(join(dir, 'draft'), text);
  const blob = git(dir, 'hash-object', '-w', '--no-filters', 'draft');
  const index = ['-c', 'core.bare=false', '-c', `core.worktree=${dir}`];
  git(dir, ...index, 'read-tree', '--empty');
  git(dir, ...index, 'update-index', '--add', '--cacheinfo', `100644,${blob},state`);
  const tree = git(dir, ...index, 'write-tree');
  const oid = git(dir, 'commit-tree', '-m', 'Theirs', ...(parent === null ? [] : ['-p', parent]), tree);
  git(dir, 'update-ref', ref, oid);
  return oid;
}

/** The command lines of this machine's processes that hold a text; none where it does not tell. */
export function processesWith(text: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      return line.includes(text) ? [line] : [];
    } catch (error) {
      if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw error;
    }
  });
}
