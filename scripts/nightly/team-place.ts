import type { Repository } from '../git/types.ts';
import type { Files, Oid } from '../shared/files.ts';
import type { NightRecord } from '../state/night-record.ts';
import { mergeMemories } from '../workspace/merge.ts';
import type { Standing, StandingFacts } from './standing.ts';
import type { Start } from './start.ts';
import { type RemoteTips, runsAt } from './team-facts.ts';
import { forkPoint, ifHere, memoriesAt, reaches } from './team-history.ts';

export type Verdict = Exclude<Standing, { from: 'unknown' }>;

type PlaceFields =
  | 'branch'
  | 'base'
  | 'reached'
  | 'parents'
  | 'memories'
  | 'standing'
  | 'before'
  | 'rejected'
  | 'afresh';

/** Where a night's commits go, and what they start from. */
export interface Place extends Pick<Start, PlaceFields> {
  /** Of a proposal that was merged up to an earlier night: its memory as it was merged; else null. */
  readonly mergedPart: Files | null;
}

/**
 * The memories as people have them now, by what became of the last proposal.
 * @param night as the last night recorded it.
 */
export async function placeOf(
  repository: Repository,
  tips: RemoteTips,
  night: NightRecord,
  verdict: Verdict,
  delivery: StandingFacts['delivery'],
): Promise<Place> {
  if (delivery !== 'pull-request') return onBase(repository, tips, night);
  const { base, proposal } = tips;
  const recorded = await ifHere(repository, night.recordedTips[proposal.ref] ?? null);
  const seen = await ifHere(repository, night.defaultBranchOid);
  const theirs = await memoriesAt(repository, base.oid);
  const left = await memoriesAt(repository, recorded);
  if (verdict.from === 'branch') return underReview(repository, tips, { recorded, seen, theirs, left });
  const late = await lateWork(repository, tips, recorded);
  const mergedPart =
    verdict.from === 'merged' && !verdict.isWhole
      ? await memoriesAt(repository, await tipOfRun(repository, recorded, verdict.upTo))
      : null;
  const accepted = mergedPart === null ? theirs : mergeMemories(mergedPart, left, theirs).files;
  const memories = late === null ? accepted : mergeMemories(left, accepted, late.files).files;
  // What nobody recorded is kept in the history: it may be a person's.
  const kept = recorded === null ? proposal.oid : (late?.tip ?? null);
  const isMerged = verdict.from === 'merged' && recorded !== null;
  const hasMoved = seen !== null && (seen !== base.oid || late !== null);
  return {
    branch: proposal.ref,
    base: proposal.oid,
    reached: null,
    parents: [kept, base.oid].filter((parent) => parent !== null),
    memories,
    standing: theirs,
    before: isMerged ? left : hasMoved ? await memoriesAt(repository, seen) : null,
    rejected:
      verdict.from === 'closed' && verdict.isRejected
        ? { files: left, pullRequest: night.pullRequest === null ? null : String(night.pullRequest.number) }
        : null,
    afresh: true,
    mergedPart,
  };
}

/** Delivered without review: the default branch is the branch. */
async function onBase(repository: Repository, { base }: RemoteTips, night: NightRecord): Promise<Place> {
  const recorded = await ifHere(repository, night.recordedTips[base.ref] ?? null);
  const theirs = await memoriesAt(repository, base.oid);
  return {
    branch: base.ref,
    base: base.oid,
    reached: base.oid,
    parents: base.oid === null ? [] : [base.oid],
    memories: theirs,
    standing: theirs,
    before: recorded === null || recorded === base.oid ? null : await memoriesAt(repository, recorded),
    rejected: null,
    afresh: false,
    mergedPart: null,
  };
}

interface Known {
  /** The proposal's tip as the last night left it, and the default branch as it saw it; null where they are not here. */
  readonly recorded: Oid | null;
  readonly seen: Oid | null;
  readonly theirs: Files;
  readonly left: Files;
}

async function underReview(
  repository: Repository,
  { base, proposal }: RemoteTips,
  { recorded, seen, theirs, left }: Known,
): Promise<Place> {
  const now = await memoriesAt(repository, proposal.oid);
  const hasMoved = base.oid !== null && base.oid !== seen;
  const hasBoth = base.oid !== null && proposal.oid !== null;
  const fork = seen === null && hasBoth ? await forkPoint(repository, base.oid, proposal.oid) : seen;
  const isUntouched = !hasMoved && proposal.oid === recorded;
  return {
    branch: proposal.ref,
    base: proposal.oid,
    reached: proposal.oid,
    parents: [...(proposal.oid === null ? [] : [proposal.oid]), ...(hasMoved ? [base.oid] : [])],
    memories: hasMoved ? mergeMemories(await memoriesAt(repository, fork), now, theirs).files : now,
    standing: hasMoved ? theirs : now,
    before: isUntouched || recorded === null ? null : left,
    rejected: null,
    afresh: false,
    mergedPart: null,
  };
}

/** What people did on the branch after its proposal had ended; a branch that was only set back holds nothing new. */
async function lateWork(
  repository: Repository,
  { base, proposal }: RemoteTips,
  recorded: Oid | null,
): Promise<{ readonly tip: Oid; readonly files: Files } | null> {
  const tip = proposal.oid;
  if (tip === null || recorded === null || tip === recorded) return null;
  if (await reaches(repository, recorded, tip)) return null;
  if (base.oid !== null && (await reaches(repository, base.oid, tip))) return null;
  return { tip, files: await memoriesAt(repository, tip) };
}

/** The last commit of the proposal whose copy of the state ends with that run. */
async function tipOfRun(repository: Repository, tip: Oid | null, run: string | null): Promise<Oid | null> {
  if (tip === null) return null;
  for (const { oid } of await repository.history(tip, 200)) {
    if ((await runsAt(repository, oid)).at(-1) === run) return oid;
  }
  return null;
}
