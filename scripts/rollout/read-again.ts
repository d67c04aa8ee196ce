import { MemoryError } from '../shared/errors.ts';
import type { Entry, ReadingPlace } from './entry.ts';
import type { Reader } from './reader.ts';
import { type Place, rolloutOf } from './thread.ts';
import type { Rollout } from './types.ts';

/** @throws MemoryError for a file that changed or can no longer be read. */
export async function readAgain(
  { found, reader }: Pick<Entry, 'found' | 'reader'>,
  place: ReadingPlace,
  signal?: AbortSignal,
): Promise<Rollout> {
  const reading = await readFile(found.path, reader, place, signal);
  if (reading.outcome === 'session') return place.clean.rollout(await rolloutOf(reading.session, place));
  throw new MemoryError(
    `The session's file changed while it was read: ${reading.reason}.`,
    'Nothing to do: the next night reads it again.',
  );
}

/** What a failure says is kept in the state, so it names no path of this machine. */
async function readFile(path: string, reader: Reader, { home }: Place, signal?: AbortSignal) {
  try {
    return await reader.read(path, { home, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new MemoryError(
      `The session's file can no longer be read (${error.code}).`,
      'Nothing to do: the next night looks for it again.',
      { cause: error },
    );
  }
}
