import type { Rollout } from './types.ts';

/** Rollouts as they were read, by the paths of their files, until somebody takes them. */
export interface RolloutCache {
  add(path: string, rollout: Rollout): void;
  get(path: string): Rollout | undefined;
  /** As `get`, and lets go of it: most are read once. */
  take(path: string): Rollout | undefined;
}

/** Keeps what fits; what does not is read again. @param limit bytes, about. */
export function rolloutCache(limit: number): RolloutCache {
  const kept = new Map<string, { readonly rollout: Rollout; readonly size: number }>();
  let used = 0;
  return {
    add(path, rollout) {
      const size = rollout.items.reduce((sum, { text }) => sum + bytesOf(text) + 300, 1000);
      if (used + size > limit) return;
      used += size;
      kept.set(path, { rollout, size });
    },
    get: (path) => kept.get(path)?.rollout,
    take(path) {
      const entry = kept.get(path);
      if (entry === undefined) return undefined;
      used -= entry.size;
      kept.delete(path);
      return entry.rollout;
    },
  };
}

/** That a string takes in memory: two a character once one of them is beyond Latin-1. */
function bytesOf(text: string): number {
  return /[^\x00-\xff]/.test(text) ? 2 * text.length : text.length;
}
