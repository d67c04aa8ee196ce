import { trackingRef } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { currentState, openStateOfRef } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { loadStateRef, stateRef } from '../state/ref.ts';
import { noRecords, type Records, recordsOf } from './records.ts';

/** The bookkeeping that answers are looked up in. */
export interface KnownState {
  readonly state: State;
  /** `fetched`: as the remote had it when it was last fetched. */
  readonly from: 'ref' | 'fetched' | 'published' | 'none';
  /** What its history says of every run; nothing where only a published copy is here. */
  readonly records: Records;
  /** Numbers of pull requests that were closed without a merge. */
  readonly closed: ReadonlySet<string>;
}

/**
 * The state of the local ref, else of the fetched one, else the copy that HEAD's tree holds.
 * @throws SnapshotError, StateTreeError: damaged or newer.
 */
export async function openKnownState(repository: Repository): Promise<KnownState> {
  for (const [ref, from] of [
    [stateRef, 'ref'],
    [trackingRef(stateRef), 'fetched'],
  ] as const) {
    const loaded = await loadStateRef(repository, ref);
    if (loaded === null) continue;
    const state = await openStateOfRef(loaded.tree.text);
    return {
      state,
      from,
      records: await recordsOf(repository, loaded.oid),
      closed: new Set(loaded.tree.closed.keys()),
    };
  }
  const { state, from } = await currentState(repository);
  return { state, from: from === 'none' ? 'none' : 'published', records: noRecords, closed: new Set() };
}
