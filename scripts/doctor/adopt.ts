import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import { grewFrom } from '../nightly/begin.ts';
import { takeLease } from '../nightly/lease.ts';
import type { Team } from '../nightly/team.ts';
import { type EpochSeconds, isoTime } from '../shared/clock.ts';
import { MemoryError, UsageError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { openStateOfRef } from '../state/current.ts';
import { stateRef, writeStateCommit } from '../state/ref.ts';
import { snapshotOf } from '../state/snapshot.ts';
import { type StateTree, treeOfFiles, treeRoots } from '../state/tree.ts';
import { type Kept, keepBoth } from './keep.ts';

export interface AdoptPorts {
  readonly repository: Repository;
  readonly remote: Remote;
  readonly lease: Team['lease'];
  readonly author: Signature;
  readonly now: EpochSeconds;
}

export type Adopted =
  | { readonly outcome: 'nothing'; readonly why: string }
  | {
      readonly outcome: 'adopted';
      /** What both sides hold now. */
      readonly state: Oid;
      readonly kept: Kept;
      /** The local ref that still names the other side; null where there was none. */
      readonly other: string | null;
    };

/**
 * Goes on with one of two states that did not grow from each other, on both sides, under the lease: the chosen one with
 * what the other had forgotten, cited and pinned. The other stays reachable in this clone.
 * @throws MemoryError where a night is at work; UsageError where the chosen side has no state.
 */
export async function adopt(side: 'remote' | 'local', ports: AdoptPorts, signal: AbortSignal): Promise<Adopted> {
  const taken = await takeLease(ports.lease.terms, ports.lease.ports, signal);
  if (taken.outcome === 'held')
    throw new MemoryError(
      `A night is at work (${taken.by.worker}), and its state must not be moved under it.`,
      'Run it again when it has ended.',
    );
  try {
    return await adoptUnderLease(side, ports, taken.lease.prove, signal);
  } finally {
    await taken.lease.release();
  }
}

async function adoptUnderLease(
  side: 'remote' | 'local',
  ports: AdoptPorts,
  prove: () => Promise<void>,
  signal: AbortSignal,
): Promise<Adopted> {
  const { repository, remote, now } = ports;
  const shared = (await remote.fetch([stateRef], { signal })).get(stateRef) ?? null;
  const own = await repository.readRef(stateRef);
  const why = await whyNothing(repository, own, shared);
  if (why !== null) return { outcome: 'nothing', why };
  const [chosen, other] = side === 'remote' ? [shared, own] : [own, shared];
  if (chosen === null)
    throw new UsageError('The remote has no state, so there is none to go on with.', 'npm run doctor -- --adopt local');
  const otherRef = other === null ? null : await keepReachable(repository, other, now);
  const { commit, kept } = await joined(chosen, other, side, ports);
  await prove();
  if (commit !== shared) await remote.push([{ ref: stateRef, expected: shared, next: commit }], signal);
  if (commit !== own) await repository.swapRef(stateRef, own, commit);
  return { outcome: 'adopted', state: commit, kept, other: otherRef };
}

async function whyNothing(repository: Repository, own: Oid | null, shared: Oid | null): Promise<string | null> {
  if (own === null) return 'this clone has no state of its own';
  if (own === shared) return 'this clone’s state is the remote’s';
  const isOlder = shared !== null && (await grewFrom(repository, shared, own));
  return isOlder ? 'the remote’s state grew from this clone’s' : null;
}

/** By the time, as no ref's name holds a colon. */
async function keepReachable(repository: Repository, other: Oid, now: EpochSeconds): Promise<string> {
  const ref = `refs/memory/adopted/${isoTime(now).replaceAll(':', '')}`;
  const standing = await repository.readRef(ref);
  if (standing !== other) await repository.swapRef(ref, standing, other);
  return ref;
}

/** The chosen state with what the other had; itself where that adds nothing. */
async function joined(
  chosen: Oid,
  other: Oid | null,
  side: 'remote' | 'local',
  { repository, author, now }: AdoptPorts,
): Promise<{ commit: Oid; kept: Kept }> {
  const tree = await treeAt(repository, chosen);
  const state = await openStateOfRef(tree.text);
  const theirs = other === null ? null : await treeAt(repository, other);
  const kept =
    theirs === null
      ? { tombstones: 0, citations: 0, lines: 0 }
      : keepBoth(state, await openStateOfRef(theirs.text), now);
  const text = snapshotOf(state);
  const known = new Set(tree.night.batches.map(({ id }) => id));
  // What the other side asked for is paid as well.
  const batches = [...tree.night.batches, ...(theirs?.night.batches ?? []).filter(({ id }) => !known.has(id))];
  const night = { ...tree.night, batches, ...(side === 'local' && { pendingPush: null }) };
  const isSame = night.pendingPush === tree.night.pendingPush && batches.length === known.size;
  if (text === tree.text && isSame) return { commit: chosen, kept };
  const message = `state: adopted ${side}\n\nThe other side was ${other ?? 'none'}.\n`;
  const next = { ...tree, text, night };
  return {
    commit: await writeStateCommit(repository, { expected: chosen, tree: next, author, at: now, message }),
    kept,
  };
}

async function treeAt(repository: Repository, commit: Oid): Promise<StateTree> {
  return treeOfFiles(await repository.readFiles(commit, [...treeRoots]));
}
