import { comparable, type LineMode, type LineQuery } from '../search/lines.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { offsetOf } from './cursor.ts';
import { limits } from './limits.ts';
import { ToolError } from './tool-error.ts';

/** A search as it was asked for, its bounds kept. */
export interface SearchQuery {
  readonly query: LineQuery;
  readonly isRanked: boolean;
  readonly path: string | undefined;
  readonly offset: number;
  readonly most: number;
  /** Lines before and after a match. */
  readonly context: number;
  readonly allRepositories: boolean;
}

/** @throws ToolError for whatever is wrong with the arguments. */
export function readSearch(given: unknown): SearchQuery {
  const args = readArguments('search', given, searchArguments);
  const queries = queriesOf(args);
  const mode = modeOf(args);
  const isRanked = mode.type === 'ranked';
  const context = args.count('context_lines', 0) ?? 0;
  if (context > limits.contextLines)
    throw new ToolError(`context_lines is at most ${limits.contextLines}.`, 'Use read to see more of a file.');
  const most = args.count('max_results', 1) ?? (isRanked ? limits.rankedMatches : limits.matches);
  return {
    query: {
      queries,
      mode: isRanked ? { type: 'any' } : mode,
      caseSensitive: args.flag('case_sensitive', true),
      normalized: args.flag('normalized', false),
    },
    isRanked,
    path: args.optionalText('path'),
    offset: offsetOf(args.optionalText('cursor')),
    most: Math.min(most, limits.matches),
    context,
    allRepositories: args.flag('all_repositories', false),
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
