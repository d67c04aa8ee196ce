import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';

/** The ref that holds the team's sessions. */
export interface Archive {
  /** Where objects are. */
  readonly repository: Repository;
  readonly ref: string;
  /** null: the repository's own ref is the team's. */
  readonly remote: Pick<Remote, 'fetch' | 'push'> | null;
}

/** The commit that the ref holds now, its objects at hand; null where there is no such ref. */
export async function archiveTip({ repository, ref, remote }: Archive, signal?: AbortSignal): Promise<Oid | null> {
  if (remote === null) return repository.readRef(ref);
  return (await remote.fetch([ref], signal === undefined ? {} : { signal })).get(ref) ?? null;
}
