import type { CommitInfo, Repository } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { StateTreeError } from '../state/errors.ts';
import { type NightRecord, parseNightRecord } from '../state/night-record.ts';

/** A commit that the state's history names as what a run reached. */
export interface RecordedTip {
  readonly oid: Oid;
  readonly runId: string;
  readonly pullRequest: NightRecord['pullRequest'];
}

/** What the nights wrote down of their own commits. It stands on a ref that no pull request can change. */
export interface Records {
  /** Newest first. */
  readonly tips: readonly RecordedTip[];
  /** When the oldest state that is here was written; null where no history of it is here. */
  readonly since: EpochSeconds | null;
}

export const noRecords: Records = { tips: [], since: null };

/** Commits of the state ref that are looked at: two a night. */
const mostNights = 5_000;

/** Reads every night's record in the history of a commit of the state ref; one that cannot be read is passed over. */
export async function recordsOf(repository: Repository, stateOid: Oid): Promise<Records> {
  const commits = await repository.history(stateOid, mostNights);
  const blobs = await repository.oidsAt(
    commits.map(({ oid }) => oid),
    'night.json',
  );
  const known = [...new Set(blobs.flatMap((blob) => blob ?? []))];
  const bytes = known.length === 0 ? [] : await repository.readBlobs(known);
  const nights = new Map(known.map((blob, at) => [blob, nightIn(bytes[at] ?? Buffer.alloc(0))]));
  const tips = new Map<Oid, RecordedTip>();
  const inOrder = blobs.flatMap((blob) => nights.get(blob ?? '') ?? []).reverse();
  for (const { lastRun, recordedTips, pullRequest } of inOrder) {
    for (const oid of Object.values(recordedTips)) {
      // The night that first names a tip made it; what it was proposed as is known a little later.
      const first = tips.get(oid);
      const runId = first?.runId ?? lastRun?.runId;
      if (runId !== undefined) tips.set(oid, { oid, runId, pullRequest: first?.pullRequest ?? pullRequest });
    }
  }
  return { tips: [...tips.values()].reverse(), since: commits.at(-1)?.at ?? null };
}

/** The run that a commit's trailer names; of several the last. A trailer is a claim: anybody can write one. */
export function claimedRun({ message }: Pick<CommitInfo, 'message'>): string | null {
  return [...message.matchAll(/^Memory-Run: ([0-9a-f]{16})[ \t]*\r?$/gm)].at(-1)?.[1] ?? null;
}

/**
 * The run that made a commit, as the records have it: its trailer names the run, and the run reached this very commit,
 * or the one that follows it: a night makes two.
 */
export async function recordedRun(
  repository: Repository,
  commit: CommitInfo,
  records: Records,
): Promise<RecordedTip | null> {
  const claimed = claimedRun(commit);
  for (const tip of records.tips.filter(({ runId }) => runId === claimed)) {
    if (tip.oid === commit.oid) return tip;
    const [known] = await repository.oidsAt([tip.oid], 'state.sqlite.json');
    if (known == null) continue;
    if ((await repository.readCommit(tip.oid)).parents[0] === commit.oid) return tip;
  }
  return null;
}

function nightIn(bytes: Buffer): NightRecord[] {
  try {
    return [parseNightRecord(bytes.toString('utf8'))];
  } catch (error) {
    if (error instanceof StateTreeError) return [];
    throw error;
  }
}
