import { createTokenizer, type Tokenizer } from './byte-pairs.ts';

/** A limit for `truncateMiddle`: tokens of o200k_base, or UTF-8 bytes. */
export type TextLimit = { readonly tokens: number } | { readonly bytes: number };

/**
 * Exact o200k_base tokens of a text; special tokens such as `<|endoftext|>` count as the text that they are. Runs
 * without a break are counted in pieces of 512 characters, because the tokenizer is quadratic in them: there the
 * count is too high by less than one token a piece.
 */
export function countTokens(text: string): number {
  const { count } = tokenizer();
  let tokens = 0;
  for (const piece of pieces(text)) tokens += count(piece);
  return tokens;
}

/**
 * An upper bound in practice (not by proof) that needs no tokenizer: 1.0 to 2.4 times the exact count on prose, code,
 * JSON, logs, base64, random words and Chinese; 0.84 for one endless random word.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let before = charClasses.indexOf('space');
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const now = code < classes.length ? (classes[code] ?? wide) : wide;
    tokens += now === wide ? wideTokens(code) : (steps[before * charClasses.length + now] ?? 0);
    before = now;
  }
  return Math.ceil(tokens);
}

/** Whether a text has at most `limit` tokens. Tokenises only where neither bytes nor the estimate can tell. */
export function fitsTokens(text: string, limit: number): boolean {
  return surelyFits(text, limit) ?? countTokens(text) <= limit;
}

/**
 * Keeps head and tail of a text that is over the limit, on character boundaries, around `…N tokens truncated…` (at
 * four bytes a token) or `…N bytes truncated…`. The marker counts: the result stays within the limit, unless the limit
 * has no room for the marker alone.
 */
export function truncateMiddle(text: string, limit: TextLimit): string {
  if ('tokens' in limit) return withinTokens(text, limit.tokens);
  return Buffer.byteLength(text) <= limit.bytes ? text : keepBytes(text, limit.bytes - markerBytes);
}

const charClasses = ['lower', 'upper', 'digit', 'punctuation', 'space', 'wide'] as const;
type CharClass = (typeof charClasses)[number];
const wide = charClasses.indexOf('wide');

const pieceLength = 512;
/** Characters of the longest token that o200k_base has. */
const longestToken = 128;
/** Characters a token that are looked at: text with longer tokens than that on average keeps less. */
const windowPerToken = 16;
/** Characters a token that most texts stay below. */
const usualPerToken = 6;
const markerTokens = 12;
const markerBytes = 40;

/** Tokens that each further character of a run adds: measured on random text of the class, rounded up. */
const moreOf = { lower: 0.44, upper: 0.53, digit: 0.34, punctuation: 0.7, space: 0.1 } as const;

/** Of each ASCII character its class, as a place in `charClasses`. */
const classes = Uint8Array.from({ length: 128 }, (_, code) => charClasses.indexOf(asciiClass(code)));

/** Tokens that a character adds, by the class before it and its own. */
const steps = Float64Array.from(
  charClasses.flatMap((before) =>
    charClasses.map((now) => (now === 'wide' ? 0 : now === before ? moreOf[now] : startOf(now, before))),
  ),
);

let loaded: Tokenizer | undefined;

function tokenizer(): Tokenizer {
  loaded ??= createTokenizer();
  return loaded;
}

function* pieces(text: string): Generator<string> {
  let from = 0;
  for (const run of text.matchAll(/\S{513,}|\s{513,}/g)) {
    const end = run.index + run[0].length;
    if (run.index > from) yield text.slice(from, run.index);
    for (from = run.index; from < end; ) {
      const cut = Math.min(end, onBoundary(text, from + pieceLength));
      yield text.slice(from, cut);
      from = cut;
    }
  }
  if (from < text.length) yield text.slice(from);
}

function asciiClass(code: number): CharClass {
  if (code >= 97 && code <= 122) return 'lower';
  if (code >= 65 && code <= 90) return 'upper';
  if (code >= 48 && code <= 57) return 'digit';
  return code === 32 || (code >= 9 && code <= 13) ? 'space' : 'punctuation';
}

/** A word takes the capital or the space before it into its first token; a number takes neither. */
function startOf(now: Exclude<CharClass, 'wide'>, before: CharClass): number {
  if (now === 'space') return before === 'space' ? 0.1 : 0.25;
  if (now === 'lower' && before === 'upper') return 0.44;
  return 1;
}

