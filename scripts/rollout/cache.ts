import type { Rollout } from './types.ts';

/** Rollouts as they were read, by the paths of their files. */
export interface RolloutCache {
  add(path: string, rollout: Rollout): void;
  get(path: string): Rollout | undefined;
}

/** Keeps what fits; what does not is read again. @param limit bytes, about. */
export function rolloutCache(limit: number): RolloutCache {
  const kept = new Map<string, Rollout>();
  let used = 0;
  return {
    add(path, rollout) {
      const size = rollout.items.reduce((sum, item) => sum + 2 * item.text.length + 300, 1000);
      if (used + size > limit) return;
      used += size;
      kept.set(path, rollout);
    },
    get: (path) => kept.get(path),
  };
}
