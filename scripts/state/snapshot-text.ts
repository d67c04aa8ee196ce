import { isStorable } from './database.ts';
import { SnapshotError } from './errors.ts';

/** A table as its text gives it: nothing is known yet about columns or values. */
export interface TableText {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly RowText[];
  /** 1-based line of its opening. */
  readonly line: number;
}

/** In brackets, on one line; read when it is needed, so that a large state is not held twice. */
export interface RowText {
  readonly text: string;
  readonly line: number;
}

export interface SnapshotText {
  readonly schema: number;
  readonly tables: readonly TableText[];
  readonly lastLine: number;
}

export const snapshotFormat = 'ctm-state';

/**
 * Reads the layout: a head, then tables with a row a line. A byte order mark and CRLF are tolerated.
 * @throws SnapshotError for conflict markers, another format, and whatever breaks the layout.
 */
export function parseSnapshotText(text: string): SnapshotText {
  const lines = linesOf(text);
  const reader: Reader = { lines, at: 0 };
  const schema = readHead(reader);
  const tables: TableText[] = [];
  for (let more = true; more; ) {
    const { table, last } = readTable(reader);
    tables.push(table);
    more = !last;
  }
  if (next(reader) !== '}}') throw broken(reader, 'the closing }} is missing');
  if (reader.at < lines.length) {
    next(reader);
    throw broken(reader, 'something follows the closing }}');
  }
  return { schema, tables, lastLine: reader.at };
}

interface Reader {
  readonly lines: readonly string[];
  /** Lines read so far: the 1-based number of the last one. */
  at: number;
}

function linesOf(text: string): string[] {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  const lines = (plain.includes('\r') ? plain.replaceAll('\r\n', '\n') : plain).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

function readHead(reader: Reader): number {
  const head = /^\{"format":"([^"\\]{0,100})","schema":(\d{1,9}),"tables":\{$/.exec(next(reader));
  if (!head) throw broken(reader, 'this is not the head of a state snapshot');
  if (head[1] !== snapshotFormat) throw broken(reader, `the format is not ${snapshotFormat}`);
  return Number(head[2]);
}

function readTable(reader: Reader): { table: TableText; last: boolean } {
  const opening = /^"([a-z0-9_]{1,64})":\{"columns":(\[.*\]),"rows":\[$/.exec(next(reader));
  if (!opening) throw broken(reader, 'a table should start here');
  const line = reader.at;
  const columns = parseArray(opening[2] ?? '', line).map(String);
  const rows: RowText[] = [];
  for (let expectsRow = true; ; ) {
    const rowText = next(reader);
    if (rowText.startsWith(']}')) {
      if (expectsRow && rows.length > 0) throw broken(reader, 'a row should follow the comma of the line before');
      if (rowText !== ']}' && rowText !== ']},') throw broken(reader, 'a table should end here with ]} or ]},');
      return { table: { name: opening[1] ?? '', columns, rows, line }, last: rowText === ']}' };
    }
    if (!expectsRow) throw broken(reader, 'the line before ends without a comma');
    expectsRow = rowText.endsWith(',');
    const text = expectsRow ? rowText.slice(0, -1) : rowText;
    if (!text.startsWith('[') || !text.endsWith(']')) parseArray(text, reader.at);
    rows.push({ text, line: reader.at });
  }
}

function next(reader: Reader): string {
  const line = reader.lines[reader.at];
  reader.at += 1;
  if (line === undefined) throw new SnapshotError(reader.at, 'the text ends here, before its end');
  return line;
}

/** @throws SnapshotError for what is no JSON, or holds what the state cannot. */
export function valuesOf({ text, line }: RowText): readonly unknown[] {
  return parseArray(text, line);
}

function parseArray(text: string, line: number): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own words quote the row, which may hold what must not be shown.
    throw brokenLine(text, line, 'this is no valid JSON');
  }
  if (!Array.isArray(parsed)) throw brokenLine(text, line, 'this is no JSON array');
  if (text.includes('\\u') && parsed.some((value) => typeof value === 'string' && !isStorable(value)))
    throw brokenLine(text, line, 'a text holds NUL or half a surrogate pair, which the state cannot');
  return parsed;
}

function broken(reader: Reader, reason: string): SnapshotError {
  return brokenLine(reader.lines[reader.at - 1] ?? '', reader.at, reason);
}

function brokenLine(text: string, line: number, reason: string): SnapshotError {
  if (!/^(<{7}|={7}|>{7}|\|{7})/.test(text)) return new SnapshotError(line, reason);
  return new SnapshotError(
    line,
    'an unresolved merge conflict',
    'Take one side whole, never row by row: `git checkout --ours -- state.sqlite.json` or `--theirs`, the one with ' +
      'the later night; or `git checkout <last good> -- state.sqlite.json` (`git log --oneline -- state.sqlite.json`).',
  );
}
