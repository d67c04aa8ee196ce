import { MemoryError, messageOf } from '../shared/errors.ts';
import { integer, text } from './columns.ts';
import { type ColumnType, openDatabase, type Row, type State, type Value } from './database.ts';
import { NewerSnapshotError, SnapshotError } from './errors.ts';
import { migrate, migrations } from './migrations.ts';
import {
  parseSnapshotText,
  type RowText,
  type SnapshotText,
  snapshotFormat,
  type TableText,
  valuesOf,
} from './snapshot-text.ts';

/** From here on a night warns: a host refuses larger files, and every night writes this one anew. */
export const warnBytes = 30_000_000;
export const stopBytes = 45_000_000;

export function sizeVerdict(bytes: number): 'fine' | 'warn' | 'stop' {
  return bytes >= stopBytes ? 'stop' : bytes >= warnBytes ? 'warn' : 'fine';
}

export async function emptyState(): Promise<State> {
  const state = await openDatabase();
  migrate(state, 0);
  return state;
}

/**
 * The state that a snapshot's text holds, brought to today's schema. `snapshotOf` of it gives the same bytes.
 * @throws SnapshotError with the line, for a text that is damaged, in conflict, or newer than this program.
 */
export async function openState(snapshot: string): Promise<State> {
  const parsed = parseSnapshotText(snapshot);
  refuseOtherSchema(parsed.schema);
  const state = await openDatabase();
  try {
    migrate(state, 0, parsed.schema);
    state.transaction(() => fill(state, parsed));
    migrate(state, parsed.schema);
    return state;
  } catch (error) {
    state.close();
    throw error;
  }
}

/** The state as text: tables by name, columns once, a row a line in the binary order of its key, LF at the end. */
export function snapshotOf(state: State): string {
  let snapshot = `{"format":"${snapshotFormat}","schema":${migrations.length},"tables":{\n`;
  for (const [index, table] of tablesOf(state).entries()) {
    const columns = JSON.stringify(table.columns.map((column) => column.name));
    snapshot += `${index === 0 ? '' : ',\n'}"${table.name}":{"columns":${columns},"rows":[\n`;
    let between = '';
    for (const rows of rowsTexts(state, table)) {
      snapshot += between + rows;
      between = ',\n';
    }
    snapshot += between === '' ? ']}' : '\n]}';
  }
  return `${snapshot}\n}}\n`;
}

