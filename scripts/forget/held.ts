import type { Rollouts } from '../rollout/source.ts';
import type { Rollout, Thread } from '../rollout/types.ts';
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

/** Every copy of every session, as a machine's may differ from the team's; read where `wants` says so. */
export async function* sessionsIn(
  { rollouts }: Pick<Held, 'rollouts'>,
  wants: (thread: Thread) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Rollout> {
  for (const source of rollouts)
    for (const { thread } of (await source.list(signal)).found)
      if (wants(thread)) yield await source.read(thread.id, signal);
}

/** The sessions by what their headers say. */
export async function threadsIn({ rollouts }: Pick<Held, 'rollouts'>, signal?: AbortSignal): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (const source of rollouts) threads.push(...(await source.list(signal)).found.map(({ thread }) => thread));
  return threads;
}
