import { modeOf, type ReadPolicy, type SkipReason, whySkipped } from '../phase1/decide.ts';
import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { horizonOf } from '../state/prune.ts';
import { getThread, setMemoryMode, threadByShortId, upsertThread } from '../state/threads.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import { entriesIn } from '../workspace/extension.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { rawSections } from '../workspace/inputs.ts';
import { handbookPath, rawMemoriesPath } from '../workspace/layout.ts';
import type { Start } from './start.ts';

/** Notes every session that is in time, and says of the others why they are not read. */
export function whatToRead(
  start: Pick<Start, 'state'>,
  found: readonly Found[],
  policy: ReadPolicy,
  now: EpochSeconds,
): { candidates: Found[]; skipped: Map<string, SkipReason> } {
  const reasonOf = whyNotRead(start.state, policy, now);
  const skipped = new Map<string, SkipReason>();
  const candidates: Found[] = [];
  start.state.transaction(() => {
    for (const entry of found) {
      const { thread } = entry;
      const reason = reasonOf(entry);
      const known = getThread(start.state, thread.id);
      const memoryMode = modeOf(entry, known?.memoryMode ?? 'enabled', policy);
      if (known !== null && known.memoryMode !== memoryMode) setMemoryMode(start.state, thread.id, memoryMode, now);
      if (reason !== null) skipped.set(thread.id, reason);
      else candidates.push(entry);
      if (reason === null || reason === 'not_idle') {
        const { id, kind: _kind, ...rest } = thread;
        upsertThread(start.state, { ...rest, threadId: id, firstSeenAt: known?.firstSeenAt ?? now, memoryMode });
      }
    }
  });
  return { candidates, skipped };
}

/** Why a session is not read, by what the state knows of it when it is asked; null where it may be. */
export function whyNotRead(state: State, policy: ReadPolicy, now: EpochSeconds): (entry: Found) => SkipReason | null {
  const tombstones = tombstonesOf(state);
  const horizon = horizonOf(state) ?? 0;
  return (entry) => {
    const { thread } = entry;
    const row = getThread(state, thread.id);
    const known = {
      firstSeenAt: row?.firstSeenAt ?? null,
      memoryMode: row?.memoryMode ?? 'enabled',
      tombstoned: tombstones.hidesThread(thread.id) || tombstones.hidesAuthor(thread.author),
      horizon,
    };
    const taken = threadByShortId(state, shortThreadId(thread.id));
    const isTaken = taken !== null && taken.threadId !== thread.id;
    return whySkipped(entry, known, policy, now) ?? (isTaken ? 'short_id_taken' : null);
  };
}

/**
 * Threads that a standing line of the handbook names, notes that stand, and sessions whose inputs stand: a scope that is
 * held keeps files of sessions that nobody selects any more. Their rows are kept; so are those of what stands on the
 * default branch or in the proposal that was closed last: a verdict may make either the memory again.
 */
export function namedThreads({
  state,
  memories,
  defaultMemories,
  closed,
}: Pick<Start, 'state' | 'memories' | 'defaultMemories' | 'closed'>): Set<string> {
  const proposals = [...closed.values()].flatMap((scopes) => [...scopes.values()]);
  const standing = [...new Set([memories, defaultMemories, ...proposals])];
  const shortIds = new Set(standing.flatMap(citedIn));
  return new Set([
    ...standing.flatMap((files) => entriesIn(files).map(({ threadId }) => threadId)),
    ...standing.flatMap((files) => rawSections(files.get(rawMemoriesPath) ?? '').map(({ threadId }) => threadId)),
    ...[...shortIds].flatMap((shortId) => threadByShortId(state, shortId)?.threadId ?? []),
  ]);
}

/** Short ids. */
function citedIn(files: Files): string[] {
  const { blocks } = parseHandbook(files.get(handbookPath) ?? '');
  return blocks.flatMap(bulletsOf).flatMap(({ evidence }) => evidence.map(({ thread }) => thread));
}
