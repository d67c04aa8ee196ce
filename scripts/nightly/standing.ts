import type { Oid } from '../shared/files.ts';

/** What became of the last night's work, from the recorded facts and today's. */
export interface StandingFacts {
  readonly delivery: 'commit' | 'push' | 'pull-request';
  /** The branch's tip that the last night recorded; null where nothing was ever proposed. */
  readonly recordedTip: Oid | null;
  /** The rolling branch on the remote now; null where it is gone. */
  readonly branch: Oid | null;
  /** Our runs that the default branch holds, by the copies of the state in its history since the recorded commit. */
  readonly mergedRuns: ReadonlySet<string>;
  /** Runs that were proposed and are not known to be merged, oldest first. */
  readonly proposedRuns: readonly string[];
  /** Whether the recorded tip itself stands in the default branch's history. */
  readonly tipReached: boolean;
  /** `none`: no pull request was made yet. `unknown`: the host could not be asked. */
  readonly pullRequest: 'none' | 'open' | 'merged' | 'closed' | 'unknown';
  /** A tip that an earlier night had left, and that the host merged; null where it merged all or nothing. */
  readonly mergedPart: Oid | null;
  readonly isRejected: boolean;
  /** What the branch held when the host closed the pull request; null where it is not closed, or nobody knows. */
  readonly closedTip: Oid | null;
}

/** Where a night takes the memories from. @source design §4, "Start of a night": the first matching row. */
export type Standing =
  /** Nothing is proposed: the default branch is all there is. */
  | { readonly from: 'default' }
  /** Merged, up to a run or a tip that the host names; what was proposed after it is applied again and proposed anew. */
  | { readonly from: 'merged'; readonly upTo: string | null; readonly tip: Oid | null }
  /** Under review, or pushed and not yet proposed: the branch, with the default branch merged in. */
  | { readonly from: 'branch' }
  /** Closed, or the branch deleted: the default branch; what was proposed is held. */
  | { readonly from: 'closed'; readonly isRejected: boolean; readonly tip: Oid | null }
  /** Nobody knows: stop before paying. */
  | { readonly from: 'unknown' };

export function standingOf(facts: StandingFacts): Standing {
  if (facts.delivery !== 'pull-request' || facts.recordedTip === null || facts.proposedRuns.length === 0) {
    return { from: 'default' };
  }
  const last = facts.proposedRuns.at(-1) ?? null;
  const upTo = facts.proposedRuns.findLast((run) => facts.mergedRuns.has(run)) ?? null;
  const isWhole = facts.tipReached || upTo === last || (facts.pullRequest === 'merged' && facts.mergedPart === null);
  // A tip before the recorded one may hold all runs: what people wrote on the branch after it is then to be proposed.
  const tip = facts.tipReached ? null : facts.mergedPart;
  if (isWhole) return { from: 'merged', upTo: last, tip };
  if (upTo !== null || tip !== null) return { from: 'merged', upTo, tip };
  if (facts.pullRequest === 'unknown') return { from: 'unknown' };
  if (facts.pullRequest === 'closed' || facts.branch === null)
    return { from: 'closed', isRejected: facts.isRejected, tip: facts.closedTip };
  return { from: 'branch' };
}
