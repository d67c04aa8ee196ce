import { normaliseLine } from './lines.ts';
import type { Leaf } from './merge-outline.ts';
import { indexTexts } from './near.ts';

/** Lines with one item or one set of items in common that are looked at for each line. */
const candidates = 20;

/**
 * Which line each fresh one is a rewording of, one each, the likeliest first: nearly the same words with an item in
 * common, the same evidence, nearly the same words where one has no evidence, all of its evidence and more. Near words
 * from other sessions' items are another line.
 * @param gone what stood before. @param fresh what stands now.
 * @param isChanged whether people changed a line that is gone: of several merged into one, it is reworded from that.
 */
export function rewordings(
  gone: readonly Leaf[],
  fresh: readonly Leaf[],
  isChanged: (gone: Leaf) => boolean,
): Map<Leaf, Leaf> {
  const found = new Map<Leaf, Leaf>();
  const [olds, news] = [gone.filter(isPhrase), fresh.filter(isPhrase)];
  if (olds.length === 0 || news.length === 0) return found;
  const ranked: [Leaf, Leaf][][] = [[], [], [], [], []];
  const near = indexTexts(olds.map(({ raw }) => normaliseLine(raw)));
  const bySet = groupBy(olds, ({ items }) => (items.length === 0 ? [] : [items.join(' ')]));
  const byItem = groupBy(olds, ({ items }) => items.slice(0, 1));
  for (const leaf of news) {
    const alike = new Set(near.of(normaliseLine(leaf.raw)).flatMap((at) => olds[at] ?? []));
    const same = bySet.get(leaf.items.join(' ')) ?? [];
    const touching = leaf.items.slice(0, candidates).flatMap((item) => byItem.get(item) ?? []);
    for (const old of new Set([...alike, ...same, ...touching])) {
      const rank = rankOf(old, leaf, alike.has(old), isChanged(old));
      if (rank !== null) ranked[rank]?.push([leaf, old]);
    }
  }
  const taken = new Set<Leaf>();
  for (const [leaf, old] of ranked.flat()) {
    if (found.has(leaf) || taken.has(old)) continue;
    found.set(leaf, old);
    taken.add(old);
  }
  return found;
}

/** Whether a leaf can be said in other words. */
export function isPhrase({ kind }: Leaf): boolean {
  return kind === 'bullet' || kind === 'prose';
}

function rankOf(old: Leaf, leaf: Leaf, isNear: boolean, isChanged: boolean): 0 | 1 | 2 | 3 | 4 | null {
  const common = old.items.filter((item) => leaf.items.includes(item)).length;
  if (isNear && common > 0) return 0;
  if (old.items.length === 0 || leaf.items.length === 0) return isNear ? 2 : null;
  if (common < old.items.length) return null;
  if (common === leaf.items.length) return 1;
  return isChanged ? 3 : 4;
}

/** By each of a leaf's keys, at most `candidates` each, so that one item cited by every line costs little. */
function groupBy(leaves: readonly Leaf[], keysOf: (leaf: Leaf) => readonly string[]): Map<string, Leaf[]> {
  const groups = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    for (const key of keysOf(leaf)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [leaf]);
      else if (group.length < candidates) group.push(leaf);
    }
  }
  return groups;
}
