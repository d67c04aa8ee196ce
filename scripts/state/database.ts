import type initSqlJs from 'sql.js';

/** What a column holds: a safe integer, a text, or nothing. */
export type Value = string | number | null;

/** Column name → value. */
export type Row = Readonly<Record<string, Value>>;

/** Values of the placeholders `:name`, by name without the colon; `inBytes` where the statement casts them. */
export type Bound = Readonly<Record<string, Value | Uint8Array>>;

export interface ColumnType {
  readonly name: string;
  readonly type: 'TEXT' | 'INTEGER';
}

/** An empty database in memory. The library is loaded once a process, from its package, without network. */
export async function openDatabase(): Promise<State> {
  library ??= import('sql.js').then(({ default: initialise }) => initialise(options));
  const sqlite = await library;
  const database = new sqlite.Database();
  database.run(settings);
  return new State(database);
}

/** The bookkeeping of one repository, in memory: what the tables' functions work on. Not safe across workers. */
export class State {
  readonly #database: initSqlJs.Database;
  readonly #prepared = new Map<string, Prepared>();
  readonly #writes = new Map<string, number>();
  #depth = 0;
  #resets = 0;

  constructor(database: initSqlJs.Database) {
    this.#database = database;
  }

  /** A larger one after all that may have changed a row of the table: what was reckoned from its rows holds until then. */
  versionOf(table: string): number {
    return this.#resets + (this.#writes.get(table) ?? 0);
  }

  /** Runs one statement. @returns rows inserted, updated or deleted. */
  run(sql: string, bound: Bound = {}): number {
    const { statement, names, writesTo } = this.#prepare(sql);
    this.#wrote(writesTo);
    try {
      statement.bind(valuesOf(names, bound));
      statement.step();
    } finally {
      statement.reset();
    }
    return this.#database.getRowsModified();
  }

  /**
   * One statement for as many rows as there are, each as long as the first: what is bound and stepped once costs little.
   * @param into `insert into <table> (<columns>)`
   */
  runAll(into: string, rows: readonly (readonly Value[])[]): number {
    const columns = (rows[0] ?? []).map((_, index) => `value ->> ${index}`).join(', ');
    const values = Buffer.from(JSON.stringify(rows.map((row) => row.map(storable))));
    return this.run(`${into} select ${columns} from json_each(cast(:values as text))`, { values });
  }

  all(sql: string, bound: Bound = {}): Row[] {
    const { statement, names, columns, blank } = this.#prepare(sql);
    try {
      statement.bind(valuesOf(names, bound));
      const rows: Row[] = [];
      while (statement.step()) rows.push(filled(blank, columns, statement.get()));
      return rows;
    } finally {
      statement.reset();
    }
  }

  first(sql: string, bound: Bound = {}): Row | null {
    return this.all(sql, bound)[0] ?? null;
  }

  /** Statements without placeholders, separated by `;`. */
  script(sql: string): void {
    this.#resets += 1;
    this.#database.exec(sql);
  }

