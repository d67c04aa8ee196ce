import { normaliseLine } from './lines.ts';
import { sequenceOf, wordsOf } from './words.ts';

/**
 * Why two lines cannot both hold: one forbids what the other demands, they give different numbers for the same, or each
 * prefers what the other rejects. null where they can. A guess from words alone, in the languages whose negations are
 * known; it looks at lines that share most of their words.
 */
export function contradiction(a: string, b: string): 'opposite' | 'number' | 'swapped' | null {
  const [one, other] = [normaliseLine(a), normaliseLine(b)];
  if (areSwapped(one, other)) return 'swapped';
  const [left, right] = [factsOf(one), factsOf(other)];
  const likeness = likenessOf(left.words, right.words);
  if (left.words.size < 2 || right.words.size < 2) return null;
  if (left.isNegative !== right.isNegative && likeness >= 0.75) return 'opposite';
  const isNumbered = left.numbers !== '' && right.numbers !== '' && left.numbers !== right.numbers;
  return isNumbered && left.isNegative === right.isNegative && left.words.size >= 3 && likeness >= 0.9
    ? 'number'
    : null;
}

/** Whether two lines say nearly the same, in words and in what they show as code. */
export function isNearlySame(a: string, b: string): boolean {
  const [one, other] = [normaliseLine(a), normaliseLine(b)];
  if (codesOf(one) !== codesOf(other) || numbersOf(one) !== numbersOf(other)) return false;
  const [left, right] = [wordsOf(one), wordsOf(other)];
  return left.size >= 4 && right.size >= 4 && likenessOf(left, right) >= 0.75 && contradiction(a, b) === null;
}

interface Facts {
  /** Without what demands, forbids or counts. */
  readonly words: ReadonlySet<string>;
  readonly isNegative: boolean;
  readonly numbers: string;
}

function factsOf(text: string): Facts {
  const isNegative = (text.match(negations)?.length ?? 0) % 2 === 1;
  const rest = text.replace(negations, ' ').replace(polar, ' ');
  return {
    words: wordsOf(rest.replace(/(?<![\w.])\d+(?:[.,]\d+)*(?![\w.])/g, ' ')),
    isNegative,
    numbers: numbersOf(text),
  };
}

/** Without those that stand in code. */
function numbersOf(text: string): string {
  const said = text.replace(/`[^`]{1,2000}`/g, ' ');
  return (said.match(/(?<![\w.])\d+(?:[.,]\d+)*(?![\w.])/g) ?? []).join(' ');
}

function codesOf(text: string): string {
  return (text.match(/`[^`]{1,2000}`/g) ?? []).sort().join(' ');
}

const negations =
  /(?<![\p{L}'’])(?:never|not|no longer|don['’]t|do not|does not|doesn['’]t|must not|mustn['’]t|should not|shouldn['’]t|can['’]t|cannot|avoid|without|stop|nie|niemals|nicht|kein|keine|keinen|ohne|jamais|ne pas|pas|sans|nunca|sin|não|mai|non|nooit|niet|geen|никогда|не|لا)(?![\p{L}'’])|不要|不能|不得|不可|不准|永远不|从不|禁止|切勿|别|ないで|しない|しません|하지 마|지 않/giu;
const polar =
  /(?<!\p{L})(?:always|must|should|shall|do|please|immer|muss|müssen|soll|sollen|bitte|toujours|siempre|sempre|altijd|всегда)(?!\p{L})|总是|必须|务必|请|一定要|必ず|항상/giu;

const preferred =
  /([\w./@+-]{2,40}) (?:over|instead of|rather than|not|and not|statt|anstatt|anstelle von|plutôt que|au lieu de|en lugar de|en vez de) ([\w./@+-]{2,40})/g;

/** `a over b` here and `b over a` there. */
function areSwapped(one: string, other: string): boolean {
  const pairs = new Set([...one.replace(/[`",]/g, '').matchAll(preferred)].map(([, a, b]) => `${a} ${b}`));
  return [...other.replace(/[`",]/g, '').matchAll(preferred)].some(([, a, b]) => a !== b && pairs.has(`${b} ${a}`));
}

function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const both = [...a].filter((word) => b.has(word)).length;
  const all = a.size + b.size - both;
  return all === 0 ? 0 : both / all;
}

/** Whether a text has words enough to be compared with another. */
export function isComparable(text: string): boolean {
  return sequenceOf(text).length >= 3;
}
