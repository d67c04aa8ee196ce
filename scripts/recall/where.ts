import { realpathSync } from 'node:fs';
import { type Checkouts, checkoutsOnDisk } from '../rollout/checkouts.ts';
import { repositoryId } from '../rollout/identity.ts';

/** The repository that a session works in. */
export interface Where {
  /** Its working tree's root; null outside of any. */
  readonly root: string | null;
  /** Ids of all its remotes, origin first; none where it has no remote, or there is no repository. */
  readonly repositories: readonly string[];
}

/**
 * Finds it from a folder by Git's own files alone, without starting a program: also from a subfolder, a linked worktree
 * (the main repository's remotes) and a submodule (its own). What the remotes' configuration includes is not read. A
 * repository without a remote has no id by which a team could know it, so it gets what holds everywhere.
 */
export async function whereIs(cwd: string, checkouts: Checkouts = checkoutsOnDisk()): Promise<Where> {
  const found = await checkouts.of(resolved(cwd));
  const ids = (found?.remotes ?? []).map(repositoryId).filter((id) => id !== null);
  return { root: found?.root ?? null, repositories: [...new Set(ids)] };
}

/** Where links lead; the folder as it was named where it is gone. */
function resolved(cwd: string): string {
  try {
    return realpathSync.native(cwd);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return cwd;
    throw error;
  }
}
