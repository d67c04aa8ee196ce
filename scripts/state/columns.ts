import type { Row, Value } from './database.ts';

/** The column's text. @throws TypeError when the query does not give one: a mistake in this folder's SQL. */
export function text(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') throw wrong(column, 'a text', value);
  return value;
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column);
}

export function integer(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw wrong(column, 'an integer', value);
  return value;
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column);
}

/** The column's text as one of the given words, which a CHECK of the table holds it to. */
export function oneOf<T extends string>(row: Row, column: string, words: readonly T[]): T {
  const value = text(row, column);
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) throw wrong(column, `one of ${words.join(', ')}`, value);
  return word;
}

function wrong(column: string, expected: string, value: Value | undefined): TypeError {
  return new TypeError(`Column ${column} should hold ${expected}, not ${value === null ? 'null' : typeof value}.`);
}
