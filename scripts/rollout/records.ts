import { isUtf8 } from 'node:buffer';
import { parsedJson } from '../shared/json.ts';
import { type Fields, isFields } from './fields.ts';

export interface Records {
  /** Every whole JSON object on the line. */
  readonly records: readonly Fields[];
  /** Something on the line was no JSON object. */
  readonly bad: boolean;
  /** Some bytes were no UTF-8 and became U+FFFD. */
  readonly badText: boolean;
}

/**
 * The JSON objects of one line. Agents that die or write at the same time leave two on one line, or half of one before
 * a whole one: whatever is whole is kept.
 */
export function recordsOf(line: Buffer): Records {
  const text = line.toString('utf8');
  const badText = !isUtf8(line);
  const whole = parsedJson(text);
  if (whole !== undefined) return { records: isFields(whole) ? [whole] : [], bad: !isFields(whole), badText };
  return { ...salvaged(text), badText };
}

/** Where a record can start: its first key is one of these in every known version. */
const starts = [
  '{"timestamp":',
  '{"parentUuid":',
  '{"type":"',
  '{"id":"',
  '{"isSidechain":',
  '{"sessionId":"',
  '{"$set":',
];
const maxStarts = 16;

function salvaged(text: string): { records: Fields[]; bad: boolean } {
  const series = objectsFrom(text, 0);
  if (series.brokenAt === null) return { records: series.objects, bad: false };
  for (const start of laterStarts(text, series.brokenAt)) {
    const rest = objectsFrom(text, start);
    if (rest.brokenAt === null && rest.objects.length > 0)
      return { records: [...series.objects, ...rest.objects], bad: true };
  }
  return { records: series.objects, bad: true };
}

function laterStarts(text: string, brokenAt: number): number[] {
  const found = new Set<number>();
  for (const start of starts)
    for (let at = text.indexOf(start, brokenAt + 1); at !== -1; at = text.indexOf(start, at + 1)) {
      found.add(at);
      if (found.size >= maxStarts * starts.length) break;
    }
  return [...found].sort((a, b) => a - b).slice(0, maxStarts);
}

/** The objects that follow each other from `start`; `brokenAt` is where something else begins. */
export function objectsFrom(
  text: string,
  start: number,
  separator = '',
): { objects: Fields[]; brokenAt: number | null } {
  const objects: Fields[] = [];
  let at = pastSpace(text, start, separator);
  while (at < text.length) {
    const end = objectEnd(text, at);
    const value = end === null ? undefined : parsedJson(text.slice(at, end));
    if (end === null || !isFields(value)) return { objects, brokenAt: at };
    objects.push(value);
    at = pastSpace(text, end, separator);
  }
  return { objects, brokenAt: null };
}

function pastSpace(text: string, from: number, separator: string): number {
  let at = from;
  while (at < text.length && (text.charCodeAt(at) <= 0x20 || text[at] === separator)) at += 1;
  return at;
}

/** The index after the brace that closes the object at `start`, or null. */
function objectEnd(text: string, start: number): number | null {
  if (text[start] !== '{') return null;
  let depth = 0;
  let inText = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inText = false;
    } else if (code === 0x22) inText = true;
    else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}
