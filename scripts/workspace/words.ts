import { isAscii } from '../shared/ascii.ts';

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * At most 200 of a text's words, so that one endless line costs no more than a long one; of a run of Chinese, Japanese,
 * Korean or Thai its pairs of characters.
 */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  const head = text.slice(0, maxRead).toLowerCase();
  if (isAscii(head)) {
    for (const word of head.match(asciiWord) ?? []) {
      if (words.size >= mostWords) break;
      words.add(word);
    }
    return words;
  }
  for (const [run] of head.matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
    if (words.size >= mostWords) break;
    if (!unspaced.test(run)) words.add(run);
    else {
      const characters = [...run];
      for (let at = 0; at + 1 < characters.length || at === 0; at += 1)
        words.add(`${characters[at]}${characters[at + 1] ?? ''}`);
    }
  }
  return words;
}

/**
 * The words that carry a text's meaning, by their beginnings, so that `retries` and `retry` meet; words that every text
 * has are left out.
 */
export function contentWords(text: string): Set<string> {
  const content = new Set<string>();
  for (const word of wordsOf(text)) {
    if (common.has(word)) continue;
    if (unspaced.test(word)) content.add(word);
    else if (word.length >= 3) content.add(word.slice(0, stemLetters));
  }
  return content;
}

/** A text word by word, in order; each character of a script without spaces is one. At most 4,000 characters are read. */
export function sequenceOf(text: string): string[] {
  const head = text.slice(0, maxRead).toLowerCase();
  if (isAscii(head)) return head.match(asciiWord) ?? [];
  return [
    ...head.matchAll(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|[\p{L}\p{N}\p{M}_]+/gu,
    ),
  ].map(([word]) => word);
}

/** Where each word of a text stands in it, in order: at most so many places a word. */
export type WordPlaces = ReadonlyMap<string, readonly number[]>;

export function placesIn(text: string): WordPlaces {
  const places = new Map<string, number[]>();
  for (const [index, word] of sequenceOf(text).entries()) {
    const list = places.get(word);
    if (list === undefined) places.set(word, [index]);
    else if (list.length < mostPlaces) list.push(index);
  }
  return places;
}

/** A word that is everywhere tells nothing; looking at it would make a hostile text slow. */
const mostPlaces = 200;
const maxRead = 4_000;
const mostWords = 200;
const asciiWord = /[a-z0-9_]+/g;
const stemLetters = 5;

const common = new Set(
  (
    'the and for not with this that you are but from have has had was were will would should must can could may its ' +
    'one two all any into over when where what which who how why then than there here they them their his her our ' +
    'your use used using user users person human people wants want prefers prefer says said asked asks always never ' +
    'only also just more most some such very does did done make made like need needs before after ' +
    'der die das und ist nicht ein eine einen mit auf für den dem des wir ich auch von sind wird soll immer nie nutzer ' +
    'les des une dans pour que qui sur avec pas est los las del para con por una der het een van met'
  ).split(' '),
);
