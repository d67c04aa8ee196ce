import { isAscii } from '../shared/ascii.ts';

/** Marks that open a quotation, and what closes it. */
const pairs: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”“"',
  '„': '“”"',
  '”': '”',
  '«': '»',
  '»': '«',
  '「': '」',
  '『': '』',
  '＂': '＂',
};

/** A quotation no longer than this is looked for; a longer one by its beginning. */
const mostCharacters = 2_000;

/**
 * The quotations of a bullet that are long enough to be checked: two words, eight characters, or four of a script
 * without spaces. What stands in backticks is code, not a quotation; a quotation may hold code.
 */
export function quotesIn(bullet: string): string[] {
  const shown = bullet.replace(/`[^`\n]{0,2000}`/g, (code) => ' '.repeat(code.length));
  const found: string[] = [];
  for (let at = 0; at < shown.length; at++) {
    const closing = pairs[shown[at] ?? ''];
    if (closing === undefined) continue;
    const end = endOf(shown, at + 1, closing);
    if (end === -1) continue;
    const quote = bullet.slice(at + 1, end);
    if (isLong(quote)) found.push(quote.slice(0, mostCharacters));
    at = end;
  }
  return found;
}

/**
 * Whether a text holds a quotation: letter for letter, but for case, space, quotation marks and Markdown's marks, from
 * the beginning of a word to the end of one, and not without the word before it or after it that turns it round.
 */
export function occurs(quote: string, folded: string): boolean {
  return occursIn(piecesOf(quote), folded);
}

/** What is looked for of a quotation, one after the other: it may leave something out. Folded. */
export function piecesOf(quote: string): string[] {
  return quote
    .split(/…|\.{3}|\[…\]/)
    .map((piece) => fold(piece).replace(/^[\s.,;:!?'()[\]-]+|[\s.,;:!?'()[\]-]+$/g, ''))
    .filter((wanted) => wanted !== '');
}

/** `occurs` for a quotation that is looked for in many texts. */
export function occursIn(pieces: readonly string[], folded: string): boolean {
  let from = 0;
  for (const wanted of pieces) {
    const at = placeOf(wanted, folded, from, isWholeSense);
    if (at === -1) return false;
    from = at + wanted.length;
  }
  return true;
}

/** The first place, from `from` on, where the words stand as whole words; -1 where they do not. Both are folded. */
export function placeOf(
  wanted: string,
  folded: string,
  from: number,
  holds: (folded: string, start: number, end: number) => boolean = isWholeWords,
): number {
  for (let at = folded.indexOf(wanted, from); at >= 0; at = folded.indexOf(wanted, at + 1))
    if (holds(folded, at, at + wanted.length)) return at;
  return -1;
}

/** A text as quotations are compared with it. */
export function fold(text: string): string {
  if (isAscii(text)) return text.toLowerCase().replace(/["`]/g, "'").replaceAll('*', '').replace(/\s+/g, ' ');
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/["'“”„‟«»‹›「」『』‘’‚‛＂＇`´]/gu, "'")
    .replace(/[‐‑‒–—−]/g, '-')
    .replace(/[*\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/\s+/gu, ' ');
}

function isWholeWords(folded: string, start: number, end: number): boolean {
  return !isInWord(folded, start) && !isInWord(folded, end);
}

/** Whether a place stands between two letters of one word, in a script that parts its words. */
function isInWord(folded: string, at: number): boolean {
  const [before, after] = [folded[at - 1] ?? '', folded[at] ?? ''];
  return spaced.test(before) && spaced.test(after);
}

const spaced = /(?![\u0e00-\u0eff\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff])[\p{L}\p{N}_]/u;

function isWholeSense(folded: string, start: number, end: number): boolean {
  return (
    isWholeWords(folded, start, end) &&
    !negationBefore.test(folded.slice(Math.max(0, start - 24), start)) &&
    !negationAfter.test(folded.slice(end, end + 8))
  );
}

const negationBefore =
  /(?:(?<![\p{L}'])(?:not|never|don't|do not|doesn't|must not|mustn't|cannot|can't|won't|no longer|avoid|without|nicht|nie|niemals|kein|keine|keinen|ohne|ne|jamais|sans|no|nunca|jamás|sin|não|nunca|non|mai|senza|niet|nooit|geen|nie wolno|không|đừng|не|никогда|без|لا|لم|بدون) (?:to |ever |mehr |plus |più )?|不要|不能|不得|不可|不准|别|別|勿|禁止|切勿|永不|从不|從不)$/u;
const negationAfter = /^(?:ないで|しないで|ません|してはいけ|するな|지 마|하지 마|하면 안)/u;

function endOf(text: string, from: number, closing: string): number {
  for (let at = from; at < text.length && at - from <= 4 * mostCharacters; at++)
    if (closing.includes(text[at] ?? '\0')) return at;
  return -1;
}

const unspaced = /[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0e7f]/g;

function isLong(quote: string): boolean {
  const words = quote.trim().split(/\s+/u).length;
  return words >= 2 || quote.trim().length >= 8 || (quote.match(unspaced)?.length ?? 0) >= 4;
}
