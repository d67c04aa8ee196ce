const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * At most 200 of a text's words, so that one endless line costs no more than a long one; of a run of Chinese, Japanese,
 * Korean or Thai its pairs of characters.
 */
export function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const [run] of text
    .slice(0, 4_000)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}\p{M}_]+/gu)) {
    if (words.size >= 200) break;
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
  const content = [...wordsOf(text)].filter((word) => !common.has(word) && (word.length >= 3 || unspaced.test(word)));
  return new Set(content.map((word) => (unspaced.test(word) ? word : word.slice(0, stemLetters))));
}

/** A text word by word, in order; each character of a script without spaces is one. At most 4,000 characters are read. */
export function sequenceOf(text: string): string[] {
  return [
    ...text
      .slice(0, 4_000)
      .toLowerCase()
      .matchAll(
        /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]|[\p{L}\p{N}\p{M}_]+/gu,
      ),
  ].map(([word]) => word);
}

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
