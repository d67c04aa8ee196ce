import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as Splitting from 'gpt-tokenizer/encodingParams/constants';

/** A tokenizer that knows no special tokens: all of a text is text. */
export interface Tokenizer {
  count(text: string): number;
  /** Ranks. */
  encode(text: string): number[];
  /** Half a character at either end becomes U+FFFD. */
  decode(ranks: readonly number[]): string;
}

/**
 * o200k_base over the package's vocabulary, as tables of bytes. The package makes a map of strings of it, which takes
 * some 70 MB and a third of a second: one long output of a tool in a night is enough to need it.
 */
export function createTokenizer(): Tokenizer {
  const require = createRequire(import.meta.url);
  const { O200K_TOKEN_SPLIT_REGEX } = require('gpt-tokenizer/encodingParams/constants') as typeof Splitting;
  const vocabulary = vocabularyOf(readFileSync(require.resolve('gpt-tokenizer/data/o200k_base.tiktoken')));
  // Every character belongs to a piece, so that each begins where the one before it ended.
  const piece = new RegExp(O200K_TOKEN_SPLIT_REGEX.source, 'uy');
  const encode = (text: string): number[] => {
    const ranks: number[] = [];
    let bytes = Buffer.alloc(4_096);
    piece.lastIndex = 0;
    for (let from = 0; piece.test(text); from = piece.lastIndex) {
      const most = 3 * (piece.lastIndex - from);
      if (most > bytes.length) bytes = Buffer.alloc(most);
      addRanks(bytes, write(text, from, piece.lastIndex, bytes), vocabulary, ranks);
    }
    return ranks;
  };
  return {
    count: (text) => encode(text).length,
    encode,
    decode: (ranks) =>
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(ranks.map(vocabulary.tokenOf))),
  };
}

interface Vocabulary {
  /** The token that a part of the bytes is; `none` where it is not one. */
  rankOf(bytes: Uint8Array, start: number, end: number): number;
  tokenOf(rank: number): Uint8Array;
}

/** Above every rank. */
const none = 0x7fffffff;

/** A power of two, more than twice as many as there are tokens. */
const slotCount = 1 << 19;

/** @param file a line a token, by ascending rank from 0: its bytes in base64, a space, its rank. */
function vocabularyOf(file: Buffer): Vocabulary {
  const all = new Uint8Array(file.length);
  /** Of rank n from the n-th on. */
  const bounds = new Uint32Array(slotCount);
  const slots = new Int32Array(slotCount).fill(none);
  let [count, to] = [0, 0];
  for (let at = 0; at < file.length; at += 1) {
    const start = to;
    for (; file[at] !== space; at += 4) {
      const bits =
        (sixAt(file, at) << 18) | (sixAt(file, at + 1) << 12) | (sixAt(file, at + 2) << 6) | sixAt(file, at + 3);
      all[to] = bits >> 16;
      all[to + 1] = bits >> 8;
      all[to + 2] = bits;
      to += 3;
    }
    if (file[at - 1] === padding) to -= file[at - 2] === padding ? 2 : 1;
    while (at < file.length && file[at] !== newline) at += 1;
    count += 1;
    bounds[count] = to;
    // As in the package, which cuts a byte order mark off what it looks for.
    if (startsWithMark(all, start)) continue;
    let slot = slotOf(all, start, to);
    while (slots[slot] !== none) slot = (slot + 1) % slotCount;
    slots[slot] = count - 1;
  }
  return {
    rankOf(bytes, start, end) {
      for (let slot = slotOf(bytes, start, end); ; slot = (slot + 1) % slotCount) {
        const found = slots[slot] ?? none;
        if (found === none) return none;
        const from = bounds[found] ?? 0;
        if ((bounds[found + 1] ?? 0) - from === end - start && isSame(all, from, bytes, start, end)) return found;
      }
    },
    tokenOf: (rank) => all.subarray(bounds[rank], bounds[rank + 1]),
  };
}

const [space, newline, padding] = [0x20, 0x0a, 0x3d];

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Of every character of base64; of any other, which only fills it up, 0. */
const sixBits = Uint8Array.from({ length: 0x80 }, (_, code) => Math.max(0, base64.indexOf(String.fromCharCode(code))));

function sixAt(file: Uint8Array, at: number): number {
  return sixBits[file[at] ?? 0] ?? 0;
}

function startsWithMark(bytes: Uint8Array, start: number): boolean {
  return bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf;
}

function slotOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return (hash ^ (hash >>> 15)) & (slotCount - 1);
}

function isSame(all: Uint8Array, from: number, bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (all[from + at - start] !== bytes[at]) return false;
  return true;
}

/** Most pieces are a word, and most words ASCII: those are copied here, which spares a call each. @returns bytes */
function write(text: string, from: number, end: number, to: Buffer): number {
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code >= 0x80) return to.write(text.slice(from, end));
    to[at - from] = code;
  }
  return end - from;
}

/** Of a piece that is no token, the two neighbours are joined that make the token of the lowest rank, until none do. */
function addRanks(bytes: Uint8Array, length: number, { rankOf }: Vocabulary, ranks: number[]): void {
  const whole = rankOf(bytes, 0, length);
  if (whole !== none) {
    ranks.push(whole);
    return;
  }
  let parts = length;
  /** Where each part begins, and at last the end. */
  const bounds = new Int32Array(parts + 1);
  /** Of each part with its successor: the last has none. */
  const pairs = new Int32Array(parts);
  for (let at = 0; at < parts; at += 1) {
    bounds[at + 1] = at + 1;
    pairs[at] = at + 2 > parts ? none : rankOf(bytes, at, at + 2);
  }
  for (;;) {
    let lowest = none;
    let at = -1;
    for (let part = 0; part < parts; part += 1) {
      const rank = pairs[part] ?? none;
      if (rank >= lowest) continue;
      lowest = rank;
      at = part;
    }
    if (at === -1) break;
    bounds.copyWithin(at + 1, at + 2, parts + 1);
    pairs.copyWithin(at + 1, at + 2, parts);
    parts -= 1;
    for (let part = Math.max(0, at - 1); part <= at; part += 1)
      pairs[part] = part + 2 > parts ? none : rankOf(bytes, bounds[part] ?? 0, bounds[part + 2] ?? 0);
  }
  for (let part = 0; part < parts; part += 1) ranks.push(rankOf(bytes, bounds[part] ?? 0, bounds[part + 1] ?? 0));
}
