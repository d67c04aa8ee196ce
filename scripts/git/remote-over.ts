import { setTimeout } from 'node:timers/promises';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';
import { checkedOid, checkedRef, lockError } from './ref-name.ts';
import { GitPushError, PushRejectedError, RemoteUnreachableError } from './remote-errors.ts';
import { lacksHistory, shallowCommits, wholeHistory } from './remote-history.ts';
import { FetchRaceError, type Refusal, type Transport, type WantedRef } from './remote-transport.ts';
import { type RefUpdate, type Remote, trackingRef } from './remote-types.ts';
import type { Repository } from './types.ts';

type Signal = AbortSignal | undefined;

/** A remote over either transport: what is asked, what is believed, and when it is asked again. */
export function remoteOver(transport: Transport, repository: Repository, url: string): Remote {
  return {
    url,
    backend: transport.name,
    listRefs: (prefixes, signal) => list(transport, prefixes, signal),
    fetch: async (refs, { depth, signal } = {}) => {
      refs.forEach(checkedRef);
      checkDepth(depth);
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await fetchOnce(transport, repository, [...new Set(refs)], depth, signal);
        } catch (error) {
          if (!(error instanceof FetchRaceError)) throw error;
          if (attempt === fetchAttempts) throw raceError(url, error);
          await setTimeout(attempt * fetchPauseMs);
        }
      }
    },
    push: async (updates, signal) => {
      updates.forEach(checkUpdate);
      for (const update of updates) await pushOne(transport, repository, url, update, signal);
    },
    head: async (signal) => {
      const head = await transport.head(signal);
      const branch = /^refs\/heads\/(.{1,1000})$/.exec(head?.target ?? '')?.[1];
      return head === null || branch === undefined ? null : { branch, oid: head.oid };
    },
  };
}

const fetchAttempts = 6;
const fetchPauseMs = 50;

async function list(
  transport: Transport,
  prefixes: readonly string[],
  signal: Signal,
): Promise<ReadonlyMap<string, Oid>> {
  prefixes.forEach(checkPrefix);
  if (prefixes.length === 0) return new Map();
  const found = [...(await transport.refs(prefixes, signal))];
  return new Map(found.filter(([ref]) => isWanted(ref, prefixes)).sort(([a], [b]) => byBinary(a, b)));
}

function isWanted(ref: string, prefixes: readonly string[]): boolean {
  return prefixes.some((prefix) => (prefix.endsWith('/') ? ref.startsWith(prefix) : ref === prefix));
}

async function fetchOnce(
  transport: Transport,
  repository: Repository,
  refs: readonly string[],
  depth: number | null | undefined,
  signal: Signal,
): Promise<ReadonlyMap<string, Oid | null>> {
  const listed = await list(transport, refs, signal);
  const held = new Map<string, Oid | null>(refs.map((ref) => [ref, null]));
  const isShallow = (await shallowCommits(repository.commonDir)).size > 0;
  const whole: WantedRef[] = [];
  const limited: WantedRef[] = [];
  for (const [ref, oid] of listed) {
    const tracked = await repository.readRef(trackingRef(ref));
    const known = tracked ?? (await repository.readRef(ref));
    if (tracked === oid) held.set(ref, await readBack(repository, ref));
    else if (depth == null || known !== null || (ref.startsWith('refs/heads/') && !isShallow))
      whole.push({ ref, oid, known });
    else limited.push({ ref, oid, known });
  }
  if (whole.length > 0) await transport.fetch(whole, null, signal);
  if (limited.length > 0) await transport.fetch(limited, depth ?? null, signal);
  for (const { ref } of [...whole, ...limited]) held.set(ref, await readBack(repository, ref));
  if (depth !== undefined) await deepen(transport, repository, held, depth, signal);
  return held;
}

/** Fetches the history that is missing. A ref that has less than it wants is not shortened by the limit. */
async function deepen(
  transport: Transport,
  repository: Repository,
  held: Map<string, Oid | null>,
  depth: number | null,
  signal: Signal,
): Promise<void> {
  for (const [ref, oid] of held) {
    if (oid === null || !(await lacksHistory(repository, oid, depth))) continue;
    await transport.fetch([{ ref, oid, known: oid }], depth ?? wholeHistory, signal);
    held.set(ref, await readBack(repository, ref));
  }
}

/** A fetch can seem to succeed without the object. */
async function readBack(repository: Repository, ref: string): Promise<Oid> {
  const oid = await repository.readRef(trackingRef(ref));
  if (oid === null) throw new FetchRaceError(`${ref} was not kept`);
  await repository.readCommit(oid);
  return oid;
}

function raceError(url: string, error: FetchRaceError): GitError {
  const lock = /'([^'\n]{1,4096}\.lock)': File exists/.exec(error.message)?.[1];
  if (lock !== undefined) return lockError(lock, null);
  return new RemoteUnreachableError(
    `What ${url} holds could not be fetched in ${fetchAttempts} tries: ${messageOf(error)}.`,
    'Others write there or here at the same moment: run it again.',
  );
}

async function pushOne(
  transport: Transport,
  repository: Repository,
  url: string,
  update: RefUpdate,
  signal: Signal,
): Promise<void> {
  const { ref, expected, next } = update;
  if (expected === next) return;
  if (next !== null) await repository.readCommit(next);
  const outcome = await attempt(transport, update, signal);
  if (outcome === null) return remember(repository, ref, next);
  const actual = await list(transport, [ref], signal).then(
    (refs) => refs.get(ref) ?? null,
    (error: unknown) => {
      throw outcome instanceof MemoryError ? outcome : error;
    },
  );
  if (actual === next) return remember(repository, ref, next);
  if (outcome instanceof MemoryError) throw outcome;
  const refused = { ref, expected, actual };
  throw outcome.why === 'stale' ? new PushRejectedError(url, refused) : new GitPushError(url, refused, outcome.words);
}

/** A ref that was fetched before need not be fetched again to know what was pushed; where it cannot be noted, it is. */
async function remember(repository: Repository, ref: string, oid: Oid | null): Promise<void> {
  const tracking = trackingRef(ref);
  try {
    const before = oid === null ? null : await repository.readRef(tracking);
    if (before !== null && before !== oid) await repository.swapRef(tracking, before, oid);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
  }
}

/** A connection that broke may have done so after the update: the error is handed back, and the server asked. */
async function attempt(
  transport: Transport,
  update: RefUpdate,
  signal: Signal,
): Promise<Refusal | RemoteUnreachableError | null> {
  try {
    return await transport.push(update, signal);
  } catch (error) {
    if (error instanceof RemoteUnreachableError && !signal?.aborted) return error;
    throw error;
  }
}

function checkPrefix(prefix: string): void {
  checkedRef(prefix.endsWith('/') ? `${prefix}x/x` : prefix);
}

function checkUpdate({ ref, expected, next }: RefUpdate): void {
  checkedRef(ref);
  for (const oid of [expected, next]) if (oid !== null) checkedOid(oid);
}

function checkDepth(depth: number | null | undefined): void {
  if (depth == null || (Number.isSafeInteger(depth) && depth >= 1 && depth < wholeHistory)) return;
  throw new GitError(`A history of ${depth} commits cannot be fetched.`, 'Give a whole number from 1.');
}
