import { messageOf } from '../shared/errors.ts';
import type { State, Value } from './database.ts';
import { QueryError } from './errors.ts';

export interface QueryResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  /** There were more rows than `limit`. */
  readonly truncated: boolean;
}

/**
 * Answers one statement that a person typed; it can only read.
 * @throws QueryError when it is empty, more than one, no SELECT, or wrong; the state is as it was.
 */
export function query(state: State, sql: string, limit = 10_000): QueryResult {
  const word = /^[a-z]{1,20}/i.exec(afterComments(sql))?.[0].toLowerCase() ?? '';
  if (!readingWords.includes(word))
    throw new QueryError('Only SELECT, WITH, VALUES and EXPLAIN are answered.', example);
  const answer = ask(state, sql, limit);
  if (afterComments(answer.rest) !== '')
    throw new QueryError('Only one statement at a time is answered.', 'Leave out what follows the first semicolon.');
  return { columns: answer.columns, rows: answer.rows, truncated: answer.truncated };
}

const readingWords = ['select', 'with', 'values', 'explain'];

const example =
  'Try: select thread_id, title from threads order by updated_at desc. `select name, sql from sqlite_schema` lists ' +
  'what there is.';

function ask(state: State, sql: string, limit: number): ReturnType<State['readOnly']> {
  try {
    return state.readOnly(sql, limit);
  } catch (error) {
    const reason = messageOf(error);
    if (/readonly database/.test(reason))
      throw new QueryError('The statement would change the state.', example, { cause: error });
    throw new QueryError(`SQLite says: ${reason}.`, example, { cause: error });
  }
}

/** The text from its first word on: white space, comments and empty statements before it are left out. */
function afterComments(sql: string): string {
  let rest = sql;
  for (;;) {
    rest = rest.replace(/^[\s;]+/, '');
    const end = rest.startsWith('--') ? '\n' : rest.startsWith('/*') ? '*/' : null;
    if (end === null) return rest;
    const at = rest.indexOf(end);
    rest = at < 0 ? '' : rest.slice(at + end.length);
  }
}
