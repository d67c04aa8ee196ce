import type { DeltaFacts, Gone } from './delta-types.ts';
import type { Line } from './lines.ts';
import type { Pairs } from './pairs.ts';

/**
 * Why each line is gone. Superseded where a line that is new here, or gained evidence, rests on an item of it or says that it
 * supersedes one: merged if
 * that line speaks for another old one as well, else corrected. Forgotten where its evidence is hidden, or no session of
 * it is among the inputs any more.
 * @param threads short ids of the sessions whose inputs stand now.
 */
export function reasonsGone(pairs: Pairs, threads: ReadonlySet<string>, facts: DeltaFacts): Map<Line, Gone> {
  const heirs = heirsOf(pairs);
  const claims = new Map<Line, number>();
  for (const line of pairs.gone)
    for (const heir of heirsOn(line, heirs.byItem)) claims.set(heir, (claims.get(heir) ?? 0) + 1);
  const isMerger = (heir: Line) => heirs.speaking.has(heir) || (claims.get(heir) ?? 0) > 1;
  return new Map(
    pairs.gone.map((line) => {
      if (isHidden(line, facts)) return [line, 'tombstoned'];
      const own = [...heirsOn(line, heirs.byItem)];
      if (own.length > 0) return [line, own.some(isMerger) ? 'merged' : 'corrected'];
      const hasLeft = line.evidence.length > 0 && line.evidence.every(({ thread }) => !threads.has(thread));
      return [line, hasLeft ? 'inputLeft' : 'unexplained'];
    }),
  );
}

interface Heirs {
  /** Item → lines that cite it since now. */
  readonly byItem: ReadonlyMap<string, readonly Line[]>;
  /** Those that stand for an old line of their own. */
  readonly speaking: ReadonlySet<Line>;
}

function heirsOf({ same, fresh }: Pairs): Heirs {
  const byItem = new Map<string, Line[]>();
  const add = (item: string, line: Line) => byItem.set(item, [...(byItem.get(item) ?? []), line]);
  for (const line of fresh) for (const item of [...line.items, ...line.supersedes]) add(item, line);
  for (const { was, is } of same) {
    const known = new Set([...was.items, ...was.supersedes]);
    for (const item of [...is.items, ...is.supersedes]) if (!known.has(item)) add(item, is);
  }
  return { byItem, speaking: new Set(same.map(({ is }) => is)) };
}

function heirsOn(line: Line, byItem: Heirs['byItem']): Set<Line> {
  return new Set(line.items.flatMap((item) => byItem.get(item) ?? []));
}

function isHidden({ evidence, scope }: Line, facts: DeltaFacts): boolean {
  return evidence.some(({ thread, items }) => items.some((item) => facts.isTombstoned(thread, item, scope)));
}
