import type { EpochSeconds } from '../shared/clock.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import { sha256 } from '../shared/thread-id.ts';
import { integer, integerOrNull, oneOf, text, textOrNull } from './columns.ts';
import type { State } from './database.ts';
import { keptFor } from './kept.ts';
import type { TombstoneRow } from './types.ts';

/** What is hidden today, asked without the database. Hiding a thread hides its evidence in every scope. */
export interface Tombstones {
  /** Nothing at all is hidden. */
  readonly isEmpty: boolean;
  hidesThread(threadId: string): boolean;
  hidesEvidence(threadId: string, n: ItemNumber, scope: string): boolean;
  hidesAuthor(author: string | null): boolean;
}

/** The key of an evidence tombstone. None of the first two parts holds a space. */
export function evidenceKey(threadId: string, n: ItemNumber, scope: string): string {
  return `${threadId} ${n} ${scope}`;
}

/**
 * The reason of what `forget` hides: its words are deleted as well, and no line of a person shows it again.
 */
export const onRequest = 'forgotten on request';

/** The key of an author's tombstone: it knows the author without naming them. It carries its salt, so that it holds in any state. */
export function authorKey(salt: string, author: string): string {
  return `${salt}:${sha256(JSON.stringify([salt, 'author', author]))}`;
}

/** Hides something. A standing tombstone keeps its first reason; a lifted one stands again. @returns whether it is new. */
export function setTombstone(state: State, tombstone: Omit<TombstoneRow, 'liftedAt'>): boolean {
  const changed = state.run(
    `insert into tombstones (kind, key, reason, run_id, pull_request, set_at, lifted_at)
     values (:kind, :key, :reason, :run_id, :pull_request, :set_at, null)
     on conflict (kind, key) do update set
       reason = excluded.reason, run_id = excluded.run_id, pull_request = excluded.pull_request,
       set_at = excluded.set_at, lifted_at = null
     where tombstones.lifted_at is not null`,
    {
      kind: tombstone.kind,
      key: tombstone.key,
      reason: tombstone.reason,
      run_id: tombstone.runId,
      pull_request: tombstone.pullRequest,
      set_at: tombstone.setAt,
    },
  );
  return changed > 0;
}

/** Shows it again; the row stays as a record. @returns false where no tombstone stood. */
export function liftTombstone(state: State, kind: TombstoneRow['kind'], key: string, now: EpochSeconds): boolean {
  const lifted = state.run(
    'update tombstones set lifted_at = :now where kind = :kind and key = :key and lifted_at is null',
    { kind, key, now },
  );
  return lifted > 0;
}

/** Lifted ones too, by kind and key. */
export function listTombstones(state: State): TombstoneRow[] {
  const rows = state.all(
    'select kind, key, reason, run_id, pull_request, set_at, lifted_at from tombstones order by kind, key',
  );
  return rows.map((row) => ({
    kind: oneOf(row, 'kind', ['evidence', 'thread', 'author']),
    key: text(row, 'key'),
    reason: text(row, 'reason'),
    runId: textOrNull(row, 'run_id'),
    pullRequest: textOrNull(row, 'pull_request'),
    setAt: integer(row, 'set_at'),
    liftedAt: integerOrNull(row, 'lifted_at'),
  }));
}

/** The tombstones that stand now, as a value that later changes of the state do not move. */
export const tombstonesOf = keptFor('tombstones', (state): Tombstones => {
  const standing = listTombstones(state).filter((tombstone) => tombstone.liftedAt === null);
  const keys = (kind: TombstoneRow['kind']) =>
    new Set(standing.filter((tombstone) => tombstone.kind === kind).map((tombstone) => tombstone.key));
  const threads = keys('thread');
  const evidence = keys('evidence');
  const isAuthor = authorsOf(keys('author'));
  return {
    isEmpty: standing.length === 0,
    hidesThread: (threadId) => threads.has(threadId),
    hidesEvidence: (threadId, n, scope) =>
      threads.has(threadId) || (evidence.size > 0 && evidence.has(evidenceKey(threadId, n, scope))),
    hidesAuthor: (author) => author !== null && isAuthor(author),
  };
});

/** Authors are asked for once a session, so each is hashed once. */
function authorsOf(keys: ReadonlySet<string>): (author: string) => boolean {
  const salts = new Set([...keys].flatMap((key) => /^([0-9a-f]{32}):[0-9a-f]{64}$/.exec(key)?.[1] ?? []));
  const known = new Map<string, boolean>();
  return (author) => {
    const before = known.get(author);
    const isHidden = before ?? (keys.has(author) || [...salts].some((salt) => keys.has(authorKey(salt, author))));
    known.set(author, isHidden);
    return isHidden;
  };
}
