/** How the queries have to stand: any of them in a line, all in one, all within so many lines. */
export type LineMode =
  | { readonly type: 'any' }
  | { readonly type: 'all_on_same_line' }
  | { readonly type: 'all_within_lines'; readonly lineCount: number };

export interface LineQuery {
  readonly queries: readonly string[];
  readonly mode: LineMode;
  readonly caseSensitive: boolean;
  /** Compares letters and digits only. */
  readonly normalized: boolean;
}

/** Lines `from` to `to`, counted from 0. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly matched: readonly string[];
}

/** A text's lines without their ends; nothing follows the last line end. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** What is compared of a text; '' where a query has nothing to compare. */
export function comparable(text: string, { caseSensitive, normalized }: Omit<LineQuery, 'queries' | 'mode'>): string {
  const cased = caseSensitive ? text : text.toLowerCase();
  return normalized ? cased.normalize('NFKC').replace(/[^\p{L}\p{N}\p{M}]/gu, '') : cased;
}

/** Every place in a file's lines where the queries stand, from top to bottom. */
export function matchLines(lines: readonly string[], query: LineQuery): Span[] {
  const wanted = query.queries.map((text) => comparable(text, query));
  if (query.mode.type === 'all_within_lines') return windows(lines, query, wanted, query.mode.lineCount);
  const least = query.mode.type === 'any' ? 1 : wanted.length;
  return lines.flatMap((line, index) => {
    const text = comparable(line, query);
    const matched = query.queries.filter((_, place) => text.includes(wanted[place] ?? ''));
    return matched.length >= least ? [{ from: index, to: index, matched }] : [];
  });
}

/**
 * The smallest windows of at most `most` lines that hold every query: for each last line the latest first line that
 * still does. Where that first line was the one before too, the window holds a smaller one.
 */
function windows(lines: readonly string[], query: LineQuery, wanted: readonly string[], most: number): Span[] {
  const last = wanted.map(() => -1);
  const found: Span[] = [];
  let previous = -1;
  for (const [index, line] of lines.entries()) {
    const text = comparable(line, query);
    for (const [place, words] of wanted.entries()) if (text.includes(words)) last[place] = index;
    const from = Math.min(...last);
    if (from > previous && index - from < most) found.push({ from, to: index, matched: query.queries });
    previous = from;
  }
  return found;
}
