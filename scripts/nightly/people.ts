import type { EpochSeconds } from '../shared/clock.ts';
import type { Evidence } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { recordLines, recordRemoved } from '../state/lines.ts';
import { enqueueConsolidation } from '../state/scopes.ts';
import { threadByShortId } from '../state/threads.ts';
import { evidenceKey, liftTombstone, listTombstones, onRequest, setTombstone } from '../state/tombstones.ts';
import { everywhere } from '../workspace/layout.ts';
import { personsChanges, type RemovedLine } from '../workspace/persons.ts';
import { scopesOf } from '../workspace/scope.ts';
import { buryNotes } from './notes.ts';
import type { Start } from './start.ts';

export interface PeoplesWork {
  readonly added: number;
  readonly removed: number;
}

/**
 * Compares the tree that the last night left on the branch with today's: lines that are new or reworded are people's
 * from now on; a bullet that stands nowhere any more is forgotten, its evidence tombstoned. So are the bullets of a
 * proposal that was rejected, until it is opened again.
 * @param mask takes secrets out of the trees: lines are known by what is left.
 */
export function recordPeople(
  { state, before, memories, removals, reopened }: PeopleStart,
  mask: (files: Files) => Files,
  runId: string,
  now: EpochSeconds,
): PeoplesWork {
  if (reopened !== null) liftRejection(state, reopened, now);
  const today = mask(memories);
  const night = { runId, setAt: now };
  const work = before === null ? { added: 0, removed: 0 } : compare(state, mask(before), today, night);
  for (const { before: then, now: there, reason, pullRequest } of removals)
    forget(state, mask(then), [today, mask(there)], { ...night, reason, pullRequest });
  return work;
}

type PeopleStart = Pick<Start, 'state' | 'before' | 'memories' | 'removals' | 'reopened'>;

type Tombstone = Parameters<typeof setTombstone>[1];

function liftRejection(state: State, pullRequest: string, now: EpochSeconds): void {
  for (const tombstone of listTombstones(state)) {
    if (tombstone.pullRequest === pullRequest) liftTombstone(state, tombstone.kind, tombstone.key, now);
  }
}

/** What stood there and stands in none of the trees of today. */
function forget(state: State, before: Files, today: readonly Files[], why: Omit<Tombstone, 'kind' | 'key'>): void {
  for (const scope of [...scopesOf(before), everywhere]) {
    const [first = [], ...others] = today.map((files) => personsChanges(before, files, scope).removed);
    const goneFrom = others.map((removed) => new Set(removed.map(({ hash }) => hash)));
    const removed = first.filter(({ hash }) => goneFrom.every((hashes) => hashes.has(hash)));
    const isNew = removed.map((line) => bury(state, line, scope, why)).includes(true);
    if (isNew && scope !== everywhere) enqueueConsolidation(state, scope, why.setAt);
  }
  buryNotes(state, before, today, why);
}

function compare(state: State, before: Files, now: Files, night: { runId: string; setAt: EpochSeconds }): PeoplesWork {
  let added = 0;
  let removed = 0;
  for (const scope of new Set([...scopesOf(before), ...scopesOf(now), everywhere])) {
    const changes = personsChanges(before, now, scope);
    added += recordLines(
      state,
      changes.added.map(({ hash }) => ({ scope, hash, who: 'person', since: night.setAt })),
    );
    const isBack = changes.added.map(({ evidence }) => unbury(state, evidence, scope, night.setAt)).includes(true);
    const why = { ...night, reason: 'a person removed the line', pullRequest: null };
    for (const line of changes.removed) bury(state, line, scope, why);
    recordRemoved(
      state,
      changes.removed.map(({ hash }) => ({ scope, hash, since: night.setAt })),
    );
    removed += changes.removed.length;
    if ((changes.removed.length > 0 || isBack) && scope !== everywhere) enqueueConsolidation(state, scope, night.setAt);
  }
  removed += buryNotes(state, before, [now], { ...night, reason: 'a person removed the note', pullRequest: null });
  return { added, removed };
}

/**
 * A line that a person put back counts again with its evidence. What was forgotten on request stays so: its words are
 * gone, and an old branch that is merged must not bring them back.
 * @returns whether anything of it was hidden.
 */
function unbury(state: State, evidence: readonly Evidence[], scope: string, now: EpochSeconds): boolean {
  if (evidence.length === 0) return false;
  const asked = new Set(
    listTombstones(state).flatMap(({ kind, key, reason }) =>
      kind === 'evidence' && reason === onRequest ? [key] : [],
    ),
  );
  let isBack = false;
  for (const { thread, items } of evidence) {
    const row = threadByShortId(state, thread);
    if (row === null) continue;
    for (const n of items)
      for (const key of new Set([scope, row.repo].map((each) => evidenceKey(row.threadId, n, each))))
        if (!asked.has(key)) isBack = liftTombstone(state, 'evidence', key, now) || isBack;
  }
  return isBack;
}

/** @returns whether anything of it was not forgotten yet. */
function bury(state: State, { uncited }: RemovedLine, scope: string, why: Omit<Tombstone, 'kind' | 'key'>): boolean {
  let isNew = false;
  for (const { thread, items } of uncited) {
    const threadId = threadByShortId(state, thread)?.threadId;
    if (threadId === undefined) continue;
    for (const n of items) {
      const tombstone: Tombstone = { ...why, kind: 'evidence', key: evidenceKey(threadId, n, scope) };
      isNew = setTombstone(state, tombstone) || isNew;
    }
  }
  return isNew;
}
