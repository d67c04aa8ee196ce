import type { Standing, Versions } from './merge-align.ts';

/**
 * One order of what three versions have, from entries that they share: people's, with what only we have after the entry
 * it follows in ours and after what people put there; ours where we reordered and people did not.
 */
export function inOneOrder<E extends Standing<unknown>>({ base, ours, theirs }: Versions<readonly E[]>): E[] {
  const isOurOrder = isReordered(base, ours) && !isReordered(base, theirs);
  const [skeleton, other] = isOurOrder ? [ours, theirs] : [theirs, ours];
  const standing = new Set(skeleton);
  const following = new Map<E | null, E[]>();
  let anchor: E | null = null;
  for (const entry of other) {
    if (standing.has(entry)) anchor = entry;
    else {
      const list = following.get(anchor);
      if (list === undefined) following.set(anchor, [entry]);
      else list.push(entry);
    }
  }
  const order: E[] = [];
  const waiting: E[] = [...(following.get(null) ?? [])];
  for (const entry of skeleton) {
    if (isOurOrder || !isTheirsAlone(entry)) for (const one of waiting.splice(0)) order.push(one);
    order.push(entry);
    for (const one of following.get(entry) ?? []) waiting.push(one);
  }
  return [...order, ...waiting];
}

function isTheirsAlone({ base, ours }: Standing<unknown>): boolean {
  return base === null && ours === null;
}

function isReordered<E>(base: readonly E[], now: readonly E[]): boolean {
  const places = new Map(base.map((entry, at) => [entry, at]));
  let last = -1;
  for (const entry of now) {
    const place = places.get(entry);
    if (place === undefined) continue;
    if (place < last) return true;
    last = place;
  }
  return false;
}
