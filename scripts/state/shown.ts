import type { EpochSeconds } from '../shared/clock.ts';
import { integer, text, textOrNull } from './columns.ts';
import type { Row, State } from './database.ts';
import { keptFor } from './kept.ts';
import type { UsageWindow } from './outputs.ts';
import type { ShownRow } from './types.ts';

/** Ids of a kind that a row keeps, so that it stays below 3 KB; of a session that was shown more the rest is not counted. */
export const maxShownIds = 100;

/**
 * Notes which memory sessions were shown. One row a session: it is written again when the session has grown, so reading
 * one twice counts it once.
 */
export function recordShown(state: State, rows: readonly ShownRow[]): void {
  state.transaction(() => {
    for (const row of rows)
      state.run(
        `insert into shown (thread_id, author, at, injected, retrieved, read)
         values (:thread_id, :author, :at, :injected, :retrieved, :read)
         on conflict (thread_id) do update set author = excluded.author, at = excluded.at,
           injected = excluded.injected, retrieved = excluded.retrieved, read = excluded.read
         where excluded.at >= shown.at`,
        {
          thread_id: row.threadId,
          author: row.author,
          at: row.at,
          injected: joined(row.injected),
          retrieved: joined(row.retrieved),
          read: joined(row.read),
        },
      );
  });
}

/** Up to which time of the session its use of memory is known; null where nothing is. */
export function shownUpTo(state: State, threadId: string): EpochSeconds | null {
  const row = state.first('select at from shown where thread_id = :thread', { thread: threadId });
  return row && integer(row, 'at');
}

/** By thread id. */
export function listShown(state: State): ShownRow[] {
  return state
    .all('select thread_id, author, at, injected, retrieved, read from shown order by thread_id')
    .map(shownFrom);
}

/** How often these memories, by short id, were read within the window: once a person and day. */
export function readCounts(state: State, { from, to }: UsageWindow, wanted: ReadonlySet<string>): Map<string, number> {
  const all = allReadCounts(state, from, to);
  return new Map([...wanted].map((id) => [id, all.get(id) ?? 0] as const).filter(([, count]) => count > 0));
}

/** A row names memories of any scope. */
const allReadCounts = keptFor('shown', (state, from: EpochSeconds, to: EpochSeconds): ReadonlyMap<string, number> => {
  const rows = state.all("select read, vote from shown where read <> '' and at between :from and :to", { from, to });
  const votes = new Map<string, Set<string>>();
  for (const row of rows)
    for (const id of idsOf(row, 'read')) votes.set(id, (votes.get(id) ?? new Set()).add(text(row, 'vote')));
  return new Map([...votes].map(([id, of]) => [id, of.size]));
});

function joined(ids: readonly string[]): string {
  return ids.slice(0, maxShownIds).join(' ');
}

function idsOf(row: Row, column: string): string[] {
  return text(row, column)
    .split(' ')
    .filter((id) => id !== '');
}

function shownFrom(row: Row): ShownRow {
  return {
    threadId: text(row, 'thread_id'),
    author: textOrNull(row, 'author'),
    at: integer(row, 'at'),
    injected: idsOf(row, 'injected'),
    retrieved: idsOf(row, 'retrieved'),
    read: idsOf(row, 'read'),
  };
}
