import type { EpochSeconds } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import { integerOrNull } from './columns.ts';
import type { State } from './database.ts';
import { NewerSnapshotError, SnapshotError } from './errors.ts';
import { openState } from './snapshot.ts';

/** Which of two copies of the state is kept, whole: their rows are never mixed. */
export type CopyChoice =
  | { readonly keep: Side; readonly because: 'later_night'; readonly lastNight: EpochSeconds }
  | { readonly keep: Side; readonly because: 'equal' | 'later_tombstone' | 'order' }
  | { readonly keep: Side; readonly because: 'damaged'; readonly fault: SnapshotError }
  | { readonly keep: null; readonly faults: { readonly ours: SnapshotError; readonly theirs: SnapshotError } };

export type Side = 'ours' | 'theirs';

/**
 * The copy with the later night, that is the greatest end of a run; a damaged copy loses. Between copies of the same
 * night the one in which something was hidden or shown later, since forgetting is not a night of its own; then the text
 * of the higher binary order. So the same two copies give the same one, whichever of them is ours.
 * @throws NewerSnapshotError where a newer version wrote one of them: then nobody here can tell.
 */
export async function laterCopy(ours: string, theirs: string): Promise<CopyChoice> {
  const [mine, other] = [await standing(ours), await standing(theirs)];
  if (mine instanceof SnapshotError)
    return other instanceof SnapshotError
      ? { keep: null, faults: { ours: mine, theirs: other } }
      : { keep: 'theirs', because: 'damaged', fault: mine };
  if (other instanceof SnapshotError) return { keep: 'ours', because: 'damaged', fault: other };
  if (ours === theirs) return { keep: 'ours', because: 'equal' };
  const later = (difference: number): Side => (difference > 0 ? 'ours' : 'theirs');
  const nights = mine.lastNight - other.lastNight;
  if (nights !== 0)
    return { keep: later(nights), because: 'later_night', lastNight: Math.max(mine.lastNight, other.lastNight) };
  const tombstones = mine.lastTombstone - other.lastTombstone;
  if (tombstones !== 0) return { keep: later(tombstones), because: 'later_tombstone' };
  return { keep: later(byBinary(ours, theirs)), because: 'order' };
}

/** How far a copy has come; 0 where nothing of the kind ever happened. */
interface Standing {
  readonly lastNight: EpochSeconds;
  readonly lastTombstone: EpochSeconds;
}

async function standing(text: string): Promise<Standing | SnapshotError> {
  let state: State;
  try {
    state = await openState(text);
  } catch (error) {
    if (error instanceof SnapshotError && !(error instanceof NewerSnapshotError)) return error;
    throw error;
  }
  try {
    return {
      lastNight: greatest(state, 'select max(finished_at) as at from runs'),
      lastTombstone: greatest(state, 'select max(max(set_at), max(coalesce(lifted_at, 0))) as at from tombstones'),
    };
  } finally {
    state.close();
  }
}

function greatest(state: State, sql: string): EpochSeconds {
  const row = state.first(sql);
  return (row && integerOrNull(row, 'at')) ?? 0;
}
