import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

/**
 * Maps with at most `width` at work at once; results in the order of the items. After a rejection or an abort no
 * further item is begun, what is under way is awaited, and then the first rejection flies. Given a signal, the event loop
 * turns before each item, since Ctrl-C is heard only then: work that merely computes would never let it in.
 */
export async function mapLimit<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T, index: number) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  const limit = pLimit(Math.max(1, width));
  const failures: unknown[] = [];
  const results = await Promise.all(
    items.map((item, index) =>
      limit(async (): Promise<R | undefined> => {
        if (failures.length > 0) return undefined;
        try {
          if (signal !== undefined) await setImmediate();
          signal?.throwIfAborted();
          return await work(item, index);
        } catch (error) {
          failures.push(error);
          return undefined;
        }
      }),
    ),
  );
  if (failures.length > 0) throw failures[0];
  return results as R[];
}
