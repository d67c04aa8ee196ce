import { createHash } from 'node:crypto';
import { GitError, RefMovedError } from '../../scripts/git/errors.ts';
import { PushRejectedError } from '../../scripts/git/remote-errors.ts';
import type { Remote } from '../../scripts/git/remote-types.ts';
import type { CommitInfo, CommitSpec, Repository } from '../../scripts/git/types.ts';
import type { Files, Oid } from '../../scripts/shared/files.ts';

interface Stored extends CommitInfo {
  readonly files: Files;
}

/** The objects of a world of repositories, by oid; who has which of them is another matter. */
export interface Objects {
  readonly commits: Map<Oid, Stored>;
  readonly blobs: Map<Oid, string>;
}

export function noObjects(): Objects {
  return { commits: new Map(), blobs: new Map() };
}

/** A server: its refs, and every object that was ever pushed. */
export interface MemoryServer {
  readonly objects: Objects;
  readonly refs: Map<string, Oid>;
}

/** What a process does on the server, before and after it has its effect; may throw. */
export type Watch = (what: string, when: 'before' | 'after') => Promise<void>;

/** A repository held in memory with a remote: it has only the commits that it made or fetched. */
export interface MemoryClone {
  readonly repository: Repository;
  remote(watch?: Watch): Remote;
}

export function aClone(server: MemoryServer, name: string): MemoryClone {
  const { objects } = server;
  const known = new Set<Oid>();
  const refs = new Map<string, Oid>();
  const repository = repositoryOver(objects, known, refs, `/nowhere/${name}`);
  return { repository, remote: (watch = async () => undefined) => remoteOf(server, known, watch) };
}

/** Everything that is there, as whoever works on the server sees it. */
export function onServer({ objects, refs }: MemoryServer): Repository {
  return repositoryOver(objects, null, refs, '/nowhere/server');
}

/** Every commit that one grows from, itself first. */
export function ancestors(objects: Objects, from: Oid): Set<Oid> {
  const found = new Set<Oid>();
  const left = [from];
  for (let oid = left.pop(); oid !== undefined; oid = left.pop()) {
    if (found.has(oid)) continue;
    found.add(oid);
    left.push(...(objects.commits.get(oid)?.parents ?? []));
  }
  return found;
}

function repositoryOver(
  objects: Objects,
  known: Set<Oid> | null,
  refs: Map<string, Oid>,
  commonDir: string,
): Repository {
  const commit = (oid: Oid): Stored => {
    const stored = known === null || known.has(oid) ? objects.commits.get(oid) : undefined;
    if (stored === undefined) throw new GitError(`There is no commit ${oid} in this repository.`, 'Fetch it.');
    return stored;
  };
  const at = (oid: Oid, paths: readonly string[]) =>
    [...commit(oid).files].filter(([path]) =>
      paths.some((wanted) => wanted === '' || path === wanted || path.startsWith(`${wanted}/`)),
    );
  const blobOf = (text: string): Oid => {
    const oid = hash(text);
    objects.blobs.set(oid, text);
    return oid;
  };
  const none = () => Promise.reject(new Error('nobody asks this of a repository in memory'));
  return {
    backend: 'isomorphic',
    commonDir,
    workTree: null,
    head: none,
    rootCommit: none,
    uncommitted: async () => [],
    refresh: none,
    leaves: async (oid, paths) =>
      at(oid, paths).map(([path, text]) => ({ path, kind: 'file' as const, oid: blobOf(text) })),
    remotes: async () => new Map([['origin', 'memory']]),
    readRef: async (ref) => refs.get(ref) ?? null,
    listRefs: async (prefix) => new Map([...refs].filter(([ref]) => ref.startsWith(prefix))),
    readFiles: async (oid, paths) => new Map(at(oid, paths)),
    listFiles: async (oid, paths) => new Map(at(oid, paths).map(([path, text]) => [path, blobOf(text)])),
    oidsAt: async (oids, path) =>
      oids.map((oid) => {
        const text = objects.commits.get(oid)?.files.get(path);
        return text === undefined ? null : blobOf(text);
      }),
    readBlobs: async (oids) => oids.map((oid) => Buffer.from(objects.blobs.get(oid) ?? '')),
    readCommit: async (oid) => commit(oid),
    history: async (from, limit) => {
      const found: CommitInfo[] = [];
      for (let oid: Oid | undefined = from; oid !== undefined && found.length < limit; ) {
        const stored: Stored = commit(oid);
        found.push(stored);
        oid = stored.parents[0];
      }
      return found;
    },
    writeCommit: async (spec) => {
      const stored = storedOf(spec, spec.base === null ? new Map() : commit(spec.base).files);
      objects.commits.set(stored.oid, stored);
      known?.add(stored.oid);
      return stored.oid;
    },
    swapRef: async (ref, expected, next) => {
      const actual = refs.get(ref) ?? null;
      if (actual !== expected) throw new RefMovedError(ref, expected, actual);
      if (next === null) refs.delete(ref);
      else refs.set(ref, next);
    },
  };
}

function storedOf({ changes, parents, message, author, at }: CommitSpec, base: Files): Stored {
  const files = new Map(base);
  for (const [path, text] of changes) {
    if (text === null) files.delete(path);
    else files.set(path, String(text));
  }
  const tree = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return { oid: hash(JSON.stringify([parents, message, author, at, tree])), parents, message, author, at, files };
}

function remoteOf({ objects, refs }: MemoryServer, known: Set<Oid>, watch: Watch): Remote {
  const take = (oid: Oid) => {
    for (const each of ancestors(objects, oid)) known.add(each);
  };
  return {
    url: 'memory',
    backend: 'isomorphic',
    listRefs: async (prefixes) => new Map([...refs].filter(([ref]) => prefixes.some((one) => ref.startsWith(one)))),
    fetch: async (names) => {
      await watch(`fetch ${names.join(' ')}`, 'before');
      const found = new Map(names.map((ref) => [ref, refs.get(ref) ?? null]));
      for (const oid of found.values()) if (oid !== null) take(oid);
      await watch(`fetch ${names.join(' ')}`, 'after');
      return found;
    },
    push: async (updates) => {
      for (const { ref, expected, next } of updates) {
        await watch(`push ${ref}`, 'before');
        const actual = refs.get(ref) ?? null;
        if (actual !== next) {
          if (actual !== expected) throw new PushRejectedError('memory', { ref, expected, actual });
          if (next === null) refs.delete(ref);
          else refs.set(ref, next);
        }
        await watch(`push ${ref}`, 'after');
      }
    },
    head: async () => {
      const oid = refs.get('refs/heads/main');
      return oid === undefined ? null : { branch: 'main', oid };
    },
  };
}

function hash(text: string): Oid {
  return createHash('sha1').update(text).digest('hex');
}
