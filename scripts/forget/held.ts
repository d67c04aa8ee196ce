import type { NoteThread } from '../archive/note-items.ts';
import type { Rollouts } from '../rollout/source.ts';
import type { Rollout } from '../rollout/types.ts';
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
  /** Notes of the team, whether a night has taken them in or not. */
  readonly notes: readonly NoteThread[];
}

/** What a session or a note says, as evidence names it. */
export type Session = NoteThread;

/**
 * Every note, and every copy of every session, as a machine's may differ from the team's; read where `wants` says so. One that cannot be
 * read is passed over: where it holds what is looked for, the look at every object names it.
 */
export async function* sessionsIn(
  { rollouts, notes }: Pick<Held, 'rollouts' | 'notes'>,
  wants: (thread: Session['thread']) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<Session> {
  yield* notes.filter(({ thread }) => wants(thread));
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

/** The notes, and the sessions by what their headers say. */
export async function threadsIn(
  { rollouts, notes }: Pick<Held, 'rollouts' | 'notes'>,
  signal?: AbortSignal,
): Promise<Session['thread'][]> {
  const threads = notes.map(({ thread }) => thread);
  for (const source of rollouts) threads.push(...(await source.list(signal)).found.map(({ thread }) => thread));
  return threads;
}
