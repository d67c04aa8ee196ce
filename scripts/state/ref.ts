import type { Repository, Signature } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { filesOfTree, type StateTree, treeOfFiles, treeRoots } from './tree.ts';

/** Where the truth is. */
export const stateRef = 'refs/memory/state';

export interface LoadedState {
  /** The commit that a save has to expect. */
  readonly oid: Oid;
  readonly tree: StateTree;
}

/** The bookkeeping as the ref holds it; null where the ref does not exist. */
export async function loadStateRef(repository: Repository, ref: string): Promise<LoadedState | null> {
  const oid = await repository.readRef(ref);
  if (oid === null) return null;
  return { oid, tree: treeOfFiles(await repository.readFiles(oid, treeRoots)) };
}

export interface StateSave {
  readonly ref: string;
  /** What was loaded; null where nothing was. It becomes the new commit's parent. */
  readonly expected: Oid | null;
  /** A commit that the state names and whoever fetches it needs; it becomes a further parent. */
  readonly proposed?: Oid | null;
  readonly tree: StateTree;
  readonly at: EpochSeconds;
  readonly author: Signature;
  readonly message: string;
}

/** Writes the commit that replaces the bookkeeping as a whole, its parent the replaced one; moves no ref. */
export function writeStateCommit(repository: Repository, save: Omit<StateSave, 'ref'>): Promise<Oid> {
  return repository.writeCommit({
    base: null,
    parents: [save.expected, save.proposed ?? null].filter((parent) => parent !== null),
    changes: filesOfTree(save.tree),
    message: save.message,
    author: save.author,
    at: save.at,
  });
}

/**
 * Replaces the bookkeeping as a whole.
 * @returns the new commit.
 * @throws RefMovedError when the ref is no longer what was expected: load it anew and replay.
 */
export async function saveStateRef(repository: Repository, save: StateSave): Promise<Oid> {
  const commit = await writeStateCommit(repository, save);
  await repository.swapRef(save.ref, save.expected, commit);
  return commit;
}
