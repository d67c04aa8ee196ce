import type { Repository } from '../git/types.ts';
import type { Files, Oid } from '../shared/files.ts';
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
  const from = history.find(({ oid }) => tips.has(oid))?.oid ?? base;
  return from === null ? null : repository.readFiles(from, ['memories']);
}

/** Commits of people on top of a night's. */
const depth = 1_000;

function tipsOf({ recordedTips, pendingPush }: NightRecord): Oid[] {
  return [...Object.values(recordedTips), ...(pendingPush === null ? [] : [pendingPush.tip])];
}
