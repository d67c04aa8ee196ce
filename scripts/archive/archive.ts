import type { Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';

/** What the archive needs of a remote (`git/remote.ts`). */
export interface ArchiveRemote {
  /** Fetches refs with what they reach. @returns null for a ref that the remote does not have. */
  fetch(refs: readonly string[]): Promise<ReadonlyMap<string, Oid | null>>;
  /** Each ref moves only from its expected oid (null: absent). @throws where one does not. */
  push(updates: readonly { readonly ref: string; readonly expected: Oid | null; readonly next: Oid }[]): Promise<void>;
}

/** The ref that holds the team's sessions. */
export interface Archive {
  /** Where objects are. */
  readonly repository: Repository;
  readonly ref: string;
  /** null: the repository's own ref is the team's. */
  readonly remote: ArchiveRemote | null;
}

/** The commit that the ref holds now, its objects at hand; null where there is no such ref. */
export async function archiveTip({ repository, ref, remote }: Archive): Promise<Oid | null> {
  if (remote === null) return repository.readRef(ref);
  return (await remote.fetch([ref])).get(ref) ?? null;
}
