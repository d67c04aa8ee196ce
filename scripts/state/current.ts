import type { Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import type { State } from './database.ts';
import { NewerSnapshotError, SnapshotError } from './errors.ts';
import type { NightRecord } from './night-record.ts';
import { loadStateRef, stateRef } from './ref.ts';
import { emptyState, openState } from './snapshot.ts';

/** Path of the published copy in a branch's tree. */
export const statePath = 'state.sqlite.json';

/** The bookkeeping as it is now, opened to be looked at. */
export interface CurrentState {
  readonly state: State;
  /** `ref`: `refs/memory/state`; `published`: the copy in HEAD's tree; `none`: no night has run here. */
  readonly from: 'ref' | 'published' | 'none';
  /** The commit that it was read from. */
  readonly oid: Oid | null;
  /** UTF-8 bytes of the snapshot. */
  readonly bytes: number;
  /** null without the ref. */
  readonly night: NightRecord | null;
}

/**
 * Reads the state from where the truth is: the ref, else the published copy in HEAD, else an empty one. Works on a
 * detached HEAD and in a bare repository too, and writes nothing.
 * @throws SnapshotError, StateTreeError: damaged or newer, with the line and the way back.
 */
export async function currentState(repository: Repository): Promise<CurrentState> {
  const loaded = await loadStateRef(repository, stateRef);
  if (loaded !== null) {
    const { text, night } = loaded.tree;
    const state = await openStateOfRef(text);
    return { state, from: 'ref', oid: loaded.oid, bytes: Buffer.byteLength(text), night };
  }
  const { oid } = await repository.head();
  const text = oid === null ? undefined : (await repository.readFiles(oid, [statePath])).get(statePath);
  if (text === undefined) return { state: await emptyState(), from: 'none', oid: null, bytes: 0, night: null };
  return { state: await openState(text), from: 'published', oid, bytes: Buffer.byteLength(text), night: null };
}

/** What leads from a bad state ref to the last good one. */
export const wayBackOfRef = `Go back to the last good state: \`git log ${stateRef}\` lists them, \`git update-ref ${stateRef} <last good>\` takes one.`;

/** As `openState`, for the text of the state ref's commit, to which another way leads back. */
export async function openStateOfRef(text: string): Promise<State> {
  try {
    return await openState(text);
  } catch (error) {
    if (!(error instanceof SnapshotError) || error instanceof NewerSnapshotError) throw error;
    throw new SnapshotError(error.line, `${error.reason}, as ${stateRef} holds it`, wayBackOfRef, { cause: error });
  }
}
