import type { Span } from './redact-types.ts';

/** The longest value that is looked at. */
export const maxValue = 4096;

/** Where a quoted text starts: `depth` backslashes stand before its quote (1 inside JSON, 3 inside JSON in JSON). */
export interface Opening {
  readonly quote: string;
  readonly depth: number;
  readonly start: number;
}

/** The quote at `at`, with the backslashes that escape it; null where none stands. */
export function openingAt(text: string, at: number): Opening | null {
  let depth = 0;
  while (depth < 8 && text[at + depth] === '\\') depth++;
  const quote = text[at + depth];
  if (quote !== '"' && quote !== "'" && quote !== '`') return null;
  return { quote, depth, start: at + depth + 1 };
}

/**
 * What stands between an opening quote and the one that closes it at the same depth of escaping; null where it is not
 * closed on the line (a back-quoted text may go on) or within `maxValue` characters.
 */
export function quoted(text: string, opening: Opening): Span | null {
  const period = 2 * (opening.depth + 1);
  const quote = opening.quote.charCodeAt(0);
  const limit = Math.min(text.length, opening.start + maxValue);
  let backslashes = 0;
  for (let at = opening.start; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) {
      backslashes++;
      continue;
    }
    if (code === lineFeed && opening.quote !== '`') return null;
    if (code === quote && backslashes % period === opening.depth % period)
      return { start: opening.start, end: at - opening.depth };
    backslashes = 0;
  }
  return null;
}

const backslash = 0x5c;
const lineFeed = 0x0a;

/** A value without quotes: up to white space, a quote, `<`, `>` or an escape such as a serialised `\n`. */
export function bare(text: string, start: number): Span {
  const limit = Math.min(text.length, start + maxValue);
  let end = start;
  while (end < limit && !endsBare(text, end)) end++;
  return { start, end };
}

function endsBare(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code > 0x60) return code === 0xa0 || (code > 0x1fff && /\s/.test(text[at] ?? ''));
  if (code <= 0x20 || code === 0x22 || code === 0x27 || code === 0x60 || code === 0x3c || code === 0x3e) return true;
  return code === backslash && isEscape(text, at);
}

/** A serialised line feed, tab, quote or backslash. */
function isEscape(text: string, at: number): boolean {
  return /["'\\/nrtu]/.test(text[at + 1] ?? '');
}

/** The end of the line, real or serialised. */
export function endsLine(text: string, at: number): boolean {
  return at >= text.length || text[at] === '\n' || text[at] === '\r' || /^\\{1,7}[nr]/.test(text.slice(at, at + 9));
}

/** The start of a line, real or serialised, or of a string. */
export function startsLine(text: string, at: number): boolean {
  return at === 0 || /[\n\r"'`]$|\\[nrt"]$/.test(text.slice(Math.max(0, at - 2), at));
}

/** A sticky pattern's match at exactly this place. */
export function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
