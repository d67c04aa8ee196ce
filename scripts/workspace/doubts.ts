import { isHedgedIn, type Language } from '../shared/hedges.ts';
import type { Claims } from './claims.ts';
import { fold, occursIn, piecesOf } from './quotes.ts';
import { type Heard, joined } from './said.ts';
import { contentWords } from './words.ts';

/**
 * The sentence in which a person held something back and which the line is from, where the line itself holds nothing
 * back; null where there is none. Of several items the ones that share most with the line count.
 * @param persons the items of persons that the line cites.
 */
export function droppedDoubt(text: string, claims: Claims, persons: readonly Heard[]): string | null {
  if (persons.length === 0 || isHedgedIn(text, claims.language()) || /\(candidate\)/.test(text)) return null;
  const sources = persons.map((heard) => sourceIn(claims, heard));
  const most = Math.max(0, ...sources.map(({ shared }) => shared));
  const closest = sources.filter(({ shared }) => shared === most && shared >= 2);
  const held = ({ sentence, language }: Source) => isHedgedIn(sentence, language) && !isHedgedIn(text, language);
  return closest.length > 0 && closest.every(held) ? (closest[0]?.sentence ?? null) : null;
}

/** Where in an item a line is from. */
interface Source {
  /** One, or the few that a quotation spans. */
  readonly sentence: string;
  readonly language: Language;
  /** Words that the line has too; a quotation counts for more than any words. */
  readonly shared: number;
}

function sourceIn({ quotes, own, codes }: Claims, heard: Heard): Source {
  const language = heard.language();
  for (const quote of quotes) {
    const sentence = sentenceWith(quote, heard);
    if (sentence !== null) return { sentence, language, shared: quotedOutright };
  }
  const wanted = [...contentWords([own, ...codes.map((code) => code.text)].join(' '))];
  let best: Source = { sentence: '', language, shared: 0 };
  for (const { text, words } of heard.sentences()) {
    const known = words();
    const shared = wanted.filter((word) => known.has(word)).length;
    if (shared > best.shared) best = { sentence: text.trim(), language, shared };
  }
  return best;
}

const quotedOutright = 1_000;

function sentenceWith(quote: string, { sentences, foldedSentences }: Heard): string | null {
  const pieces = piecesOf(quote);
  if (!occursIn(pieces, foldedSentences())) return null;
  const all = sentences();
  const one = all.slice(0, mostSentences).find(({ folded }) => occursIn(pieces, folded()));
  if (one !== undefined) return one.text.trim();
  for (let length = 2; length <= Math.min(8, all.length); length += 1) {
    for (let first = 0; first + length <= Math.min(mostSentences, all.length); first += 1) {
      const some = joined(all.slice(first, first + length));
      if (occursIn(pieces, fold(some))) return some.trim();
    }
  }
  return null;
}

/** Of an item, those in which a quotation is looked for. */
const mostSentences = 200;
