import { truncateMiddle } from '../../shared/tokens.ts';
import type { Span } from '../search/lines.ts';
import { assertWithin } from './cursor.ts';
import { limits } from './limits.ts';
import type { Entry } from './memory-folder.ts';

/** A place that matches, before its text is cut out. */
export interface Hit {
  readonly file: Entry;
  readonly span: Span;
  readonly lines: readonly string[];
  /** Whether a line may be shown. */
  readonly mayShow: (line: number) => boolean;
}

interface Match {
  readonly path: string;
  readonly match_line_number: number;
  readonly content_start_line_number: number;
  readonly content: string;
  readonly matched_queries: readonly string[];
}

/** As many matches as were asked for and as there is room for on a page; at least one. */
export function pageOfMatches(hits: readonly Hit[], offset: number, most: number, context: number) {
  assertWithin(offset, hits.length);
  const matches: Match[] = [];
  let bytes = 0;
  let isCut = false;
  for (const hit of hits.slice(offset, offset + most)) {
    const { match, cut } = matchOf(hit, context);
    bytes += Buffer.byteLength(match.content);
    if (matches.length > 0 && bytes > limits.pageBytes) break;
    matches.push(match);
    isCut ||= cut;
  }
  const end = offset + matches.length;
  const hasMore = end < hits.length;
  return { matches, next_cursor: hasMore ? String(end) : null, truncated: hasMore || isCut };
}

/** The match with what stands around it, as far as that may be shown. */
function matchOf({ file, span, lines, mayShow }: Hit, context: number): { match: Match; cut: boolean } {
  let [from, to] = [span.from, span.to];
  while (from > 0 && from > span.from - context && mayShow(from - 1)) from -= 1;
  while (to < lines.length - 1 && to < span.to + context && mayShow(to + 1)) to += 1;
  const whole = lines.slice(from, to + 1).join('\n');
  const content = truncateMiddle(whole, { bytes: limits.matchBytes });
  const match = {
    path: file.path,
    match_line_number: span.from + 1,
    content_start_line_number: from + 1,
    content,
    matched_queries: span.matched,
  };
  return { match, cut: content !== whole };
}
