import type { Repository } from '../git/types.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { statePath } from '../state/current.ts';
import type { NightRecord } from '../state/night-record.ts';

/**
 * The memory as the last night left it before a commit: at the nearest commit of its first-parent history that a night
 * reached, or was about to reach when it was cut off; without one in it, at `base`. What differs since then is people's.
 * @param night null where no night is recorded.
 * @param base what the commit is proposed for; null is a branch without commits.
 */
export async function lastNightBefore(
  repository: Repository,
  night: NightRecord | null,
  commit: Oid,
  base: Oid | null,
): Promise<Files | null> {
  const tips = new Set(night === null ? [] : tipsOf(night));
  const history = tips.size === 0 ? [] : await repository.history(commit, depth);
  const reached = history.find(({ oid }) => tips.has(oid))?.oid ?? null;
  const from = reached ?? (commit === base ? await lastNightMerged(repository, night, commit) : null) ?? base;
  return from === null ? null : repository.readFiles(from, ['memories']);
}

/**
 * What a night left of the memory on a branch that people alone move: its tip, where the copy of the state on the branch
 * is that tip's, whatever way it was merged; else the branch as the night saw it, where the copy is the same since.
 * @returns null where nobody knows.
 */
export async function lastNightMerged(
  repository: Repository,
  night: NightRecord | null,
  branch: Oid,
): Promise<Oid | null> {
  const copy = await copyAt(repository, branch);
  if (night === null || copy === null) return null;
  for (const candidate of [...tipsOf(night), night.defaultBranchOid])
    if (candidate !== null && (await copyAt(repository, candidate)) === copy) return candidate;
  return null;
}

/** Commits of people on top of a night's. */
const depth = 1_000;

function tipsOf({ recordedTips, pendingPush }: NightRecord): Oid[] {
  return [...Object.values(recordedTips), ...(pendingPush === null ? [] : [pendingPush.tip])];
}

/** Which copy of the state a commit holds; null where it holds none, or is not here. */
async function copyAt(repository: Repository, commit: Oid): Promise<Oid | null> {
  try {
    return (await repository.listFiles(commit, [statePath])).get(statePath) ?? null;
  } catch (error) {
    if (error instanceof MemoryError) return null;
    throw error;
  }
}
