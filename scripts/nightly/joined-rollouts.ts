import type { Rollouts } from '../rollout/source.ts';
import { byBinary } from '../shared/files.ts';

/** The sessions of both; of one that both have, the copy with more items counts, the first one's if they are equal. */
export function joinedRollouts(first: Rollouts, second: Rollouts): Rollouts {
  const owner = new Map<string, Rollouts>();
  return {
    async list(signal) {
      const [a, b] = [await first.list(signal), await second.list(signal)];
      const found = new Map(a.found.map((entry) => [entry.thread.id, entry]));
      for (const entry of a.found) owner.set(entry.thread.id, first);
      for (const entry of b.found) {
        if ((found.get(entry.thread.id)?.items ?? -1) >= entry.items) continue;
        found.set(entry.thread.id, entry);
        owner.set(entry.thread.id, second);
      }
      return {
        found: [...found.values()].sort((x, y) => byBinary(x.thread.id, y.thread.id)),
        ignored: [...a.ignored, ...b.ignored],
      };
    },
    read: (threadId, signal) => (owner.get(threadId) ?? first).read(threadId, signal),
    cleaned: (clean) => joinedRollouts(first.cleaned(clean), second.cleaned(clean)),
  };
}
