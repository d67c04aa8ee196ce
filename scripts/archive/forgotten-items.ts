import { titleOf } from '../rollout/thread.ts';
import type { Rollout } from '../rollout/types.ts';
import type { Forgetting } from './tombstones.ts';

/** The rollout without items that were forgotten one by one, or copied from a forgotten one; the rest keep their numbers. */
export function withoutForgotten(rollout: Rollout, forgetting: Forgetting): Rollout {
  if (forgetting.isEmpty) return rollout;
  const { thread } = rollout;
  const items = rollout.items.filter(
    ({ n, at, text }) =>
      !forgetting.hides({ kind: 'item', thread: thread.id, n }) && !forgetting.hides({ kind: 'copy', at, text }),
  );
  const gone = rollout.items.length - items.length;
  if (gone === 0) return rollout;
  const forgotten = gone + (rollout.skipped.forgotten ?? 0);
  return {
    ...rollout,
    thread: { ...thread, title: titleOf(items) },
    skipped: { ...rollout.skipped, forgotten },
    items,
  };
}
