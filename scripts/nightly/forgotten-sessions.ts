import { type Archive, archiveTip } from '../archive/archive.ts';
import { forgetInArchive } from '../archive/forget.ts';
import {
  type ArchiveTombstones,
  forgettingOf,
  noTombstones,
  readTombstones,
  TombstonesError,
  tombstoneKey,
} from '../archive/tombstones.ts';
import type { Repository } from '../git/types.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import { messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { evidenceOf } from '../state/evidence.ts';
import { getMeta } from '../state/meta.ts';
import { enqueueConsolidation } from '../state/scopes.ts';
import { listThreads } from '../state/threads.ts';
import { evidenceKey, listTombstones, onRequest, setTombstone } from '../state/tombstones.ts';
import { everywhere } from '../workspace/layout.ts';
import { ifHere } from './team-history.ts';

/** The keys by which the rollouts ref knows what was forgotten on request. @param salt the one that the ref uses. */
export function requestKeys(state: State, salt: string): string[] {
  return listTombstones(state).flatMap(({ kind, key, reason, liftedAt }) => {
    if (reason !== onRequest || liftedAt !== null) return [];
    if (kind === 'thread') return [tombstoneKey(salt, { kind, thread: key })];
    if (kind === 'author') return key.startsWith(`${salt}:`) ? [key.slice(salt.length + 1)] : [];
    const [thread = '', n = ''] = key.split(' ', 2);
    return [tombstoneKey(salt, { kind: 'item', thread, n })];
  });
}

/**
 * Takes from the rollouts ref what was forgotten on request and is not known there yet: a `forget` that died in between,
 * or a ref that was restored. Never fails a night.
 */
export async function dropForgotten(
  state: State,
  archive: Archive,
  { clock, warn, signal }: { readonly clock: Clock; warn(text: string): void; readonly signal: AbortSignal },
): Promise<void> {
  const salt = getMeta(state, 'salt');
  if (salt === null) return;
  try {
    const tip = await archiveTip(archive, signal);
    if (tip === null) return;
    const there = await readTombstones(archive.repository, tip);
    const known = new Set(there.keys);
    const used = there.salt === '' ? salt : there.salt;
    if (requestKeys(state, used).every((key) => known.has(key))) return;
    const keysFor = (own: string) => ({ salt: own || salt, keys: requestKeys(state, own || salt) });
    await forgetInArchive(archive, keysFor, { clock, signal });
  } catch (error) {
    signal.throwIfAborted();
    warn(`What was forgotten stays on the rollouts ref for now: ${messageOf(error)}`);
  }
}

/**
 * Takes over what the rollouts ref knows to be forgotten and the state does not: an older state that was restored would
 * else bring its words back.
 * @returns how many sessions and items are hidden from now on.
 */
export async function obeyArchive(
  state: State,
  repository: Repository,
  tip: Oid | null,
  now: EpochSeconds,
): Promise<number> {
  const there = tip === null ? noTombstones : await readTombstones(repository, tip).catch(unreadable);
  const forgetting = forgettingOf(there);
  if (forgetting.isEmpty) return 0;
  const why = { reason: onRequest, runId: null, pullRequest: null, setAt: now };
  let hidden = 0;
  for (const { threadId: thread, author, repo } of listThreads(state)) {
    const isGone =
      forgetting.hides({ kind: 'thread', thread }) || (author !== null && forgetting.hides({ kind: 'author', author }));
    if (isGone && setTombstone(state, { ...why, kind: 'thread', key: thread })) {
      hidden += 1;
      enqueueConsolidation(state, repo, now);
    }
    if (isGone) continue;
    for (const { n } of evidenceOf(state, thread)) {
      if (!forgetting.hides({ kind: 'item', thread, n })) continue;
      const isNew = [repo, everywhere].map((scope) =>
        setTombstone(state, { ...why, kind: 'evidence', key: evidenceKey(thread, n, scope) }),
      );
      if (!isNew.includes(true)) continue;
      hidden += 1;
      enqueueConsolidation(state, repo, now);
    }
  }
  return hidden;
}

/**
 * Before a night pushes what it made: whether somebody asked meanwhile that something be forgotten.
 * @param obeyed the commit of the rollouts ref that the night started from.
 * @returns the commit that says so; null where nobody asked.
 */
export async function askedSince(archive: Archive, obeyed: Oid | null, signal?: AbortSignal): Promise<Oid | null> {
  const tip = await archiveTip(archive, signal);
  if (tip === null || tip === obeyed) return null;
  // Beside a night nobody but who forgets writes the ref without its history.
  if (obeyed !== null && (await ifHere(archive.repository, obeyed)) === null) return tip;
  const keysAt = async (commit: Oid | null) =>
    commit === null ? [] : (await readTombstones(archive.repository, commit).catch(unreadable)).keys;
  const known = new Set(await keysAt(obeyed));
  return (await keysAt(tip)).some((key) => !known.has(key)) ? tip : null;
}

/** The state is the truth; what the copy says beyond it is lost. */
function unreadable(error: unknown): ArchiveTombstones {
  if (error instanceof TombstonesError) return noTombstones;
  throw error;
}
