import { MemoryError, messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { GitError, RefMovedError } from './errors.ts';
import { fetchInto, pushFrom, serverRefs } from './isomorphic.ts';
import { unreachableError } from './remote-failures.ts';
import { shallowCommits } from './remote-history.ts';
import { gitHttp, type HttpSettings } from './remote-http.ts';
import { moveBoundary, packFault, storePack } from './remote-pack.ts';
import { FetchRaceError, type Transport, type WantedRef } from './remote-transport.ts';
import { trackingRef } from './remote-types.ts';
import { type RepositoryView, repositoryView } from './remote-view.ts';
import type { Repository } from './types.ts';

export interface IsomorphicRemote extends HttpSettings {
  /** http(s), without user and password. */
  readonly url: string;
  readonly repository: Repository;
}

/** A remote without the git program: https and a token. Whole packs, no deltas. */
export function isomorphicTransport(remote: IsomorphicRemote): Transport {
  const { url, repository } = remote;
  const http = (signal: AbortSignal | undefined) => gitHttp(url, remote, signal);
  const refs = async (prefix: string, signal: AbortSignal | undefined) => {
    const found = await guard(remote, () => serverRefs(http(signal), url, prefix));
    if (found.every(({ oid }) => /^[0-9a-f]{40}$/.test(oid))) return found;
    throw unreachableError(url, 'it lists refs that are none');
  };
  return {
    name: 'isomorphic',
    refs: async (prefixes, signal) =>
      new Map((await refs(commonStart(prefixes), signal)).map(({ ref, oid }) => [ref, oid])),
    head: async (signal) => {
      const head = (await refs('HEAD', signal)).find(({ ref }) => ref === 'HEAD');
      return head === undefined ? null : { oid: head.oid, target: head.target ?? null };
    },
    fetch: async (wanted, depth, signal) => {
      for (const want of wanted) await fetchOne(remote, want, depth, signal);
    },
    push: async ({ ref, expected, next }, signal) => {
      const view = await viewOf(repository, { 'refs/next': `${next ?? expected}\n` });
      const maySend = (actual: Oid | null) => actual === expected && actual !== next;
      const answer = await guard(remote, () =>
        pushFrom(view, http(signal), url, { ref, remove: next === null, maySend }).catch(asLacking),
      );
      if (answer === null) return null;
      if (answer === 'held') return { why: 'stale' };
      const words = [answer.error, ...answer.messages].join('\n');
      return { why: 'refused', words: remote.credentials.words(words) };
    },
  };
}

/** `isomorphic-git` lists below one prefix. */
function commonStart(prefixes: readonly string[]): string {
  const [first = '', ...others] = prefixes;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}

async function fetchOne(
  remote: IsomorphicRemote,
  { ref, oid: listed, known }: WantedRef,
  depth: number | null,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { url, repository } = remote;
  const view = await viewOf(repository, {
    config: `[core]\n\tbare = true\n[remote "memory"]\n\tfetch = +${ref}:refs/fetched\n`,
    ...(known !== null && { 'refs/have': `${known}\n` }),
  });
  const before = boundaryOf(view);
  await guard(remote, () =>
    fetchInto(view, gitHttp(url, remote, signal), url, { ref, oid: listed }, depth).catch(asRace),
  );
  for (const [path, pack] of view.files) {
    if (!path.endsWith('.pack')) continue;
    const index = view.files.get(path.replace(/pack$/, 'idx')) ?? Buffer.alloc(0);
    const fault = packFault(pack, index);
    if (fault !== null) throw unreachableError(url, `what it sent cannot be used, ${fault}`);
    await storePack(repository.commonDir, pack, index);
  }
  await moveBoundary(repository.commonDir, before, boundaryOf(view));
  const oid = view.files.get('refs/fetched')?.toString('latin1').trim() ?? '';
  await track(repository, ref, oid);
}

/** A server that will not give what it listed does not say so: the object is then missing. */
async function track(repository: Repository, ref: string, oid: Oid): Promise<void> {
  const tracking = trackingRef(ref);
  try {
    await repository.readCommit(oid);
    await repository.swapRef(tracking, await repository.readRef(tracking), oid);
  } catch (error) {
    if (error instanceof RefMovedError || (error instanceof GitError && /There is no commit/.test(error.message)))
      throw new FetchRaceError(messageOf(error));
    throw error;
  }
}

async function viewOf(repository: Repository, texts: Readonly<Record<string, string>>): Promise<RepositoryView> {
  const shallow = [...(await shallowCommits(repository.commonDir))].map((oid) => `${oid}\n`).join('');
  return repositoryView(repository.commonDir, { ...texts, ...(shallow !== '' && { shallow }) });
}

function boundaryOf(view: RepositoryView): ReadonlySet<Oid> {
  return new Set((view.files.get('shallow')?.toString('latin1') ?? '').split('\n').filter(Boolean));
}

/** Its errors quote what was read and asked; ours come through as they are. */
async function guard<T>({ url, credentials }: IsomorphicRemote, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MemoryError || error instanceof FetchRaceError) throw error;
    throw unreachableError(url, credentials.words(messageOf(error)));
  }
}

/** A ref that was listed is gone. */
function asRace(error: unknown): never {
  throw isNotFound(error) ? new FetchRaceError(messageOf(error)) : error;
}

/** An object that the commit needs is not here. */
function asLacking(error: unknown): never {
  if (!isNotFound(error)) throw error;
  throw new GitError(
    `This repository lacks objects that are to be pushed: ${messageOf(error).slice(0, 200)}`,
    'Check it with git fsck; where the clone is shallow or partial, fetch the rest: git fetch --unshallow',
  );
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'NotFoundError';
}
