import { safeThreadId, shortThreadId } from '../shared/thread-id.ts';

/** A place in a memory file that an answer rests on. */
export interface CitedPlace {
  /** Relative to `memories/`, as written. */
  readonly path: string;
  /** From 1; both included. */
  readonly lineStart: number;
  readonly lineEnd: number;
  readonly note: string;
}

/** What an answer says it rests on. */
export interface Citation {
  readonly places: readonly CitedPlace[];
  /** Short thread ids in the order of first mention, each once. They may name nothing that exists. */
  readonly ids: readonly string[];
}

/** Of one answer; what comes after has no effect. */
export const maxCitedIds = 500;
const maxPlaces = 500;

/**
 * The citation that ends an answer: its last block, where nothing but white space follows. One that is shown instead of
 * made (in a code fence, in backticks, behind a quote mark, with words after it) is none. A block that the end of a
 * stream cut is read as far as it came.
 * @returns null where there is none, and where nothing in it can be read.
 * @source spec §8.4
 */
export function citationOf(answer: string): Citation | null {
  const block = lastBlock(answer);
  if (block === null || answer.slice(block.end).trim() !== '' || isShown(answer.slice(0, block.start))) return null;
  const places = placesIn(block.body);
  const ids = idsIn(block.body);
  return places.length === 0 && ids.length === 0 ? null : { places, ids };
}

const open = '<oai-mem-citation>';
const close = '</oai-mem-citation>';

interface Block {
  readonly start: number;
  readonly end: number;
  readonly body: string;
}

/** Blocks do not nest: an opening inside one is a part of its body. */
function lastBlock(answer: string): Block | null {
  let last: Block | null = null;
  for (let start = answer.indexOf(open); start !== -1; start = answer.indexOf(open, last.end)) {
    const from = start + open.length;
    const closed = answer.indexOf(close, from);
    const end = closed === -1 ? answer.length : closed + close.length;
    last = { start, end, body: answer.slice(from, closed === -1 ? answer.length : closed) };
  }
  return last;
}

function isShown(before: string): boolean {
  const lines = before.split('\n');
  const own = lines.pop() ?? '';
  if (/^\s{0,3}>/.test(own) || (own.split('`').length - 1) % 2 === 1 || /^(?: {4}|\t)/.test(own)) return true;
  let fence: string | null = null;
  for (const line of lines) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark === undefined) continue;
    if (fence === null) fence = mark;
    else if (mark.startsWith(fence)) fence = null;
  }
  return fence !== null;
}

function placesIn(body: string): CitedPlace[] {
  const found: CitedPlace[] = [];
  for (const line of inside(body, 'citation_entries').join('\n').split('\n')) {
    const place = placeOf(line.trim());
    if (place !== null && found.length < maxPlaces) found.push(place);
  }
  return found;
}

/** `<path>:<start>-<end>|note=[<note>]` */
function placeOf(line: string): CitedPlace | null {
  const noteAt = line.lastIndexOf(noteMark);
  if (noteAt === -1 || !line.endsWith(']')) return null;
  const location = line.slice(0, noteAt);
  const colon = location.lastIndexOf(':');
  if (colon < 1) return null;
  const range = location.slice(colon + 1);
  const dash = range.indexOf('-');
  const lineStart = lineNumber(range.slice(0, Math.max(0, dash)));
  const lineEnd = lineNumber(range.slice(dash + 1));
  if (lineStart === null || lineEnd === null) return null;
  return { path: location.slice(0, colon), lineStart, lineEnd, note: line.slice(noteAt + noteMark.length, -1) };
}

const noteMark = '|note=[';
/** 2³² − 1: what the field's own parser holds. */
const maxLine = 4_294_967_295;

function lineNumber(digits: string): number | null {
  if (!/^\+?[0-9]{1,20}$/.test(digits)) return null;
  const value = Number(digits);
  return value <= maxLine ? value : null;
}

/** Full ids, short ids, and a handbook's evidence; `<thread_ids>` is how older versions wrote it. */
function idsIn(body: string): string[] {
  const lists = [...inside(body, 'rollout_ids'), ...inside(body, 'thread_ids')].join('\n');
  const plain = lists.replace(/\[([a-z2-7]{8})@[0-9:., ]{1,400}\]/g, ' $1 ');
  const ids = new Set<string>();
  for (const word of plain.split(/[\s,]+/)) {
    const id = word.replace(/^[-*[`"']+|[\]`"']+$/g, '');
    if (id === '' || id.length > 200) continue;
    if (ids.size === maxCitedIds) break;
    ids.add(/^[a-z2-7]{8}$/.test(id) ? id : shortThreadId(safeThreadId(id)));
  }
  return [...ids];
}

/** The texts between a tag's ends, up to the next tag or the end where it is not closed. */
function inside(body: string, tag: string): string[] {
  const opening = `<${tag}>`;
  const found: string[] = [];
  for (let at = body.indexOf(opening); at !== -1; at = body.indexOf(opening, at)) {
    at += opening.length;
    const next = nextTag(body, at);
    found.push(body.slice(at, next));
    at = next;
  }
  return found;
}

function nextTag(body: string, from: number): number {
  const tag = /<\/?(?:citation_entries|rollout_ids|thread_ids)>/g;
  tag.lastIndex = from;
  return tag.exec(body)?.index ?? body.length;
}
