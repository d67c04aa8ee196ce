import { stem } from './stem.ts';

/** What a text is found by. */
export interface Terms {
  /** Words by their stem, identifiers and paths as a whole. */
  readonly words: readonly string[];
  /** What identifiers and paths are made of: `loadSettingsFromFile`, `src/money.ts`. */
  readonly parts: readonly string[];
}

/**
 * Chinese, Japanese, Korean and Thai, which put no spaces between words, are found by pairs of characters. Case, accents
 * and width count for nothing.
 */
export function termsIn(text: string): Terms {
  const words: string[] = [];
  const parts: string[] = [];
  for (const [chunk] of text.normalize('NFKC').matchAll(chunks)) {
    const pieces = chunk.split(/[^\p{L}\p{N}\p{M}]+/u).flatMap(wordsIn);
    const runs = chunk.split('-').flatMap((run) => run.match(unspacedRuns) ?? []);
    const isWord = pieces.length === runs.length;
    if (pieces.length > 1 && !unspaced.test(chunk)) words.push(folded(chunk));
    for (const piece of pieces) {
      const isUnspaced = unspaced.test(piece);
      (isWord || isUnspaced ? words : parts).push(...(isUnspaced ? pairsOf(piece) : [wordTerm(piece)]));
    }
  }
  return { words: words.filter(isShort), parts: parts.filter(isShort) };
}

/** All of them. */
export function termsOf(text: string): string[] {
  const { words, parts } = termsIn(text);
  return [...words, ...parts];
}

/** The terms of a question: those that say nothing in any are left out, unless nothing else is there. */
export function questionTerms(text: string): string[] {
  const all = [...new Set(termsOf(text))];
  const words = new Set([...segmenter.segment(text.normalize('NFKC'))].flatMap(({ segment }) => termsOf(segment)));
  const telling = all.filter((term) =>
    unspaced.test(term) ? words.has(term) && !grammar.test(term) : !silent.has(term),
  );
  return telling.length > 0 ? telling : all;
}

/** Finds words where no spaces part them. A pair of characters across two words asks for nothing. */
const segmenter = new Intl.Segmenter('zh', { granularity: 'word' });

/** One word as it stands in the index. */
export function wordTerm(word: string): string {
  const known = remembered.get(word);
  if (known !== undefined) return known;
  const plain = folded(word);
  const term = /^\p{L}+$/u.test(plain) ? stem(plain) : plain;
  if (remembered.size >= mostRemembered) remembered.clear();
  remembered.set(word, term);
  return term;
}

/** Texts repeat their words. */
const remembered = new Map<string, string>();
const mostRemembered = 20_000;

/** A longer one is no word that anybody asks for: a hash, encoded bytes. */
function isShort(term: string): boolean {
  return term !== '' && term.length <= 64;
}

/** Letters and digits with what holds an identifier or a path together inside. */
const chunks = /[\p{L}\p{N}\p{M}_]+(?:[-._/:@+#]+[\p{L}\p{N}\p{M}_]+)*/gu;

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;
const unspacedRuns =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{M}ー]+|[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{M}ー]+/gu;

/** `parseHTTPBody2` → parse, HTTP, Body2; another script ends a word. */
function wordsIn(part: string): string[] {
  if (part === '') return [];
  return (part.match(unspacedRuns) ?? []).flatMap((run) =>
    unspaced.test(run) ? [run] : run.split(/(?<=\p{Ll}|\p{N})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u),
  );
}

function folded(word: string): string {
  return word
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/ß/g, 'ss')
    .normalize('NFC');
}

function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** Words that questions are made of, English and German. What may tell something, such as `never` or `before`, is none. */
const silent = new Set(
  [
    'a about also am an and any are as at be because been being but by can could did do does doing done during each else ever for from',
    'get gets give gives go goes going got had happen happened has have having he her here him his how i if in into is it its just',
    'kind made make may me might much must my nowadays of on once one or our out over own please shall she should so some something such',
    'take tell than that the their them then there these they thing this those through to too under up us use used uses using very was we',
    'were what when where which while who whose why will with would you your yours today called',
    'aber als also am an auch auf aus bei bin bis bitte da damit dann das dass dem den denn der des die dies diese dieser dieses doch du',
    'durch ein eine einem einen einer eines er es etwas fur gegen hat haben hatte hier ich ihr im in ist ja jede jeder kann konnen man mein',
    'mich mir mit muss mussen nach noch ob oder schon sein sich sie sind so soll sollte uber um und uns unser vom von vor wann warum was',
    'welche welcher welches wenn wer werden wie wieder wir wird wo wurde zu zum zur darf brauchen',
  ]
    .flatMap((line) => line.split(' '))
    .map(wordTerm),
);

/** Pairs with one of these are grammar: they say nothing alone. */
const grammar = /[的了吗呢吧么什怎应该可以哪几多少这那就都会能被把给和与或请我你他她们是在有要候]/u;