/** Of one UTF-16 unit. Emoji are three tokens at most, other pairs of surrogates four. */
function wideTokens(code: number): number {
  if (code < 0x800) return 0.8;
  if (code < 0x1000) return 0.9;
  if (code >= 0xd83c && code <= 0xd83e) return 1;
  if (code >= 0xd800 && code <= 0xdfff) return 2;
  if ((code >= 0x3040 && code <= 0x30ff) || (code >= 0x4e00 && code <= 0x9fff)) return 1.2;
  if (code >= 0xac00 && code <= 0xd7a3) return 1.5;
  return 2.4;
}

function keepBytes(text: string, budget: number): string {
  const half = Math.max(0, budget) / 2;
  return joined(text, headOfBytes(text, Math.ceil(half)), tailOfBytes(text, Math.floor(half)), 'bytes');
}

function headOfBytes(text: string, bytes: number): string {
  let end = 0;
  for (let used = 0; end < text.length; end += widthAt(text, end)) {
    used += bytesAt(text, end);
    if (used > bytes) break;
  }
  return text.slice(0, end);
}

function tailOfBytes(text: string, bytes: number): string {
  let start = text.length;
  for (let used = 0; start > 0; ) {
    const previous = onBoundary(text, start - 1);
    used += bytesAt(text, previous);
    if (used > bytes) break;
    start = previous;
  }
  return text.slice(start);
}

/** What bytes or the estimate tell; null where only counting can. */
function surelyFits(text: string, limit: number): boolean | null {
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return true;
  if (text.length > limit * longestToken) return false;
  return estimateTokens(text) <= limit ? true : null;
}

/** Tokenises as little as it can: counting and cutting want the same tokens, and of a long text only its two ends. */
function withinTokens(text: string, limit: number): string {
  const fits = surelyFits(text, limit);
  if (fits === true) return text;
  const half = Math.max(0, limit - markerTokens) / 2;
  const [head, tail] = [Math.ceil(half), Math.floor(half)];
  const reach = (head + markerTokens) * usualPerToken;
  if (text.length > 2 * reach) {
    const first = text.slice(0, onBoundary(text, reach));
    const last = text.slice(onBoundary(text, text.length - reach));
    const [start, end] = [encoded(first), encoded(last)];
    const isOver = start.length >= head + markerTokens && end.length >= tail + markerTokens;
    if (isOver) return joined(text, headOf(first, start, head), tailOf(last, end, tail), 'tokens');
  }
  if (fits === null && text.length <= limit * windowPerToken) {
    const tokens = encoded(text);
    if (tokens.length <= limit) return text;
    return joined(text, headOf(text, tokens, head), tailOf(text, tokens, tail), 'tokens');
  }
  if (fits === null && countTokens(text) <= limit) return text;
  const first = text.slice(0, onBoundary(text, head * windowPerToken));
  const last = text.slice(onBoundary(text, Math.max(0, text.length - tail * windowPerToken)));
  return joined(text, headOf(first, encoded(first), head), tailOf(last, encoded(last), tail), 'tokens');
}

function headOf(text: string, tokens: readonly number[], count: number): string {
  const kept = tokenizer().decode(tokens.slice(0, count));
  return text.slice(0, onBoundary(text, sharedPrefix(text, kept)));
}

function tailOf(text: string, tokens: readonly number[], count: number): string {
  if (count === 0) return '';
  const kept = tokenizer().decode(tokens.slice(-count));
  const start = text.length - sharedSuffix(text, kept);
  return text.slice(onBoundary(text, start) === start ? start : start + 1);
}

function encoded(text: string): number[] {
  const { encode } = tokenizer();
  return [...pieces(text)].flatMap(encode);
}

function sharedPrefix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length++;
  return length;
}

function sharedSuffix(a: string, b: string): number {
  let length = 0;
  while (length < a.length && length < b.length && a.at(-1 - length) === b.at(-1 - length)) length++;
  return length;
}

function joined(text: string, head: string, tail: string, unit: 'bytes' | 'tokens'): string {
  const removed = Buffer.byteLength(text) - Buffer.byteLength(head) - Buffer.byteLength(tail);
  return `${head}…${unit === 'bytes' ? removed : Math.ceil(removed / 4)} ${unit} truncated…${tail}`;
}

/** The index itself, or one less where it would split a surrogate pair. */
function onBoundary(text: string, index: number): number {
  return widthAt(text, index - 1) === 2 ? index - 1 : index;
}

/** 2 at the first half of a surrogate pair, else 1. */
function widthAt(text: string, index: number): 1 | 2 {
  return (text.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
}

function bytesAt(text: string, index: number): number {
  const code = text.codePointAt(index) ?? 0;
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}
