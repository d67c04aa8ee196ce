import { type Archive, archiveTip } from '../archive/archive.ts';
import { type ForgottenThere, forgetInArchive } from '../archive/forget.ts';
import { readTombstones, tombstoneKey } from '../archive/tombstones.ts';
import { requestKeys } from '../nightly/forgotten-sessions.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { getMeta } from '../state/meta.ts';
import { applyForgetting } from './apply.ts';
import { choose } from './choose.ts';
import type { Chosen } from './doomed.ts';
import type { NightAtWorkError, Place } from './place.ts';
import type { ForgetPorts, Reach } from './run.ts';
import type { Target } from './target.ts';

/** What was asked of the night that is at work: it goes on as soon as that has ended. */
export interface Requested extends Reach {
  readonly by: string;
  readonly until: EpochSeconds;
  readonly sessions: ForgottenThere;
}

/**
 * Beside a night that is at work: the sessions go from the rollouts ref at once, and what stands there says what is to be
 * forgotten. That night starts again from it before it pushes, and every later one obeys it. Rows, memory and history are
 * the night's as long as it works: they are left to the same command, run again.
 */
export async function requestForgetting(
  target: Target,
  place: Place & { readonly archive: Archive },
  { worker: by, until }: NightAtWorkError,
  { clock, newSalt }: ForgetPorts,
  signal?: AbortSignal,
): Promise<Requested> {
  const held = await place.look(signal);
  const salt = await saltOf(place.archive, held.state, newSalt, signal);
  const chosen = await choose(target, held, signal);
  // In a copy: its tombstones name what the ref is to know.
  const applied = applyForgetting(held, chosen, salt, 'request', clock.now());
  const keysFor = (own: string) => keysOf(held.state, chosen, own || salt);
  const sessions = await forgetInArchive(place.archive, keysFor, { clock, ...(signal && { signal }) });
  return { chosen, applied, by, until, sessions };
}

/** The ref's own, where it has one: its keys and the state's are then made alike. */
export async function saltOf(
  archive: Archive | null,
  state: State,
  fresh: string,
  signal?: AbortSignal,
): Promise<string> {
  const tip = archive === null ? null : await archiveTip(archive, signal);
  const there = archive === null || tip === null ? '' : (await readTombstones(archive.repository, tip)).salt;
  return there || getMeta(state, 'salt') || fresh;
}

export function keysOf(state: State, { copies, author }: Chosen, salt: string): { salt: string; keys: string[] } {
  return {
    salt,
    keys: [
      ...requestKeys(state, salt),
      ...copies.map((copy) => tombstoneKey(salt, { kind: 'copy', ...copy })),
      ...(author === null ? [] : [tombstoneKey(salt, { kind: 'author', author })]),
    ],
  };
}