interface Column extends ColumnType {
  readonly nullable: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

function refuseOtherSchema(schema: number): void {
  if (schema < 1) throw new SnapshotError(1, 'its schema has no number');
  if (schema > migrations.length)
    throw new NewerSnapshotError(
      1,
      `schema ${schema} was written by a newer version, this one knows ${migrations.length}`,
      'Update this checkout: take the scripts of the default branch (git pull), then npm ci.',
    );
}

function tablesOf(state: State): Table[] {
  const names = state.all(
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' order by name",
  );
  return names.map((row) => tableOf(state, text(row, 'name')));
}

/** Generated columns are not among them: they follow from the others. */
function tableOf(state: State, name: string): Table {
  const rows = state.all('select name, type, "notnull" as filled, pk from pragma_table_info(:name)', { name });
  const keyed = rows.filter((row) => integer(row, 'pk') > 0).sort((a, b) => integer(a, 'pk') - integer(b, 'pk'));
  return {
    name,
    columns: rows.map((row) => ({
      name: text(row, 'name'),
      type: row.type === 'INTEGER' ? 'INTEGER' : 'TEXT',
      nullable: row.filled === 0,
    })),
    key: keyed.map((row) => text(row, 'name')),
  };
}

/**
 * SQLite's JSON escapes as `JSON.stringify` does, and one text for many rows spares the library's copying by value; one for
 * all of a table would stand three times in memory. Joining keeps the subquery's order: SQLite drops that only for
 * aggregates that cannot see it.
 */
function* rowsTexts(state: State, { name, columns, key }: Table): Generator<string> {
  const keys = key.join(', ');
  const from = `(${keys}) >= (${key.map((column) => `:${column}`).join(', ')})`;
  const unsafe = columns
    .filter((column) => column.type === 'INTEGER')
    .map((column) => `abs(ifnull(${column.name}, 0)) > ${Number.MAX_SAFE_INTEGER}`);
  const cells = columns.map((column) => column.name).join(', ');
  const lines = `select json_array(${cells}) as line, ${unsafe.join(' or ') || 'false'} as unsafe
     from ${name} where ${from} order by ${keys} limit ${rowsInOneText}`;
  const many = `select group_concat(line, ',' || char(10)) as lines, max(unsafe) as unsafe from (${lines})`;
  const next = `select ${keys} from ${name} where ${from} order by ${keys} limit 1 offset ${rowsInOneText}`;
  // Keys are texts, and none is before the empty one.
  let at: Row | null = Object.fromEntries(key.map((column) => [column, '']));
  for (; at !== null; at = state.first(next, at)) {
    const row: Row | null = state.first(many, at);
    if (row === null || row.lines === null) return;
    if (row.unsafe === 1)
      throw new MemoryError(`A number in table ${name} is not below 2^53.`, 'Report this: nothing was written.');
    yield text(row, 'lines');
  }
}

/** Of the longest rows some 200 KB. */
const rowsInOneText = 64;

function fill(state: State, parsed: SnapshotText): void {
  const expected = tablesOf(state);
  for (const [index, table] of expected.entries()) {
    const found = parsed.tables[index];
    if (found?.name !== table.name)
      throw new SnapshotError(found?.line ?? parsed.lastLine, `table ${table.name} should stand here`);
    refuseOtherColumns(table, found);
    insertRows(state, table, found.rows);
  }
  const extra = parsed.tables[expected.length];
  if (extra) throw new SnapshotError(extra.line, `table ${extra.name} is not part of schema ${parsed.schema}`);
}

function refuseOtherColumns(table: Table, found: TableText): void {
  const expected = table.columns.map((column) => column.name).join(', ');
  if (found.columns.join(', ') !== expected)
    throw new SnapshotError(found.line, `the columns of ${table.name} should be ${expected}`);
}

const rowsAtOnce = 16;

/** Many at a time; where one of them is wrong, one by one, so that the first wrong one is named. */
function insertRows(state: State, table: Table, rows: readonly RowText[]): void {
  const many = state.inserter(table.name, table.columns, rowsAtOnce);
  const one = state.inserter(table.name, table.columns, 1);
  for (let at = 0; at < rows.length; at += rowsAtOnce) {
    const part = rows.slice(at, at + rowsAtOnce);
    if (part.length < rowsAtOnce || !areInserted(many, table, part)) for (const row of part) insertRow(one, table, row);
  }
}

function areInserted(insert: (values: readonly Value[]) => void, table: Table, rows: readonly RowText[]): boolean {
  try {
    insert(rows.flatMap((row) => checkedRow(table, row)));
    return true;
  } catch {
    // Whatever it is, it comes again with the row alone, and is named there.
    return false;
  }
}

function insertRow(insert: (values: readonly Value[]) => void, table: Table, row: RowText): void {
  const checked = checkedRow(table, row);
  try {
    insert(checked);
  } catch (error) {
    const cause = messageOf(error);
    const reason = cause.startsWith('UNIQUE') ? 'its key stands twice' : `a value is not allowed (${cause})`;
    throw new SnapshotError(row.line, `${table.name}: ${reason}`, undefined, { cause: error });
  }
}

function checkedRow(table: Table, row: RowText): Value[] {
  const { line } = row;
  const values = valuesOf(row);
  if (values.length !== table.columns.length)
    throw new SnapshotError(line, `${table.name} has ${table.columns.length} columns, the row ${values.length} values`);
  return table.columns.map((column, index) => checkedValue(column, values[index], line));
}

function checkedValue(column: Column, value: unknown, line: number): Value {
  if (value === null && column.nullable) return null;
  if (column.type === 'TEXT' && typeof value === 'string') return value;
  if (column.type === 'INTEGER' && typeof value === 'number' && Number.isSafeInteger(value)) return value;
  const wanted = column.type === 'TEXT' ? 'a text' : 'an integer below 2^53';
  throw new SnapshotError(line, `${column.name} should be ${wanted}${column.nullable ? ' or null' : ''}`);
}
