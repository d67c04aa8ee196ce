import type { CommitInfo, Repository } from '../git/types.ts';
import type { State } from '../state/database.ts';
import { listRuns } from '../state/runs.ts';
import type { RunRow } from '../state/types.ts';
import { type PullRequest, pullRequestIn } from './pull-request.ts';
import { claimedRun, type RecordedTip, type Records, recordedRun } from './records.ts';
import type { Passage } from './trace.ts';

/** Who made a commit. A run is believed by the state's record; by its trailer only where no record can say otherwise. */
export type Maker =
  | { readonly kind: 'run'; readonly runId: string; readonly by: 'record' | 'trailer' }
  /** `claims`: a run that the message names, and that the records do not confirm. */
  | { readonly kind: 'person'; readonly claims: string | null };

/** A commit with what the state and the messages around it say. */
export interface CommitFacts {
  readonly commit: CommitInfo;
  readonly maker: Maker;
  /** The maker's line of the ledger; null for a person, and for a run that the state no longer lists. */
  readonly run: RunRow | null;
  readonly pullRequest: PullRequest | null;
  readonly via: readonly Passage[];
}

export interface Witnesses {
  readonly repository: Repository;
  readonly state: State;
  readonly records: Records;
}

/** All runs that a state lists: one a night. */
const everyRun = 1_000_000;

export async function factsOf(
  commit: CommitInfo,
  via: readonly Passage[],
  { repository, state, records }: Witnesses,
): Promise<CommitFacts> {
  const claimed = claimedRun(commit);
  const run = claimed === null ? null : (listRuns(state, everyRun).find(({ runId }) => runId === claimed) ?? null);
  const tip = await recordedRun(repository, commit, records);
  const told = [...via.map((passage) => passage.commit), commit].map(pullRequestIn).find((found) => found !== null);
  const maker: Maker =
    tip !== null
      ? { kind: 'run', runId: tip.runId, by: 'record' }
      : run !== null && isBelieved(run, told ?? null, records)
        ? { kind: 'run', runId: run.runId, by: 'trailer' }
        : { kind: 'person', claims: claimed };
  const pullRequest = withAddress(told ?? null, tip, records);
  return { commit, maker, run: maker.kind === 'run' ? run : null, pullRequest, via };
}

/** Nothing is recorded of so early a run, or it was proposed as the very pull request that this commit merges. */
function isBelieved({ runId, startedAt }: RunRow, pullRequest: PullRequest | null, { tips, since }: Records): boolean {
  if (since === null || startedAt < since) return true;
  return tips.some(
    (tip) => tip.runId === runId && tip.pullRequest !== null && tip.pullRequest.number === pullRequest?.number,
  );
}

function withAddress(told: PullRequest | null, tip: RecordedTip | null, { tips }: Records): PullRequest | null {
  if (told === null) return tip?.pullRequest == null ? null : { ...tip.pullRequest, from: 'record' };
  const recorded = tips.find(({ pullRequest }) => pullRequest?.number === told.number)?.pullRequest;
  return recorded == null ? told : { ...told, url: recorded.url };
}
