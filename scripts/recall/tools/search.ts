import { truncateMiddle } from '../../shared/tokens.ts';
import type { Scope } from '../../workspace/layout.ts';
import { comparable, type LineMode, type LineQuery, linesOf, matchLines, type Span } from '../search/lines.ts';
import { isVisible, ownerAt, ownersOf } from '../search/owners.ts';
import type { Rankings } from '../search/rankings.ts';
import { questionTerms } from '../search/terms.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { assertWithin, offsetOf } from './cursor.ts';
import { limits } from './limits.ts';
import type { Entry, MemoryFolder } from './memory-folder.ts';
import { ToolError } from './tool-error.ts';

/** What a search needs to know of where it is asked. */
export interface Asked {
  readonly folder: MemoryFolder;
  /** Ids of the session's repository; empty where it has none. */
  readonly repositories: readonly Scope[];
  readonly rankings: Rankings;
}

interface Match {
  readonly path: string;
  readonly match_line_number: number;
  readonly content_start_line_number: number;
  readonly content: string;
  readonly matched_queries: readonly string[];
}

/** A place that matches, before its text is cut out. */
interface Hit {
  readonly file: Entry;
  readonly span: Span;
  readonly lines: readonly string[];
  /** Whether a line may be shown. */
  readonly mayShow: (line: number) => boolean;
}

interface Found {
  readonly hits: readonly Hit[];
  /** Those of other repositories, which were not asked for. */
  readonly leftOut: number;
}

/**
 * Lines that hold the queries, by path and line; or, with `match_mode` `ranked`, the passages that answer best. Lines of
 * another repository than the session's come only where a path or `all_repositories` asks for them.
 */
export async function search(asked: Asked, given: unknown) {
  const args = readArguments('search', given, searchArguments);
  const queries = queriesOf(args);
  const mode = modeOf(args);
  const offset = offsetOf(args.optionalText('cursor'));
  const context = args.count('context_lines', 0) ?? 0;
  if (context > limits.contextLines)
    throw new ToolError(`context_lines is at most ${limits.contextLines}.`, 'Use read to see more of a file.');
  const ask: LineQuery = {
    queries,
    mode: mode.type === 'ranked' ? { type: 'any' } : mode,
    caseSensitive: args.flag('case_sensitive', true),
    normalized: args.flag('normalized', false),
  };
  const place = asked.folder.find(args.optionalText('path'));
  const all = place.path !== '' || args.flag('all_repositories', false);
  const most = args.count('max_results', 1) ?? (mode.type === 'ranked' ? limits.rankedMatches : limits.matches);
  const files = asked.folder.filesBelow(place);
  const visible = all ? null : asked.repositories;
  const found =
    mode.type === 'ranked'
      ? await rankedHits(asked, files, queries, visible)
      : await lineHits(asked, files, ask, visible);
  const page = pageOfMatches(found.hits, offset, Math.min(most, limits.matches), context);
  return {
    queries,
    match_mode: mode.type === 'all_within_lines' ? { type: mode.type, line_count: mode.lineCount } : mode,
    path: place.path,
    ...page,
    left_out: found.leftOut,
  };
}

const searchArguments = [
  'queries',
  'match_mode',
  'path',
  'cursor',
  'context_lines',
  'case_sensitive',
  'normalized',
  'max_results',
  'all_repositories',
] as const;

function queriesOf(args: Arguments): readonly string[] {
  const queries = args.texts('queries');
  if (queries.length === 0 || queries.some((query) => query.trim() === ''))
    throw new ToolError('A search needs words: a query is missing or blank.', 'Give at least one text in queries.');
  if (queries.length > limits.queries)
    throw new ToolError(`A search takes at most ${limits.queries} queries.`, 'Give fewer, or search again.');
  if (queries.some((query) => query.length > limits.queryCharacters))
    throw new ToolError(`A query has at most ${limits.queryCharacters} characters.`, 'Search for a part of it.');
  if (queries.some((query) => query.includes('\n')))
    throw new ToolError('A query is a part of one line.', 'Give the lines as several queries with all_within_lines.');
  if (args.flag('normalized', false)) {
    const options = { caseSensitive: true, normalized: true };
    if (queries.some((query) => comparable(query, options) === ''))
      throw new ToolError('A normalized query needs a letter or a digit.', 'Search with normalized: false.');
  }
  return queries;
}

function modeOf(args: Arguments): LineMode | { readonly type: 'ranked' } {
  const mode = args.record('match_mode', ['type', 'line_count']);
  const type = mode?.text('type') ?? 'any';
  const lineCount = mode?.count('line_count', 1);
  if (type === 'all_within_lines') {
    if (lineCount === undefined)
      throw new ToolError('all_within_lines needs line_count.', 'Say within how many lines all queries have to stand.');
    return { type, lineCount };
  }
  if (type !== 'any' && type !== 'all_on_same_line' && type !== 'ranked')
    throw new ToolError(
      `There is no match_mode “${type.slice(0, 40)}”.`,
      'Its type is any, all_on_same_line, all_within_lines or ranked.',
    );
  if (lineCount !== undefined)
    throw new ToolError(`line_count is no part of ${type}.`, 'Leave it out, or use all_within_lines.');
  return { type };
}

async function lineHits(
  { folder }: Asked,
  files: readonly Entry[],
  ask: LineQuery,
  visible: readonly Scope[] | null,
): Promise<Found> {
  const hits: Hit[] = [];
  let leftOut = 0;
  for (const file of files) {
    const text = await folder.textOf(file);
    if (text === null) continue;
    const lines = linesOf(text);
    const spans = matchLines(lines, ask);
    if (spans.length === 0) continue;
    const mayShow = shownLines(file.path, text, visible);
    for (const span of spans) {
      if (isWhole(span, mayShow)) hits.push({ file, span, lines, mayShow });
      else leftOut += 1;
    }
  }
  return { hits, leftOut };
}

async function rankedHits(
  { folder, repositories, rankings }: Asked,
  files: readonly Entry[],
  queries: readonly string[],
  visible: readonly Scope[] | null,
): Promise<Found> {
  const ranking = await rankings.of(files, (file) => folder.textOf(file));
  const { shown, leftOut } = ranking.search(queries.join(' '), visible, repositories);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const texts = new Map<string, Pick<Hit, 'lines' | 'mayShow'>>();
  const hits: Hit[] = [];
  for (const { passage, terms } of shown.slice(0, limits.matches)) {
    const file = byPath.get(passage.path);
    const text = file === undefined || texts.has(file.path) ? null : await folder.textOf(file);
    if (file === undefined) continue;
    if (text !== null) texts.set(file.path, { lines: linesOf(text), mayShow: shownLines(file.path, text, visible) });
    const known = texts.get(file.path);
    const matched = queries.filter((query) => questionTerms(query).some((term) => terms.includes(term)));
    if (known !== undefined) hits.push({ file, span: { from: passage.from, to: passage.to, matched }, ...known });
  }
  return { hits, leftOut };
}

function shownLines(path: string, text: string, visible: readonly Scope[] | null): (line: number) => boolean {
  if (visible === null) return () => true;
  const owner = ownerAt(ownersOf(path, text));
  return (line) => isVisible(owner(line), visible);
}

function isWhole({ from, to }: Span, mayShow: (line: number) => boolean): boolean {
  for (let line = from; line <= to; line += 1) if (!mayShow(line)) return false;
  return true;
}

/** As many matches as were asked for and as there is room for on a page; at least one. */
function pageOfMatches(hits: readonly Hit[], offset: number, most: number, context: number) {
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
