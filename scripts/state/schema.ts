import { integer, text } from './columns.ts';
import type { State } from './database.ts';

/** A table or view as a person asks for it. */
export interface TableFacts {
  readonly name: string;
  readonly kind: 'table' | 'view';
  /** Generated ones too, in the order of the schema. */
  readonly columns: readonly string[];
  readonly rows: number;
}

/** Every table and view, by name. */
export function tableFacts(state: State): TableFacts[] {
  const found = state.all(
    "select name, type from sqlite_schema where type in ('table', 'view') and name not like 'sqlite%' order by name",
  );
  return found.map((row) => {
    const name = text(row, 'name');
    const columns = state.all('select name from pragma_table_xinfo(:name) order by cid', { name });
    const count = state.first(`select count(*) as rows from ${name}`);
    return {
      name,
      kind: row.type === 'view' ? 'view' : 'table',
      columns: columns.map((column) => text(column, 'name')),
      rows: count === null ? 0 : integer(count, 'rows'),
    };
  });
}
