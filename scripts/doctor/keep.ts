import type { EpochSeconds } from '../shared/clock.ts';
import { listCitations, recordCitations } from '../state/citations.ts';
import type { State } from '../state/database.ts';
import { listLines, recordLines } from '../state/lines.ts';
import { horizonOf } from '../state/prune.ts';
import { listShown, recordShown } from '../state/shown.ts';
import { liftTombstone, listTombstones, setTombstone } from '../state/tombstones.ts';
import type { TombstoneRow } from '../state/types.ts';

/** Counts of what one side had and the other now has too. */
export interface Kept {
  readonly tombstones: number;
  readonly citations: number;
  readonly lines: number;
}

/**
 * Brings what must never be lost of one state into another: what was forgotten, what was cited and shown, whose a line is. What
 * was forgotten on either side stays so, unless `into` showed it again later.
 */
export function keepBoth(into: State, from: State, now: EpochSeconds): Kept {
  const known = new Map(listTombstones(into).map((row) => [keyOf(row), row]));
  let tombstones = 0;
  for (const row of listTombstones(from)) {
    const standing = known.get(keyOf(row));
    const isLater = standing === undefined || row.setAt > (standing.liftedAt ?? Number.POSITIVE_INFINITY);
    if (!isLater || !setTombstone(into, row)) continue;
    tombstones += 1;
    if (row.liftedAt !== null) liftTombstone(into, row.kind, row.key, row.liftedAt);
  }
  recordShown(into, listShown(from));
  const citations = recordCitations(into, listCitations(from), { now, horizon: horizonOf(into) });
  return { tombstones, citations, lines: recordLines(into, listLines(from)) };
}

function keyOf({ kind, key }: TombstoneRow): string {
  return `${kind} ${key}`;
}
