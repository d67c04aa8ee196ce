import MiniSearch, { type SearchOptions } from 'minisearch';
import type { Scope } from '../../workspace/layout.ts';
import { isVisible } from './owners.ts';
import type { Passage } from './passage.ts';
import { synonymsOf } from './synonyms.ts';
import { questionTerms, termsIn, termsOf } from './terms.ts';

/** Passages, ready to be asked. */
export interface Ranking {
  /**
   * The passages that answer best, best first.
   * @param visible the repositories whose lines may be shown, beside everybody's and nobody's; null shows all.
   * @param own lines of these come a little before others of the same worth.
   */
  search(question: string, visible: readonly Scope[] | null, own?: readonly Scope[]): Ranked;
}

export interface Ranked {
  readonly shown: readonly RankedPassage[];
  /** Passages that hold something of the question and may not be shown. */
  readonly leftOut: number;
}

export interface RankedPassage {
  readonly passage: Passage;
  readonly score: number;
  /** The question's terms that it holds, by themselves or by a word of the same meaning. */
  readonly terms: readonly string[];
}

/**
 * BM25+ over fields. A question's term counts once a passage, by the best of itself (whole 1, its beginning or misspelt
 * less) and its synonyms; passages that hold more of the question's terms come before those that hold one of them often.
 */
export function createRanking(passages: readonly Passage[]): Ranking {
  const known = new Map<string, string[]>();
  const index = new MiniSearch<Passage & { readonly id: number }>({
    fields: ['body', 'parts', 'title', 'keywords', 'appliesTo'],
    extractField: (passage, field) => fieldOf(passage, field),
    tokenize: (text, field) =>
      field === 'body'
        ? [...termsIn(text).words]
        : field === 'parts'
          ? [...termsIn(text).parts]
          : remember(known, text),
    processTerm: (term) => term,
  });
  index.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return {
    search(question, visible, own = []) {
      const terms = questionTerms(question);
      const found = new Map<number, { score: number; terms: string[] }>();
      for (const term of terms) {
        for (const [id, score] of scoresOf(index, term)) {
          const entry = found.get(id) ?? { score: 0, terms: [] };
          entry.score += score;
          entry.terms.push(term);
          found.set(id, entry);
        }
      }
      const ranked = [...found].flatMap(([id, entry]) => {
        const passage = passages[id];
        if (passage === undefined) return [];
        const nearness = passage.scope !== null && own.includes(passage.scope) ? ownBoost : 1;
        const held = (entry.terms.length / terms.length) ** coverage;
        return [{ passage, score: entry.score * held * nearness * passage.worth, terms: entry.terms, id }];
      });
      const shown = ranked.filter(({ passage }) => isVisible(passage.scope, visible));
      return {
        shown: shown.sort((a, b) => b.score - a.score || a.id - b.id).filter(differs()),
        leftOut: ranked.length - shown.length,
      };
    },
  };
}

function fieldOf(passage: Passage & { readonly id: number }, field: string): string {
  switch (field) {
    case 'id':
      return String(passage.id);
    case 'title':
    case 'keywords':
    case 'appliesTo':
      return passage[field];
    default:
      return passage.body.slice(0, bodyCharacters);
  }
}

/** Texts by BM25 as the library has it, words in lower case: what a ranking has to be better than. Best first. */
export function rankPlainly(texts: readonly string[]): (question: string) => string[] {
  const index = new MiniSearch<{ readonly id: number; readonly text: string }>({ fields: ['text'] });
  index.addAll(texts.map((text, id) => ({ id, text })));
  return (question) => index.search(question).map(({ id }) => texts[Number(id)] ?? '');
}

/** All passages of a block share what is not their body. */
function remember(known: Map<string, string[]>, text: string): string[] {
  const terms = known.get(text) ?? termsOf(text);
  known.set(text, terms);
  return terms;
}

/** Parts of names tell less than words that somebody wrote. */
const fieldWeights = { body: 2, parts: 1, title: 0.6, keywords: 0.5, appliesTo: 1 };
/** A longer passage is found by its beginning. */
const bodyCharacters = 8_000;
const synonymWeight = 0.6;
const ownBoost = 1.5;
/** How much it counts that a passage holds all of a question. */
const coverage = 0.7;

function scoresOf(index: MiniSearch, term: string): Map<number, number> {
  const best = new Map<number, number>();
  const take = (word: string, weight: number, options: SearchOptions) => {
    for (const { id, score } of index.search(word, { ...common, ...options })) {
      const weighted = score * weight;
      if (weighted > (best.get(Number(id)) ?? 0)) best.set(Number(id), weighted);
    }
  };
  const isWord = /^\p{L}+$/u.test(term);
  take(term, 1, { prefix: isWord && term.length >= 4, fuzzy: isWord && term.length >= 7 ? 1 : false });
  for (const other of synonymsOf(term)) take(other, synonymWeight, {});
  return best;
}

/** Sessions that repeat each other fill no page: what says nearly the same of the same repository comes once. */
function differs(): (found: RankedPassage) => boolean {
  const shown: { readonly scope: Scope | null; readonly terms: ReadonlySet<string> }[] = [];
  return ({ passage: { scope, body } }) => {
    if (shown.length >= compared) return true;
    const terms = new Set(termsOf(body.slice(0, bodyCharacters)));
    if (shown.some((other) => other.scope === scope && similarity(other.terms, terms) >= nearlyTheSame)) return false;
    shown.push({ scope, terms });
    return true;
  };
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0;
  for (const term of a) if (b.has(term)) both += 1;
  return both / Math.max(1, a.size + b.size - both);
}

const nearlyTheSame = 0.75;
/** Beyond the pages that anybody reads, repeats may stand. */
const compared = 50;

const common: SearchOptions = {
  tokenize: (term) => [term],
  processTerm: (term) => term,
  boost: fieldWeights,
  weights: { prefix: 0.4, fuzzy: 0.3 },
  bm25: { k: 1.2, b: 0.4, d: 0.5 },
};
