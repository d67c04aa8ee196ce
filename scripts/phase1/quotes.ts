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
 * without spaces. What stands in backticks is code, not a quotation.
 */
export function quotesIn(bullet: string): string[] {
  const text = bullet.replace(/`[^`\n]{0,2000}`/g, ' ');
  const found: string[] = [];
  for (let at = 0; at < text.length; at++) {
    const closing = pairs[text[at] ?? ''];
    if (closing === undefined) continue;
    const end = endOf(text, at + 1, closing);
    if (end === -1) continue;
    const quote = text.slice(at + 1, end);
    if (isLong(quote)) found.push(quote.slice(0, mostCharacters));
    at = end;
  }
  return found;
}

/** Whether a text holds a quotation: letter for letter, but for case, space, quotation marks and Markdown's marks. */
export function occurs(quote: string, folded: string): boolean {
  let from = 0;
  for (const piece of quote.split(/…|\.{3}|\[…\]/)) {
    const wanted = fold(piece).replace(/^[\s.,;:!?'()[\]-]+|[\s.,;:!?'()[\]-]+$/g, '');
    if (wanted === '') continue;
    const at = folded.indexOf(wanted, from);
    if (at === -1) return false;
    from = at + wanted.length;
  }
  return true;
}

/** A text as quotations are compared with it. */
export function fold(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/["'“”„‟«»‹›「」『』‘’‚‛＂＇`´]/gu, "'")
    .replace(/[‐‑‒–—−]/g, '-')
    .replace(/[*\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/\s+/gu, ' ');
}

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
