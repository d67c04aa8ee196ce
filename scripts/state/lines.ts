import { integer, text } from './columns.ts';
import type { Row, State } from './database.ts';
import type { LineRow } from './types.ts';

/** Notes lines that people wrote or pinned; one that is known keeps who and since. @returns how many were new. */
export function recordLines(state: State, lines: readonly LineRow[]): number {
  return state.transaction(() => {
    let added = 0;
    for (const line of lines)
      added += state.run('insert or ignore into lines (scope, hash, who, since) values (:scope, :hash, :who, :since)', {
        scope: line.scope,
        hash: line.hash,
        who: line.who,
        since: line.since,
      });
    return added;
  });
}

/** @returns false where it was nobody's. */
export function removeLine(state: State, scope: string, hash: string): boolean {
  return state.run('delete from lines where scope = :scope and hash = :hash', { scope, hash }) > 0;
}

/** By hash. */
export function linesOf(state: State, scope: string): LineRow[] {
  const rows = state.all('select scope, hash, who, since from lines where scope = :scope order by hash', { scope });
  return rows.map(lineFrom);
}

/** Every scope's, by scope and hash. */
export function listLines(state: State): LineRow[] {
  return state.all('select scope, hash, who, since from lines order by scope, hash').map(lineFrom);
}

function lineFrom(row: Row): LineRow {
  return { scope: text(row, 'scope'), hash: text(row, 'hash'), who: text(row, 'who'), since: integer(row, 'since') };
}
