import type { Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import { threadAt } from './layout.ts';

export interface StoredRollout {
  readonly path: string;
  readonly thread: string;
  readonly oid: Oid;
  readonly bytes: Buffer;
}

/** Read at once: few enough for the memory, many enough that the git program is seldom started. */
const together = 32;

/** The rollouts of a commit of the ref, by path; only those of wanted threads are read. */
export async function* storedRollouts(
  repository: Repository,
  commit: Oid,
  wants: (thread: string) => boolean,
  signal?: AbortSignal,
): AsyncGenerator<StoredRollout> {
  const files = [...(await repository.listFiles(commit, ['']))].flatMap(([path, oid]) => {
    const thread = threadAt(path);
    return thread !== null && wants(thread) ? [{ path, thread, oid }] : [];
  });
  for (let from = 0; from < files.length; from += together) {
    signal?.throwIfAborted();
    const some = files.slice(from, from + together);
    const blobs = await repository.readBlobs(some.map(({ oid }) => oid));
    for (const [at, file] of some.entries()) yield { ...file, bytes: blobs[at] ?? Buffer.alloc(0) };
  }
}
