import { claimSessions } from '../../phase1/claim.ts';
import { createStems, type Learned, recordExtraction } from '../../phase1/record.ts';
import type { Extractor } from '../../phase1/types.ts';
import type { State } from '../../state/database.ts';
import { stemsInUse } from '../../state/outputs.ts';
import { upsertThread } from '../../state/threads.ts';

const by: Extractor = {
  class: 'llm',
  promptHash: 'bench',
  extract: () => Promise.reject(new RangeError('The bench extracts nothing here.')),
};

/**
 * Records what sessions taught as a night does: threads, claims, then one transaction. A session that is there already
 * is passed over.
 * @returns how many were recorded
 */
export function record(state: State, learned: readonly Learned[]): number {
  const now = Math.max(0, ...learned.map(({ thread }) => thread.updatedAt));
  const byThread = new Map(learned.map((one) => [one.thread.id, one]));
  const found = [...byThread.values()].map(({ thread }) => ({
    thread,
    items: 0,
    humanItems: 0,
    skipped: {},
    path: '',
  }));
  return state.transaction(() => {
    for (const { thread } of found) {
      const { id, kind: _kind, ...rest } = thread;
      upsertThread(state, { ...rest, threadId: id, firstSeenAt: now, memoryMode: 'enabled' });
    }
    const terms = { runId: 'bench', extractorClass: by.class, now, leaseSeconds: 3_600, ignoreBackoff: false };
    const { claimed } = claimSessions(state, found, terms);
    const stems = createStems(stemsInUse(state));
    for (const { found: session, claim } of claimed) {
      const taught = byThread.get(session.thread.id);
      if (taught !== undefined) recordExtraction(state, claim, taught, { runId: 'bench', extractor: by, now, stems });
    }
    return claimed.length;
  });
}
