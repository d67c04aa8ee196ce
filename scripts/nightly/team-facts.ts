import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { type PullRequest, rejectLabel } from '../publish/forge.ts';
import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Files, Oid } from '../shared/files.ts';
import { statePath } from '../state/current.ts';
import { SnapshotError } from '../state/errors.ts';
import type { NightRecord } from '../state/night-record.ts';
import { stateRef } from '../state/ref.ts';
import { parseSnapshotText, valuesOf } from '../state/snapshot-text.ts';
import type { StandingFacts } from './standing.ts';
import { ifHere, reaches } from './team-history.ts';

/** What the remote's refs hold at the start of a night, their objects at hand. */
export interface RemoteTips {
  /** Full name and commit of the branch that people read; null while it has no commit. */
  readonly base: { readonly ref: string; readonly oid: Oid | null };
  /** The one rolling branch. */
  readonly proposal: { readonly ref: string; readonly oid: Oid | null };
  readonly state: Oid | null;
}

/** What the verdict needs to know of the pull requests. */
export interface FoundFacts {
  readonly recorded: PullFacts | null;
  readonly open: PullFacts | null;
}

export type PullFacts = Pick<PullRequest, 'number' | 'url' | 'state' | 'labels' | 'headOid'>;

/** Copies of the state that are looked at in the default branch's history. */
const historyLimit = 400;

/** Twice the time after which what nobody used goes: older commits tell nothing that counts. */
const historyDays = 61;

/** Fetches what a night starts from. @throws what the transport throws; absent refs are null. */
export async function fetchTips(
  remote: Remote,
  names: { readonly base: string | null; readonly branch: string },
  signal?: AbortSignal,
): Promise<RemoteTips> {
  const head = await remote.head(signal);
  const base = `refs/heads/${names.base ?? head?.branch ?? 'main'}`;
  const proposal = `refs/heads/${names.branch}`;
  const fetched = await remote.fetch([base, proposal, stateRef], signal === undefined ? {} : { signal });
  return {
    base: { ref: base, oid: fetched.get(base) ?? null },
    proposal: { ref: proposal, oid: fetched.get(proposal) ?? null },
    state: fetched.get(stateRef) ?? null,
  };
}

/** Our runs that the last proposal holds and the default branch, as the last night saw it, never did; the earliest first. */
export async function proposedRuns(repository: Repository, tips: RemoteTips, night: NightRecord): Promise<string[]> {
  const tip = await ifHere(repository, night.recordedTips[tips.proposal.ref] ?? null);
  const before = await reachedRuns(repository, await ifHere(repository, night.defaultBranchOid));
  return (await runsAt(repository, tip)).filter((run) => !before.has(run));
}

/** What became of the last proposal, from the repository and from the host's answer (null: it could not be asked). */
export async function standingFacts(
  repository: Repository,
  tips: RemoteTips,
  night: NightRecord,
  delivery: StandingFacts['delivery'],
  found: FoundFacts | null,
): Promise<StandingFacts> {
  const recordedTip = night.recordedTips[tips.proposal.ref] ?? null;
  const history = await sinceRecorded(repository, tips.base.oid, night.defaultBranchOid);
  const mergedRuns = new Set((await reachedRuns(repository, tips.base.oid)).keys());
  const request = found?.recorded ?? found?.open ?? null;
  const isPart = request?.state === 'merged' && (await isEarlier(repository, request.headOid, recordedTip));
  if (isPart) for (const run of await runsAt(repository, request.headOid)) mergedRuns.add(run);
  return {
    delivery,
    recordedTip,
    branch: tips.proposal.oid,
    mergedRuns,
    proposedRuns: await proposedRuns(repository, tips, night),
    tipReached: recordedTip !== null && history.includes(recordedTip),
    pullRequest: found === null ? 'unknown' : request === null ? missing(night) : request.state,
    mergedPart: isPart ? request.headOid : null,
    isRejected: request?.labels.includes(rejectLabel) ?? false,
    closedTip: request?.state === 'closed' ? request.headOid : null,
  };
}

/** Run id → when a commit of the branch first held it, of its last months: a revert takes none back. */
export async function reachedRuns(repository: Repository, tip: Oid | null): Promise<Map<string, EpochSeconds>> {
  const reached = new Map<string, EpochSeconds>();
  if (tip === null) return reached;
  const history = await repository.history(tip, historyLimit);
  const since = (history[0]?.at ?? 0) - historyDays * day;
  let last: Oid | undefined;
  for (const { oid, at } of history.filter((commit) => commit.at >= since).toReversed()) {
    const copy = (await repository.listFiles(oid, [statePath])).get(statePath);
    if (copy !== undefined && copy !== last) {
      for (const run of await runsAt(repository, oid)) if (!reached.has(run)) reached.set(run, at);
    }
    last = copy;
  }
  return reached;
}

/** Whether the host merged what an earlier night had left there, a later one having pushed after it. */
async function isEarlier(repository: Repository, merged: Oid | null, recordedTip: Oid | null): Promise<boolean> {
  if (merged === null || recordedTip === null || merged === recordedTip) return false;
  if ((await ifHere(repository, merged)) === null || (await ifHere(repository, recordedTip)) === null) return false;
  return reaches(repository, recordedTip, merged);
}

/** Ids of the runs that a commit's copy of the state holds, the earliest first; none without a copy, or a broken one. */
export async function runsAt(repository: Repository, commit: Oid | null): Promise<string[]> {
  if (commit === null) return [];
  return runsIn(await repository.readFiles(commit, [statePath]));
}

/** What a pull request from `tip` compares with, and the runs that it holds. */
export async function proposedAt(
  repository: Repository,
  { base }: RemoteTips,
  tip: Oid,
): Promise<{ readonly reviewed: Files; readonly runs: readonly string[] }> {
  const reviewed = base.oid === null ? new Map() : await repository.readFiles(base.oid, ['memories']);
  const known = new Set(await runsAt(repository, base.oid));
  return { reviewed, runs: (await runsAt(repository, tip)).filter((run) => !known.has(run)) };
}

/** A recorded number that names nothing any more is as a closed one. */
function missing(night: NightRecord): 'none' | 'closed' {
  return night.pullRequest === null ? 'none' : 'closed';
}

/** First-parent commits of the default branch after the recorded one, newest first; all that is known without it. */
async function sinceRecorded(repository: Repository, tip: Oid | null, recorded: Oid | null): Promise<Oid[]> {
  if (tip === null || tip === recorded) return [];
  const oids = (await repository.history(tip, historyLimit)).map(({ oid }) => oid);
  const end = recorded === null ? -1 : oids.indexOf(recorded);
  return end === -1 ? oids : oids.slice(0, end);
}

function runsIn(files: Files): string[] {
  const text = files.get(statePath);
  if (text === undefined) return [];
  try {
    return runsRecordedIn(text);
  } catch (error) {
    if (error instanceof SnapshotError) return [];
    throw error;
  }
}

function runsRecordedIn(text: string): string[] {
  const table = parseSnapshotText(text).tables.find(({ name }) => name === 'runs');
  const [id, startedAt] = ['run_id', 'started_at'].map((column) => table?.columns.indexOf(column) ?? -1);
  if (table === undefined || id === undefined || startedAt === undefined) return [];
  return table.rows
    .map(valuesOf)
    .map((values) => ({ run: String(values[id]), at: Number(values[startedAt]) }))
    .sort((a, b) => a.at - b.at || (a.run < b.run ? -1 : 1))
    .map(({ run }) => run);
}
