import type { EpochSeconds } from '../shared/clock.ts';
import { integer, oneOf, text, textOrNull } from './columns.ts';
import type { Row, State } from './database.ts';
import type { CitationRow } from './types.ts';

/**
 * Notes who cited or read what. An event that is known already, and one of before the horizon, is ignored; one of
 * after `now` (a wrong clock) counts as of now.
 * @returns how many were new.
 */
export function recordCitations(
  state: State,
  rows: readonly CitationRow[],
  bounds: { readonly now: EpochSeconds; readonly horizon: EpochSeconds | null },
): number {
  return state.transaction(() => {
    let added = 0;
    for (const row of rows) {
      if (row.at < (bounds.horizon ?? 0)) continue;
      added += state.run(
        `insert or ignore into citations (event_id, kind, cited, citing_thread, author, at)
         values (:event_id, :kind, :cited, :citing_thread, :author, :at)`,
        {
          event_id: row.eventId,
          kind: row.kind,
          cited: row.cited,
          citing_thread: row.citingThread,
          author: row.author,
          at: Math.min(row.at, bounds.now),
        },
      );
    }
    return added;
  });
}

/** Citations of a thread, oldest first. */
export function citationsOf(state: State, threadId: string): CitationRow[] {
  const rows = state.all(
    `select event_id, kind, cited, citing_thread, author, at
     from citations where cited = :thread order by at, event_id`,
    { thread: threadId },
  );
  return rows.map(citationFrom);
}

/** All of them, oldest first. */
export function listCitations(state: State): CitationRow[] {
  const rows = state.all(
    'select event_id, kind, cited, citing_thread, author, at from citations order by at, event_id',
  );
  return rows.map(citationFrom);
}

function citationFrom(row: Row): CitationRow {
  return {
    eventId: text(row, 'event_id'),
    kind: oneOf(row, 'kind', ['cited', 'read']),
    cited: text(row, 'cited'),
    citingThread: text(row, 'citing_thread'),
    author: textOrNull(row, 'author'),
    at: integer(row, 'at'),
  };
}
