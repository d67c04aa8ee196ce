import { integer, text } from './columns.ts';
import type { Row, State } from './database.ts';
import type { LineRow } from './types.ts';

const removed = 'removed';

/** Notes lines that people wrote or pinned; one that is known keeps who and since. @returns how many were new. */
export function recordLines(state: State, lines: readonly LineRow[]): number {
  return state.transaction(() => {
    let added = 0;
    for (const line of lines)
      added += state.run(
        `insert into lines (scope, hash, who, since) values (:scope, :hash, :who, :since)
         on conflict (scope, hash) do update set who = excluded.who, since = excluded.since
         where lines.who = '${removed}' and excluded.who <> '${removed}'`,
        { scope: line.scope, hash: line.hash, who: line.who, since: line.since },
      );
    return added;
  });
}

/** Notes lines that people took out, so that one which is taught again can be told. A line of a person's stays theirs. */
export function recordRemoved(state: State, lines: readonly Pick<LineRow, 'scope' | 'hash' | 'since'>[]): void {
  for (const { scope, hash, since } of lines)
    state.run('insert or ignore into lines (scope, hash, who, since) values (:scope, :hash, :who, :since)', {
      scope,
      hash,
      who: removed,
      since,
    });
}

/** Hashes of a scope's lines that people took out and nobody put back. */
export function removedOf(state: State, scope: string): ReadonlySet<string> {
  const rows = state.all('select hash from lines where scope = :scope and who = :who', { scope, who: removed });
  return new Set(rows.map((row) => text(row, 'hash')));
}

/** @returns false where it was nobody's. */
export function removeLine(state: State, scope: string, hash: string): boolean {
  return state.run('delete from lines where scope = :scope and hash = :hash', { scope, hash }) > 0;
}

/** Those that are people's, by hash. */
export function linesOf(state: State, scope: string): LineRow[] {
  const rows = state.all(
    'select scope, hash, who, since from lines where scope = :scope and who <> :who order by hash',
    {
      scope,
      who: removed,
    },
  );
  return rows.map(lineFrom);
}

/** Every scope's, by scope and hash. */
export function listLines(state: State): LineRow[] {
  return state.all('select scope, hash, who, since from lines order by scope, hash').map(lineFrom);
}

function lineFrom(row: Row): LineRow {
  return { scope: text(row, 'scope'), hash: text(row, 'hash'), who: text(row, 'who'), since: integer(row, 'since') };
}
