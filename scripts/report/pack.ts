import { gzipSync } from 'node:zlib';
import { htmlJson } from '../shared/escape.ts';
import type { WireWords } from './wire.ts';

export interface Packed {
  /** Gzip of the JSON, as base64: no character of it means anything to HTML. */
  readonly text: string;
  /** Characters that an item, and a summary, may have had. */
  readonly limits: Limits;
  /** Whether any text was cut. */
  readonly isCut: boolean;
}

export interface Limits {
  readonly item: number;
  readonly summary: number;
}

/** The words of all sessions, as long as they fit: where they are too many, every text is cut shorter. */
export function packWords(words: readonly WireWords[], most = mostCharacters): Packed {
  for (const limits of steps) {
    const packed = packed64(words, limits);
    if (packed.text.length <= most || limits === steps.at(-1)) return packed;
  }
  throw new RangeError('There is always a last step.');
}

/** A page has to stay below 3 MB; its lines and sessions take up to 1 MB for two thousand memories. */
const mostCharacters = 1_400_000;

const steps: readonly Limits[] = [
  { item: 6_000, summary: 10_000 },
  { item: 2_000, summary: 4_000 },
  { item: 800, summary: 1_500 },
  { item: 300, summary: 500 },
  { item: 120, summary: 0 },
];

function packed64(words: readonly WireWords[], limits: Limits): Packed {
  let isCut = false;
  const cut = (text: string, most: number): string => {
    if (text.length <= most) return text;
    isCut = true;
    return most === 0 ? '' : `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')} …`;
  };
  const short = words.map(({ items, summary }) => ({
    items: items.map((item) => ({ ...item, text: cut(item.text, limits.item) })),
    summary: cut(summary, limits.summary),
  }));
  const text = gzipSync(htmlJson(short), { level: 9 }).toString('base64');
  return { text, limits, isCut };
}