  /** All of `work` or nothing: what throws undoes it. One inside another is part of the outer one. */
  transaction<T>(work: () => T): T {
    if (this.#depth > 0) return work();
    this.#database.run('savepoint work');
    this.#depth += 1;
    try {
      const result = work();
      this.#database.run('release work');
      return result;
    } catch (error) {
      this.#resets += 1;
      this.#database.run('rollback to work; release work');
      throw error;
    } finally {
      this.#depth -= 1;
    }
  }

  /**
   * Inserts `atOnce` rows at a time, all of them or none, given as their values one after the other. Fast: one statement
   * for many, and texts of some length are bound as bytes, which spares the library's copy by character.
   */
  inserter(table: string, columns: readonly ColumnType[], atOnce: number): (values: readonly Value[]) => void {
    const places = `(${columns.map((column) => (column.type === 'TEXT' ? 'cast(? as text)' : '?')).join(', ')})`;
    const names = columns.map((column) => column.name).join(', ');
    const rows = new Array<string>(atOnce).fill(places).join(', ');
    const { statement } = this.#prepare(`insert into ${table} (${names}) values ${rows}`);
    return (values) => {
      this.#wrote(table);
      try {
        statement.bind(values.map(bytesOfLong));
        statement.step();
      } finally {
        statement.reset();
      }
    };
  }

  /**
   * Runs one statement that cannot write (`PRAGMA query_only`) and stops after `limit` rows.
   * @returns `rest`: the text after the statement, which was not run.
   */
  readOnly(sql: string, limit: number): { columns: string[]; rows: Value[][]; truncated: boolean; rest: string } {
    this.#database.run('pragma query_only = on');
    try {
      const statements = this.#database.iterateStatements(sql);
      const next = statements.next();
      if (next.done) return { columns: [], rows: [], truncated: false, rest: '' };
      try {
        const rows: Value[][] = [];
        let more = next.value.step();
        while (more && rows.length < limit) {
          rows.push(next.value.get().map(plain));
          more = next.value.step();
        }
        return { columns: next.value.getColumnNames(), rows, truncated: more, rest: statements.getRemainingSQL() };
      } finally {
        next.value.free();
      }
    } finally {
      this.#database.run('pragma query_only = off');
    }
  }

  /** Frees the memory; the state cannot be used afterwards. */
  close(): void {
    for (const { statement } of this.#prepared.values()) statement.free();
    this.#prepared.clear();
    this.#database.close();
  }

  #wrote(table: string | null): void {
    if (table === null) this.#resets += 1;
    else this.#writes.set(table, (this.#writes.get(table) ?? 0) + 1);
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    const columns = statement.getColumnNames();
    const prepared = { statement, names: namesIn(sql), writesTo: tableWritten(sql), columns, blank: blankRow(columns) };
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

interface Prepared {
  readonly statement: initSqlJs.Statement;
  /** Of its placeholders, in SQLite's order: by place is how the library binds fast. */
  readonly names: readonly string[];
  /** The table, where it is one of a statement that writes. */
  readonly writesTo: string | null;
  readonly columns: readonly string[];
  readonly blank: Row;
}

/** SQLite's texts end at NUL and hold no lone surrogate. */
export function isStorable(text: string): boolean {
  return !unstorable.test(text);
}

let library: Promise<initSqlJs.SqlJsStatic> | undefined;

/**
 * The library keeps its database in a file that it emulates. Nothing of it outlives the process, so all is one transaction
 * that is never committed, and its pages stay in SQLite's own memory: none is copied into that file, or read from it.
 */
const settings = `pragma journal_mode = memory; pragma synchronous = off; pragma locking_mode = exclusive;
  pragma cache_size = -2000000; pragma cache_spill = off; begin`;

/** Without it the library prints a line about its old extension functions. */
const options: object = { useOldExtensionFunctions: false };

/** From here on a copy of bytes is faster. */
const longText = 24;

/** Each once, as it first occurs outside texts. */
function namesIn(sql: string): string[] {
  const found = sql.replace(/'[^']*'/g, "''").matchAll(/:([a-z_]\w*)/gi);
  return [...new Set([...found].map((match) => match[1] ?? ''))];
}

function tableWritten(sql: string): string | null {
  return /^\s*(?:insert(?: or \w+)? into|update(?: or \w+)?|delete from) (\w+)/.exec(sql)?.[1] ?? null;
}

function valuesOf(names: readonly string[], bound: Bound): (Value | Uint8Array)[] {
  return names.map((name) => {
    const value = bound[name] ?? null;
    return value instanceof Uint8Array ? value : storable(value);
  });
}

/**
 * A long text for a placeholder `cast(:name as text)`: the library copies texts by character, which takes several times
 * as long as a copy of bytes.
 */
export function inBytes(text: string): Uint8Array {
  return Buffer.from(text.replace(everyUnstorable, '\ufffd'));
}

const unstorable = /[\0\p{Surrogate}]/u;
const everyUnstorable = /[\0\p{Surrogate}]/gu;

/** What SQLite cannot hold becomes U+FFFD. */
function storable(value: Value): Value {
  if (typeof value === 'string') return value.replace(everyUnstorable, '\ufffd');
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new RangeError(`No safe integer: ${value}`);
  return value;
}

function bytesOfLong(value: Value): Value | Uint8Array {
  return typeof value === 'string' && value.length > longText ? Buffer.from(value) : value;
}

/** A row of nothing: its copies share one shape, where rows that grow name by name take several times the memory. */
function blankRow(columns: readonly string[]): Row {
  return JSON.parse(JSON.stringify(Object.fromEntries(columns.map((name) => [name, null]))));
}

function filled(blank: Row, columns: readonly string[], values: readonly initSqlJs.SqlValue[]): Row {
  const row: Record<string, Value> = { ...blank };
  for (const [place, name] of columns.entries()) row[name] = plain(values[place] ?? null);
  return row;
}

/** No table holds bytes; an expression of a person's query may, and is shown in hexadecimal. */
function plain(value: initSqlJs.SqlValue): Value {
  return value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value;
}
