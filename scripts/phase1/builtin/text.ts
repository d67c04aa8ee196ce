/** A piece of a text, and where it starts: `text.startsWith(piece.text, piece.at)`. */
export interface Sentence {
  readonly text: string;
  readonly at: number;
}

const ends = new Set(['.', '!', '?', '。', '！', '？', '؟', '…']);
const wide = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;

/**
 * Sentences of a person's text, each a verbatim piece of one line, without code fences and list marks. Written here and
 * not taken from ICU, whose rules change between Node versions.
 * @returns at most `max` sentences, in order.
 */
export function sentencesOf(text: string, max: number): Sentence[] {
  const found: Sentence[] = [];
  let fenced = false;
  let start = 0;
  for (const line of linesOf(text)) {
    if (found.length >= max) break;
    if (/^\s{0,8}(```|~~~)/.test(line)) fenced = !fenced;
    else if (!fenced) splitLine(line, start, found, max);
    start += line.length + 1;
  }
  return found;
}

/** Lines, also where a progress bar or a word processor ends them; each end is one character. */
export function linesOf(text: string): string[] {
  return text.split(/[\n\r\u2028\u2029]/);
}

/** A question asks; it states no wish that could outlive it. */
export function isQuestion(sentence: string): boolean {
  return /[?？؟][)"'”’»\s]{0,8}$/.test(sentence);
}

/** Words; a character of a script that writes without spaces counts as half a word. */
export function wordCount(text: string): number {
  let halves = 0;
  let inWord = false;
  for (const char of text) {
    if (wide.test(char)) {
      halves += 1;
      inWord = false;
    } else if (/\s/.test(char)) inWord = false;
    else if (!inWord) {
      halves += 2;
      inWord = true;
    }
  }
  return Math.floor(halves / 2);
}

/**
 * The text, or its beginning up to the last word that fits: a prefix, so still verbatim.
 * @param max in columns: characters of scripts that write without spaces count twice, as they say more.
 */
export function cutToFit(text: string, max: number): { readonly text: string; readonly cut: boolean } {
  if (text.length * 2 <= max) return { text, cut: false };
  let columns = 0;
  let end = 0;
  for (; end < text.length && columns <= max; end += 1) columns += wide.test(text[end] ?? '') ? 2 : 1;
  if (columns <= max) return { text, cut: false };
  const head = text.slice(0, end - 1);
  const space = Math.max(head.lastIndexOf(' '), head.lastIndexOf('，'), head.lastIndexOf('、'));
  return { text: withoutHalfPair(space > head.length / 2 ? head.slice(0, space) : head).trimEnd(), cut: true };
}

/** `"…"`, verbatim; what did not fit is marked outside the quotation marks. */
export function quote(text: string, max = 240): string {
  const fitted = cutToFit(text.trim(), max);
  return `"${shown(fitted.text)}"${fitted.cut ? ' …' : ''}`;
}

/** With what would open an HTML comment escaped: no page hides what follows. */
export function shown(text: string): string {
  return text.replaceAll('<!--', '\\<!--');
}

/** A command or path as a Markdown code span of one line, up to the first word with a person's e-mail address. */
export function code(text: string, max = 140): string {
  const line = (linesOf(text.trim())[0] ?? '').trimEnd();
  const address = line.slice(0, 2_000).search(/\S{0,80}[\w.+-]@[\w-]{1,60}\.[\w.-]{1,60}(?![\w.:/-])/);
  const fitted = cutToFit(address > 0 ? line.slice(0, address).trimEnd() : line, max);
  const more = fitted.text.length < text.trim().length ? ' …' : '';
  return fitted.text.includes('`') ? `\`\` ${fitted.text} \`\`${more}` : `\`${fitted.text}\`${more}`;
}

export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

function splitLine(line: string, offset: number, found: Sentence[], max: number): void {
  let start = /^\s{0,40}(?:(?:[-*+>•]|#{1,6}|\d{1,3}[.)])\s{1,8}){0,3}/.exec(line)?.[0].length ?? 0;
  for (let at = start; at < line.length && found.length < max; at += 1) {
    if (!ends.has(line[at] ?? '')) continue;
    while (ends.has(line[at + 1] ?? '')) at += 1;
    let after = at + 1;
    while (/[)"'”’»\]]/.test(line[after] ?? '')) after += 1;
    if (!startsSentence(line, at, after)) continue;
    push(line, start, after, offset, found);
    start = after;
    at = after - 1;
  }
  if (found.length < max) push(line, start, line.length, offset, found);
}

/** After a western full stop must come a space and no lower-case letter: `fetch.py`, `e.g. this`. */
function startsSentence(line: string, end: number, after: number): boolean {
  if (!/[.!?…]/.test(line[end] ?? '')) return true;
  if (after >= line.length) return true;
  if (!/\s/.test(line[after] ?? '')) return false;
  const next = line.slice(after, after + 40).trimStart()[0] ?? '';
  return line[end] !== '.' || !(next !== next.toUpperCase() && next === next.toLowerCase());
}

function push(line: string, start: number, end: number, offset: number, found: Sentence[]): void {
  const raw = line.slice(start, end);
  const text = raw.trim();
  if (/[\p{L}\p{N}]/u.test(text)) found.push({ text, at: offset + start + (raw.length - raw.trimStart().length) });
}

function withoutHalfPair(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
