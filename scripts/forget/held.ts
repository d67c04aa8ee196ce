import type { Rollouts } from '../rollout/source.ts';
import type { Rollout, Thread } from '../rollout/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import type { FilesByScope } from '../state/tree.ts';

/** Everything that may hold what is to be forgotten, as values. */
export interface Held {
  readonly state: State;
  /** Everything below `memories/`, as people have it now. */
  readonly memories: Files;
  readonly baseline: FilesByScope;
  readonly reviewed: FilesByScope;
  readonly closed: ReadonlyMap<string, FilesByScope>;
  /** The team's sessions and this machine's, without their secrets. */
  readonly rollouts: readonly Rollouts[];
}

/**
 * Every copy of every session, as a machine's may differ from the team's; read where `wants` says so. One that cannot be
 * read is passed over: where it holds what is looked for, the look at every object names it.
 */
export async function* sessionsIn(
  { rollouts }: Pick<Held, 'rollouts'>,
  wants: (thread: Thread) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Rollout> {
  for (const source of rollouts)
    for (const { thread } of (await source.list(signal)).found)
      if (wants(thread)) yield* await readOrNone(source, thread.id, signal);
}

async function readOrNone(source: Rollouts, id: string, signal?: AbortSignal): Promise<Rollout[]> {
  try {
    return [await source.read(id, signal)];
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof MemoryError) return [];
    throw error;
  }
}

/** The sessions by what their headers say. */
export async function threadsIn({ rollouts }: Pick<Held, 'rollouts'>, signal?: AbortSignal): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (const source of rollouts) threads.push(...(await source.list(signal)).found.map(({ thread }) => thread));
  return threads;
}
