import type { EpochSeconds } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { recordLines } from '../state/lines.ts';
import { enqueueConsolidation } from '../state/scopes.ts';
import { threadByShortId } from '../state/threads.ts';
import { evidenceKey, setTombstone } from '../state/tombstones.ts';
import { everywhere } from '../workspace/layout.ts';
import { personsChanges } from '../workspace/persons.ts';
import { scopesOf } from '../workspace/scope.ts';
import type { Start } from './start.ts';

export interface PeoplesWork {
  readonly added: number;
  readonly removed: number;
}

/**
 * Compares the tree that the last night left on the branch with today's: lines that are new or reworded are people's
 * from now on; a bullet that stands nowhere any more is forgotten, its evidence tombstoned.
 * @param mask takes secrets out of both trees: lines are known by what is left.
 */
export function recordPeople(
  { state, before, memories }: Pick<Start, 'state' | 'before' | 'memories'>,
  mask: (files: Files) => Files,
  runId: string,
  now: EpochSeconds,
): PeoplesWork {
  return before === null ? { added: 0, removed: 0 } : compare(state, mask(before), mask(memories), runId, now);
}

function compare(state: State, before: Files, now: Files, runId: string, at: EpochSeconds): PeoplesWork {
  let added = 0;
  let removed = 0;
  for (const scope of new Set([...scopesOf(before), ...scopesOf(now), everywhere])) {
    const changes = personsChanges(before, now, scope);
    added += recordLines(
      state,
      changes.added.map(({ hash }) => ({ scope, hash, who: 'person', since: at })),
    );
    for (const line of changes.removed) {
      removed += 1;
      for (const { thread, items } of line.uncited) {
        const threadId = threadByShortId(state, thread)?.threadId;
        if (threadId === undefined) continue;
        for (const n of items) {
          const key = evidenceKey(threadId, n, scope);
          const reason = 'a person removed the line';
          setTombstone(state, { kind: 'evidence', key, reason, runId, pullRequest: null, setAt: at });
        }
      }
    }
    if (changes.removed.length > 0 && scope !== everywhere) enqueueConsolidation(state, scope, at);
  }
  return { added, removed };
}
