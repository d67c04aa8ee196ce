import { storedRollouts } from '../archive/stored.ts';
import type { Repository } from '../git/types.ts';
import { parseRollout, RolloutError } from '../rollout/canonical.ts';
import type { Rollouts } from '../rollout/source.ts';
import type { Item, Rollout } from '../rollout/types.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import type { Oid } from '../shared/files.ts';

/** Thread id → the numbers of its items whose words are wanted. */
export type WantedWords = ReadonlyMap<string, readonly ItemNumber[]>;

/** Thread id → item number → the item. Threads whose rollout is not at hand are missing. */
export type FoundWords = ReadonlyMap<string, ReadonlyMap<ItemNumber, Item>>;

/** Reads the words from where they are at hand; fetches nothing. */
export type SessionWords = (wanted: WantedWords) => Promise<FoundWords>;

export interface WordPlaces {
  readonly repository: Repository;
  /** A commit of the rollouts ref; null where this clone has none. */
  readonly archived: Oid | null;
  /** Where to look for what the ref does not hold, secrets removed. */
  readonly local: Rollouts | null;
}

/**
 * Items of sessions from the rollouts ref, then from local sources. A stored rollout that is damaged counts as one that
 * is not there: the report still has what was extracted of it.
 */
export function sessionWords({ repository, archived, local }: WordPlaces, signal?: AbortSignal): SessionWords {
  return async (wanted) => {
    const found = new Map<string, ReadonlyMap<ItemNumber, Item>>();
    if (archived !== null)
      for await (const { thread, bytes } of storedRollouts(repository, archived, (id) => wanted.has(id), signal)) {
        const rollout = readable(bytes);
        if (rollout?.thread.id === thread) found.set(thread, itemsOf(rollout, wanted.get(thread) ?? []));
      }
    const missing = [...wanted.keys()].filter((thread) => !found.has(thread));
    if (local === null || missing.length === 0) return found;
    const there = new Set((await local.list(signal)).found.map(({ thread }) => thread.id));
    for (const thread of missing.filter((id) => there.has(id)))
      found.set(thread, itemsOf(await local.read(thread, signal), wanted.get(thread) ?? []));
    return found;
  };
}

function readable(bytes: Buffer): Rollout | null {
  try {
    return parseRollout(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof RolloutError) return null;
    throw error;
  }
}

function itemsOf({ items }: Rollout, numbers: readonly ItemNumber[]): Map<ItemNumber, Item> {
  const wanted = new Set(numbers);
  return new Map(items.filter(({ n }) => wanted.has(n)).map((item) => [item.n, item]));
}
