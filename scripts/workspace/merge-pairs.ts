import { normaliseLine } from './lines.ts';
import type { Leaf } from './merge-outline.ts';
import { indexTexts } from './near.ts';

/** Lines with one item or one set of items in common that are looked at for each line. */
const candidates = 20;

/**
 * Which line each fresh one is a rewording of, one each, the likeliest first: the same evidence in nearly the same words,
 * the same evidence, nearly the same words, an item in common. Near words from other sessions' items are another line.
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
  const byItem = groupBy(olds, ({ items }) => items);
  for (const leaf of news) {
    const alike = new Set(near.of(normaliseLine(leaf.raw)).flatMap((at) => olds[at] ?? []));
    const same = new Set(leaf.items.length === 0 ? [] : (bySet.get(leaf.items.join(' ')) ?? []));
    const touching = new Set(leaf.items.slice(0, candidates).flatMap((item) => byItem.get(item) ?? []));
    for (const old of new Set([...same, ...alike, ...touching])) {
      const rank = rankOf(same.has(old), alike.has(old), touching.has(old) || same.has(old));
      const isOthers = rank === 2 && old.items.length > 0 && leaf.items.length > 0 && !touching.has(old);
      if (!isOthers) ranked[rank === 3 && !isChanged(old) ? 4 : rank]?.push([leaf, old]);
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

function rankOf(isSame: boolean, isNear: boolean, isTouching: boolean): 0 | 1 | 2 | 3 {
  if (isNear && isTouching) return 0;
  if (isSame) return 1;
  return isNear ? 2 : 3;
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
