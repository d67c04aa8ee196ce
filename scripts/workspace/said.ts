import type { ItemNumber } from '../shared/evidence.ts';
import { type Language, languageOf } from '../shared/hedges.ts';
import { once } from '../shared/once.ts';
import { fold } from './quotes.ts';
import type { ItemFact } from './violation.ts';
import { contentWords, placesIn, type WordPlaces } from './words.ts';

/** What somebody said or did in a session, as far as a line's evidence is compared with it. A rollout's item is one. */
export interface Said {
  readonly n: ItemNumber;
  readonly who: ItemFact['who'];
  readonly kind: 'text' | 'call' | 'output';
  readonly text: string;
  /** What a call or its output does: `web` and `mcp` bring in what others wrote. */
  readonly does?: string;
  /** Files that an edit names. */
  readonly files?: readonly string[];
}

/** A piece of a session; what it is compared by is made once, when it is needed. */
export interface Heard {
  readonly said: Said;
  /** Its text and files as quotations are compared with them. */
  folded(): string;
  /** The content words of `folded`. */
  words(): ReadonlySet<string>;
  /** The language of its text. */
  language(): Language;
  /** Where each word of its text stands. */
  places(): WordPlaces;
  /** Of its text's first 8,000 characters; empty ones are left out. */
  sentences(): readonly Sentence[];
  /** All its sentences in a row, as quotations are compared with them. */
  foldedSentences(): string;
}

export interface Sentence {
  readonly text: string;
  /** As quotations are compared with it. */
  folded(): string;
  /** Its content words. */
  words(): ReadonlySet<string>;
}

/** What is at hand of one session. */
export interface Session {
  /** `items`: the rollout itself. `extract`: what phase 1 wrote of it, which is all that consolidation was given. */
  readonly basis: 'items' | 'extract';
  /** What is known of an item's words; empty where nothing is. */
  at(n: ItemNumber): readonly Heard[];
  readonly all: readonly Heard[];
}

/** The session as its rollout has it. An item is taken apart when it is first looked at: few lines cite most of them. */
export function sessionOfItems(items: readonly Said[]): Session {
  const places = new Map<ItemNumber, Said>();
  for (const said of items) places.set(said.n, said);
  const heard = new Map<Said, Heard>();
  const heardFrom = (said: Said): Heard => {
    const one = heard.get(said) ?? heardOf(said);
    heard.set(said, one);
    return one;
  };
  const all = once(() => items.map(heardFrom));
  return {
    basis: 'items',
    at(n) {
      const said = places.get(n);
      return said === undefined ? [] : [heardFrom(said)];
    },
    get all() {
      return all();
    },
  };
}

const local = /\(@((?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?(?:, ?(?:\d{1,6}:)?\d{1,9}(?:\.\d{1,6})?){0,99})\)/g;

/**
 * The session as phase 1 told it: what stands in a line with the items that it cites is what is known of each of them.
 * @param whoOf who said an item; null for one that nobody knows.
 */
export function sessionOfExtract(texts: readonly string[], whoOf: (n: ItemNumber) => Said['who'] | null): Session {
  const places = new Map<ItemNumber, Heard[]>();
  const all: Heard[] = [];
  for (const line of new Set(texts.flatMap((text) => text.split('\n')))) {
    const numbers = [...line.matchAll(local)].flatMap((match) => (match[1] ?? '').split(',').map((n) => n.trim()));
    const text = line.replace(local, '').replace(/^\s{0,40}[-*]\s+/, '');
    const lone = heardOf({ n: '', who: 'commentary', kind: 'text', text });
    if (numbers.length === 0 && text.trim() !== '') all.push(lone);
    for (const n of new Set(numbers)) {
      const who = whoOf(n);
      if (who === null) continue;
      const heard = { ...lone, said: { ...lone.said, n, who } };
      all.push(heard);
      places.set(n, [...(places.get(n) ?? []), heard]);
    }
  }
  return { basis: 'extract', at: (n) => places.get(n) ?? [], all };
}

function heardOf(said: Said): Heard {
  const sentences = once(() => sentencesIn(said.text));
  const folded = once(() => fold([said.text, ...(said.files ?? [])].join('\n')));
  return {
    said,
    folded,
    words: once(() => contentWords(folded())),
    language: once(() => languageOf(said.text)),
    places: once(() => placesIn(said.text)),
    sentences,
    foldedSentences: once(() => fold(joined(sentences()))),
  };
}

/** Sentences that follow one another, as one text. */
export function joined(sentences: readonly Sentence[]): string {
  return sentences.map(({ text }) => text).join(' ');
}

function sentencesIn(whole: string): Sentence[] {
  return whole
    .slice(0, 8_000)
    .split(/(?<=[.!?;])\s|(?<=[。！？；])|\n/)
    .filter((text) => text.trim() !== '')
    .map((text) => ({ text, folded: once(() => fold(text)), words: once(() => contentWords(text)) }));
}
