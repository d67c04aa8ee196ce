import { byBinary } from '../../shared/files.ts';
import type { Passage } from './passage.ts';
import { passagesOf, withoutRepeats } from './passages.ts';
import { createRanking, type Ranking } from './ranking.ts';

/** A file as it is told from an older one of its name. */
export interface Versioned {
  readonly path: string;
  readonly version: string;
}

/** Rankings that are made when first asked, and again when a file has changed. */
export interface Rankings {
  of<T extends Versioned>(files: readonly T[], textOf: (file: T) => Promise<string | null>): Promise<Ranking>;
}

export function createRankings(): Rankings {
  const kept = new Map<string, { readonly versions: string; readonly ranking: Promise<Ranking> }>();
  return {
    of(files, textOf) {
      const place = files.map(({ path }) => path).join('\n');
      const versions = files.map(({ version }) => version).join('\n');
      const known = kept.get(place);
      if (known?.versions === versions) return known.ranking;
      const ranking = build(files, textOf);
      if (kept.size >= mostKept) kept.clear();
      kept.set(place, { versions, ranking });
      ranking.catch(() => kept.delete(place));
      return ranking;
    },
  };
}

/** The whole memory and the few folders or files that a session searches alone. */
const mostKept = 8;

/** Far above what a team's memory has; the handbook's come first. */
const mostPassages = 40_000;

async function build<T extends Versioned>(
  files: readonly T[],
  textOf: (file: T) => Promise<string | null>,
): Promise<Ranking> {
  const passages: Passage[] = [];
  for (const file of [...files].sort((a, b) => byBinary(a.path, b.path))) {
    const text = file.path.endsWith('.md') && passages.length < mostPassages ? await textOf(file) : null;
    for (const passage of text === null ? [] : passagesOf(file.path, text)) passages.push(passage);
  }
  return createRanking(withoutRepeats(passages).slice(0, mostPassages));
}
