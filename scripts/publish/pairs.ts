import { indexTexts } from '../workspace/near.ts';
import type { Line } from './lines.ts';

export interface Pair<L extends Line = Line> {
  readonly was: L;
  readonly is: L;
  readonly reworded: boolean;
}

export interface Pairs<L extends Line = Line> {
  readonly same: readonly Pair<L>[];
  readonly gone: readonly L[];
  readonly fresh: readonly L[];
}

/**
 * Finds each old line again, once: by its words in the same place, the same scope, anywhere; what is left by near words
 * (in another scope with shared evidence only), then by equal evidence in the same scope.
 */
export function pairLines<L extends Line>(old: readonly L[], now: readonly L[]): Pairs<L> {
  const same: Pair<L>[] = [];
  const left = new Set(old);
  const free = new Set(now);
  const take = (was: L, is: L | undefined, reworded: boolean) => {
    if (is === undefined) return;
    same.push({ was, is, reworded });
    left.delete(was);
    free.delete(is);
  };
  for (const keyOf of [byPlace, byScope, byWords]) {
    const stacks = stacksOf(free, keyOf);
    for (const was of [...left]) take(was, stacks.get(keyOf(was))?.shift(), false);
  }
  const candidates = [...free];
  const near = indexTexts(candidates.map(({ words }) => words));
  for (const was of [...left]) take(was, bestOf(was, near.of(was.words), candidates, free), true);
  const stacks = stacksOf([...free].filter(hasEvidence), byEvidence);
  for (const was of [...left].filter(hasEvidence)) take(was, stacks.get(byEvidence(was))?.shift(), true);
  return { same, gone: [...left], fresh: [...free] };
}

/** The first of the near ones, best first, that is free and may be it. */
function bestOf<L extends Line>(
  was: L,
  places: readonly number[],
  candidates: readonly L[],
  free: ReadonlySet<L>,
): L | undefined {
  const items = new Set(was.items);
  const open = places.flatMap((place) => candidates[place] ?? []).filter((line) => free.has(line));
  const shares = (line: L) => line.items.some((item) => items.has(item));
  return (
    open.find((line) => line.scope === was.scope && shares(line)) ??
    open.find((line) => line.scope === was.scope) ??
    open.find(shares)
  );
}

function stacksOf<L extends Line>(lines: Iterable<L>, keyOf: (line: Line) => string): Map<string, L[]> {
  const stacks = new Map<string, L[]>();
  for (const line of lines) {
    const stack = stacks.get(keyOf(line));
    if (stack === undefined) stacks.set(keyOf(line), [line]);
    else stack.push(line);
  }
  return stacks;
}

function byPlace({ place, hash }: Line): string {
  return `${place}\n${hash}`;
}

function byScope({ scope, hash }: Line): string {
  return `${scope}\n${hash}`;
}

function byWords({ hash }: Line): string {
  return hash;
}

function byEvidence({ scope, items }: Line): string {
  return `${scope}\n${[...items].sort().join(' ')}`;
}

function hasEvidence({ items }: Line): boolean {
  return items.length > 0;
}
