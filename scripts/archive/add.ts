import { RolloutError, writeRollout } from '../rollout/canonical.ts';
import type { Rollout } from '../rollout/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import type { Archive } from './archive.ts';
import { type ChangeOptions, changeArchive, type Derived } from './change.ts';
import { withoutForgotten } from './forgotten-items.ts';
import { headOfRollout } from './head.ts';
import { archivePath } from './layout.ts';
import { storedRollouts } from './stored.ts';
import { type Forgetting, forgettingOf, noTombstones, readTombstones } from './tombstones.ts';

/**
 * What became of a session: `same` and `newer_there` leave the stored copy as it is; `tombstoned` and `expired` are
 * never uploaded.
 */
export type AddOutcome = 'added' | 'grown' | 'same' | 'newer_there' | 'tombstoned' | 'expired';

/**
 * Adds sessions to the ref in one commit on its current tip. A session that is there already is replaced only by a later
 * or longer record of itself.
 * @param rollouts redacted, each thread once.
 * @param notBefore sessions without activity since then are not uploaded (the retention).
 * @returns by thread id.
 * @throws TombstonesError where the copy of what is forgotten cannot be read.
 */
export async function addRollouts(
  archive: Archive,
  rollouts: readonly Rollout[],
  notBefore: EpochSeconds,
  options: ChangeOptions,
): Promise<ReadonlyMap<string, AddOutcome>> {
  return changeArchive(archive, (tip) => deriveAddition(archive, tip, rollouts, notBefore), options);
}

/** What `addRollouts` would do on this tip. */
export async function deriveAddition(
  archive: Archive,
  tip: Oid | null,
  rollouts: readonly Rollout[],
  notBefore: EpochSeconds,
): Promise<Derived<ReadonlyMap<string, AddOutcome>>> {
  const there = await standing(archive, tip, rollouts);
  const outcomes = new Map<string, AddOutcome>();
  const changes = new Map<string, string | null>();
  for (const rollout of rollouts) {
    const { id } = rollout.thread;
    const copies = there.copies.get(id) ?? [];
    const outcome = outcomeOf(rollout, copies, there.forgetting, notBefore);
    outcomes.set(id, outcome);
    if (outcome !== 'added' && outcome !== 'grown') continue;
    for (const { path } of copies) changes.set(path, null);
    changes.set(archivePath(rollout.thread), writeRollout(withoutForgotten(rollout, there.forgetting)));
  }
  const count = [...changes.values()].filter((text) => text !== null).length;
  const message = `Collect ${count} ${count === 1 ? 'session' : 'sessions'}`;
  return { commit: count === 0 ? null : { changes, message, isRewrite: false }, value: outcomes };
}

interface Copy {
  readonly path: string;
  readonly updatedAt: EpochSeconds;
  readonly bytes: number;
}

interface Standing {
  readonly forgetting: Forgetting;
  /** By thread id, of the threads asked for. */
  readonly copies: ReadonlyMap<string, readonly Copy[]>;
}

async function standing({ repository }: Archive, tip: Oid | null, rollouts: readonly Rollout[]): Promise<Standing> {
  const copies = new Map<string, Copy[]>();
  if (tip === null) return { forgetting: forgettingOf(noTombstones), copies };
  const wanted = new Set(rollouts.map(({ thread }) => thread.id));
  for await (const { path, thread, bytes } of storedRollouts(repository, tip, (id) => wanted.has(id)))
    copies.set(thread, [...(copies.get(thread) ?? []), copyOf(path, bytes)]);
  return { forgetting: forgettingOf(await readTombstones(repository, tip)), copies };
}

/** A copy that cannot be read is older than any. */
function copyOf(path: string, bytes: Buffer): Copy {
  try {
    const { thread, source } = headOfRollout(bytes).rollout;
    return { path, updatedAt: thread.updatedAt, bytes: source.bytes };
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    return { path, updatedAt: -1, bytes: -1 };
  }
}

function outcomeOf(
  { thread, source }: Rollout,
  copies: readonly Copy[],
  forgetting: Forgetting,
  notBefore: EpochSeconds,
): AddOutcome {
  if (forgetting.hides({ kind: 'thread', thread: thread.id })) return 'tombstoned';
  if (thread.author !== null && forgetting.hides({ kind: 'author', author: thread.author })) return 'tombstoned';
  if (thread.updatedAt < notBefore) return 'expired';
  const age = (copy: Copy): number => thread.updatedAt - copy.updatedAt || source.bytes - copy.bytes;
  if (copies.some((copy) => age(copy) < 0)) return 'newer_there';
  if (copies.some((copy) => age(copy) === 0)) return 'same';
  return copies.length === 0 ? 'added' : 'grown';
}
