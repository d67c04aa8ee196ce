import type { Scope } from '../../workspace/layout.ts';
import { type LineQuery, linesOf, matchLines, type Span } from '../search/lines.ts';
import { isVisible, ownerAt, ownersOf } from '../search/owners.ts';
import type { Rankings } from '../search/rankings.ts';
import { questionTerms } from '../search/terms.ts';
import { limits } from './limits.ts';
import { type Hit, pageOfMatches } from './matches.ts';
import type { Entry, MemoryFolder } from './memory-folder.ts';
import { readSearch } from './search-arguments.ts';

/** What a search needs to know of where it is asked. */
export interface Asked {
  readonly folder: MemoryFolder;
  /** Ids of the session's repository; empty where it has none. */
  readonly repositories: readonly Scope[];
  readonly rankings: Rankings;
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
  const wanted = readSearch(given);
  const { queries, mode } = wanted.query;
  const place = asked.folder.find(wanted.path);
  const files = asked.folder.filesBelow(place);
  const visible = place.path !== '' || wanted.allRepositories ? null : asked.repositories;
  const { hits, leftOut } = wanted.isRanked
    ? await rankedHits(asked, files, queries, visible)
    : await lineHits(asked, files, wanted.query, visible);
  return {
    queries,
    match_mode: wanted.isRanked
      ? { type: 'ranked' }
      : mode.type === 'all_within_lines'
        ? { type: mode.type, line_count: mode.lineCount }
        : mode,
    path: place.path,
    ...pageOfMatches(hits, wanted.offset, wanted.most, wanted.context),
    left_out: leftOut,
  };
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
