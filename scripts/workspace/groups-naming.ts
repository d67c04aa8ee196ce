import { indexOfByte, lineFeed } from '../shared/bytes.ts';
import { blockSources, groupMark } from './handbook.ts';
import type { Scope } from './layout.ts';

/** A task group as it stands in the handbook: UTF-8; `line` is its heading's, from 1. */
export interface GroupBytes {
  readonly bytes: Buffer;
  readonly line: number;
}

/** A search for task groups in a handbook that comes piece by piece, in memory that may be used again. */
export interface GroupSearch {
  /** Those found so far, in order. They may speak for one of the scopes: `scopeOf` has the last word. */
  readonly found: readonly GroupBytes[];
  /**
   * @param bytes UTF-8, the first without a byte order mark; in front what the last call did not use.
   * @param isLast nothing comes behind them.
   * @returns how many of them were used: up to the last task group, which may go on in the next piece.
   */
  search(bytes: Buffer, isLast: boolean): number;
}

/**
 * The rest of the handbook never becomes text, and is looked at closer only where a name stands: a session's start waits
 * for it.
 */
export function groupSearch(scopes: readonly Scope[]): GroupSearch {
  const names = scopes.map((scope) => Buffer.from(scope, 'utf8'));
  const found: GroupBytes[] = [];
  let line = 1;
  return {
    found,
    search(bytes, isLast) {
      const used = isLast ? bytes.length : bytes.lastIndexOf(groupStart) + 1;
      const whole = bytes.subarray(0, used);
      const headers = names.map((name) => headerNaming(whole, name, 0));
      let counted = 0;
      for (let at = Math.min(...headers); at < used; at = Math.min(...headers)) {
        const start = whole.lastIndexOf(groupStart, at) + 1;
        const next = whole.indexOf(groupStart, at);
        const end = next === -1 ? used : next + 1;
        line += lineFeedsIn(whole, counted, start);
        counted = start;
        if (whole.toString('latin1', start, start + groupMark.length) === groupMark)
          found.push({ bytes: firstBlock(whole.subarray(start, end)), line });
        names.forEach((name, index) => {
          if ((headers[index] ?? 0) < end) headers[index] = headerNaming(whole, name, end);
        });
      }
      if (!isLast) line += lineFeedsIn(whole, counted, used);
      return used;
    },
  };
}

const groupStart = Buffer.from(`\n${groupMark}`);
const [tab, verticalTab, formFeed, carriageReturn, blank, equals, semicolon] = [9, 11, 12, 13, 32, 61, 59];

/** Where a name stands in an `applies_to:` line, as its only one; the handbook's length where it does in none. */
function headerNaming(handbook: Buffer, name: Buffer, from: number): number {
  for (let at = find(handbook, name, from); at !== -1; at = find(handbook, name, at + 1))
    if (isNamedAt(handbook, at, at + name.length)) return at;
  return handbook.length;
}

/** `*` stands in many places. */
function find(bytes: Buffer, wanted: Buffer, from: number): number {
  const [first] = wanted;
  return wanted.length === 1 && first !== undefined ? indexOfByte(bytes, first, from) : bytes.indexOf(wanted, from);
}

function isNamedAt(bytes: Buffer, start: number, end: number): boolean {
  let before = start;
  while (isSpace(bytes[before - 1])) before -= 1;
  if (bytes[before - 1] !== equals || bytes.toString('latin1', before - 5, before) !== 'repo=') return false;
  before -= 5;
  while (bytes[before - 1] === blank || bytes[before - 1] === tab) before -= 1;
  if (bytes.toString('latin1', Math.max(0, before - 12), before) !== '\napplies_to:') return false;
  let after = end;
  while (isSpace(bytes[after])) after += 1;
  return isEnd(bytes[after]);
}

function isEnd(byte: number | undefined): boolean {
  return byte === undefined || byte === semicolon || byte === lineFeed || byte === carriageReturn;
}

/** Around a name may be space of any kind, which beyond ASCII has several bytes. */
function isSpace(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return byte === blank || byte === tab || byte === verticalTab || byte === formFeed || byte >= 0x80;
}

function lineFeedsIn(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = indexOfByte(bytes, lineFeed, from); at !== -1 && at < to; at = indexOfByte(bytes, lineFeed, at + 1))
    count += 1;
  return count;
}

/** A copy. Behind a task group may stand a person's own sections. */
function firstBlock(group: Buffer): Buffer {
  if (!group.includes('\n# ') && !group.includes('\n#\t')) return Buffer.from(group);
  const [first] = blockSources(group.toString('utf8'));
  return Buffer.from(first?.raw ?? '', 'utf8');
}
