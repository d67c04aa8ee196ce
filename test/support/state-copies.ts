import type { EpochSeconds } from '../../scripts/shared/clock.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { setTombstone } from '../../scripts/state/tombstones.ts';
import { aThread } from './state-rows.ts';

export interface CopyOf {
  /** When nights began; each took a minute. */
  readonly nights?: readonly EpochSeconds[];
  readonly threads?: readonly string[];
  /** Thread id → when it was forgotten. */
  readonly forgotten?: Readonly<Record<string, EpochSeconds>>;
}

/** A published copy of a state, as text. */
export async function aCopy({ nights = [], threads = [], forgotten = {} }: CopyOf): Promise<string> {
  const state = await emptyState();
  for (const startedAt of nights) {
    const nothing = { counts: {}, usage: {}, models: '', promptsHash: 'p' };
    recordRun(state, { runId: `run-${startedAt}`, startedAt, finishedAt: startedAt + 60, outcome: 'done', ...nothing });
  }
  for (const threadId of threads) upsertThread(state, aThread(threadId));
  for (const [key, setAt] of Object.entries(forgotten))
    setTombstone(state, { kind: 'thread', key, reason: 'asked', runId: null, pullRequest: null, setAt });
  const text = snapshotOf(state);
  state.close();
  return text;
}
