import { wordsOf } from './words.ts';

/** Finds texts that say nearly the same as another one. */
export interface NearMatches {
  /** The places, in the list that was indexed, of texts that share at least that many of their words with this one. */
  of(text: string): number[];
}

/** What says nearly the same. */
const share = 0.6;
/** A word in more texts than this tells nothing apart; looking at it would make a hostile file slow. */
const commonest = 200;
const candidates = 20;

/**
 * Indexes normalised texts by their words; of a run of Chinese, Japanese or Korean by its pairs of characters.
 * @param least words two texts must share, of all words that either has.
 */
export function indexTexts(texts: readonly string[], least = share): NearMatches {
  const words = texts.map(wordsOf);
  const places = new Map<string, number[]>();
  for (const [index, set] of words.entries()) {
    for (const word of set) {
      const list = places.get(word);
      if (list === undefined) places.set(word, [index]);
      else if (list.length <= commonest) list.push(index);
    }
  }
  return {
    of: (text) => {
      const wanted = wordsOf(text);
      const counts = new Map<number, number>();
      for (const word of wanted) {
        const list = places.get(word) ?? [];
        if (list.length > commonest) continue;
        for (const index of list) counts.set(index, (counts.get(index) ?? 0) + 1);
      }
      return [...counts]
        .sort(([a, countA], [b, countB]) => countB - countA || a - b)
        .slice(0, candidates)
        .filter(([index]) => similarity(wanted, words[index] ?? new Set()) >= least)
        .map(([index]) => index);
    },
  };
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  const all = a.size + b.size - both;
  return all === 0 ? 0 : both / all;
}
