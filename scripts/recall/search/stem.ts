/**
 * A word's common beginning: `retries`, `retried` and `retrying` are one, and so are `deploy` and `deployment`, `Datei`
 * and `Dateien`. Light on purpose: what it cuts too far is cut alike in the memory and in the question.
 * @param word in lower case, letters only.
 */
export function stem(word: string): string {
  let short = cut(cut(word, plurals), endings);
  if (short.length >= 4) short = short.replace(/([^aeioulsz])\1$/, '$1');
  if (short.length > 4) short = short.replace(/e$/, '');
  return short.length > 4 ? short.replace(/y$/, 'i') : short;
}

/** What is taken off, what stands instead, and the shortest word that is cut. */
type Ending = readonly [pattern: RegExp, instead: string, least: number];

const plurals: readonly Ending[] = [
  [/ies$/, 'y', 5],
  [/(?<=ss|x|z|ch|sh)es$/, '', 5],
  [/(?<![sui])s$/, '', 4],
];

const endings: readonly Ending[] = [
  [/(?:ation|ating|ated|ate|ator)$/, '', 7],
  [/ment$/, '', 8],
  [/ing$/, '', 6],
  [/ion$/, '', 7],
  [/ied$/, 'y', 5],
  [/er$/, '', 6],
  [/(?:ern|en|em)$/, '', 6],
  [/(?:ed|ly)$/, '', 5],
];

/** The first ending that fits is taken. */
function cut(word: string, list: readonly Ending[]): string {
  const found = list.find(([pattern, , least]) => word.length >= least && pattern.test(word));
  return found === undefined ? word : word.replace(found[0], found[1]);
}
