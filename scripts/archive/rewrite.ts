import { RolloutError } from '../rollout/canonical.ts';
import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import type { Archive } from './archive.ts';
import { type ChangeOptions, changeArchive, type Derived } from './change.ts';
import { headOfRollout } from './head.ts';
import { tombstonesPath } from './layout.ts';
import { storedRollouts } from './stored.ts';
import { type ArchiveTombstones, formatTombstones } from './tombstones.ts';

export interface Rewrite {
  /** Ids of the threads to drop. */
  readonly threads: ReadonlySet<string>;
  /** A thread with activity since then stays, as it grew after it was chosen; null drops it whatever it holds now. */
  readonly notSince: EpochSeconds | null;
  /** Written with it; undefined leaves what is there. */
  readonly tombstones?: ArchiveTombstones;
}

/** How much must have expired before the ref is worth writing anew. */
const worthDays = 7;

/**
 * The threads that retention drops tonight: every expired one that may go, once the oldest of them expired a week ago.
 * @param mayGo has an output in the pushed state, or was reported as expired.
 */
export function expiredThreads(
  stored: readonly { readonly thread: { readonly id: string; readonly updatedAt: EpochSeconds } }[],
  mayGo: (threadId: string) => boolean,
  notBefore: EpochSeconds,
): ReadonlySet<string> {
  const expired = stored.filter(({ thread }) => thread.updatedAt < notBefore && mayGo(thread.id));
  const isWorth = expired.some(({ thread }) => thread.updatedAt < notBefore - worthDays * day);
  return new Set(isWorth ? expired.map(({ thread }) => thread.id) : []);
}

/**
 * Writes the ref anew from its current tip without the given threads; what was before is no longer reachable from it.
 * Notes and everything else stay.
 * @returns the ids that were dropped; none where the ref was left as it was.
 */
export async function rewriteArchive(
  archive: Archive,
  rewrite: Rewrite,
  options: ChangeOptions,
): Promise<readonly string[]> {
  return changeArchive(archive, (tip) => deriveRewrite(archive, tip, rewrite, options.signal), options);
}

async function deriveRewrite(
  { repository }: Archive,
  tip: Oid | null,
  { threads, notSince, tombstones }: Rewrite,
  signal: AbortSignal | undefined,
): Promise<Derived<readonly string[]>> {
  const dropped: string[] = [];
  const changes = new Map<string, string | null>();
  if (tip !== null) {
    for await (const { path, thread, bytes } of storedRollouts(repository, tip, (id) => threads.has(id), signal)) {
      if (notSince !== null && isSince(bytes, notSince)) continue;
      changes.set(path, null);
      dropped.push(thread);
    }
  }
  if (tombstones !== undefined) changes.set(tombstonesPath, formatTombstones(tombstones));
  if (changes.size === 0) return { commit: null, value: dropped };
  const message = `Drop ${dropped.length} ${dropped.length === 1 ? 'session' : 'sessions'}`;
  return { commit: { changes, message, isRewrite: true }, value: dropped };
}

/** What cannot be read serves nobody and goes. */
function isSince(bytes: Buffer, notSince: EpochSeconds): boolean {
  try {
    return headOfRollout(bytes).rollout.thread.updatedAt >= notSince;
  } catch (error) {
    if (error instanceof RolloutError) return false;
    throw error;
  }
}
