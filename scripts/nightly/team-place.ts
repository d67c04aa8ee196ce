import type { Repository } from '../git/types.ts';
import type { Files, Oid } from '../shared/files.ts';
import type { NightRecord } from '../state/night-record.ts';
import { mergeMemories } from '../workspace/merge.ts';
import type { Standing, StandingFacts } from './standing.ts';
import type { Removal, Start } from './start.ts';
import { type RemoteTips, runsAt } from './team-facts.ts';
import { forkPoint, ifHere, memoriesAt, reaches } from './team-history.ts';

export type Verdict = Exclude<Standing, { from: 'unknown' }>;

type PlaceFields =
  | 'branch'
  | 'base'
  | 'reached'
  | 'parents'
  | 'memories'
  | 'defaultMemories'
  | 'standing'
  | 'before'
  | 'removals'
  | 'afresh';

/** Where a night's commits go, and what they start from. */
export interface Place extends Pick<Start, PlaceFields> {
  /** Of a proposal that was not merged as the last night left it: its memory as it was merged; else null. */
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
  const isRejected = verdict.from === 'closed' && verdict.isRejected;
  const rejected = isRejected ? await closedTip(repository, verdict.tip, recorded) : null;
  // What people did there before they rejected it is rejected as well.
  const late = await lateWork(repository, tips, rejected ?? recorded);
  const merged =
    verdict.from === 'merged'
      ? (verdict.tip ?? (await mergedTip(repository, recorded, verdict.upTo, base.oid)))
      : recorded;
  const mergedPart = merged === recorded ? null : await memoriesAt(repository, merged);
  const accepted = mergedPart === null ? theirs : mergeMemories(mergedPart, left, theirs).files;
  const memories = late === null ? accepted : mergeMemories(late.since, accepted, late.files).files;
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
    defaultMemories: theirs,
    standing: theirs,
    before: isMerged ? left : hasMoved ? await memoriesAt(repository, seen) : null,
    removals: [
      ...(late === null ? [] : [{ before: late.since, now: late.files, reason: removedLate, pullRequest: null }]),
      ...(rejected === null ? [] : [rejection(await memoriesAt(repository, rejected), theirs, night)]),
    ],
    afresh: true,
    mergedPart,
  };
}

const removedLate = 'a person removed the line';

function rejection(left: Files, theirs: Files, night: NightRecord): Removal {
  const pullRequest = night.pullRequest === null ? null : String(night.pullRequest.number);
  return { before: left, now: theirs, reason: 'the pull request was rejected', pullRequest };
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
    defaultMemories: theirs,
    standing: theirs,
    before: recorded === null || recorded === base.oid ? null : await memoriesAt(repository, recorded),
    removals: [],
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
  const fork = hasMoved
    ? await mergeBase(repository, { base: base.oid, proposal: proposal.oid }, { recorded, seen })
    : seen;
  const isUntouched = !hasMoved && proposal.oid === recorded;
  return {
    branch: proposal.ref,
    base: proposal.oid,
    reached: proposal.oid,
    parents: [...(proposal.oid === null ? [] : [proposal.oid]), ...(hasMoved ? [base.oid] : [])],
    memories: hasMoved ? mergeMemories(await memoriesAt(repository, fork), now, theirs).files : now,
    defaultMemories: theirs,
    standing: hasMoved ? theirs : now,
    before: isUntouched || recorded === null ? null : left,
    removals: [],
    afresh: false,
    mergedPart: null,
  };
}

/** What the branch last had of the default branch: what the last night saw, unless somebody set it back to before that. */
async function mergeBase(
  repository: Repository,
  { base, proposal }: { readonly base: Oid; readonly proposal: Oid | null },
  { recorded, seen }: Pick<Known, 'recorded' | 'seen'>,
): Promise<Oid | null> {
  if (proposal === null) return seen;
  const isOnward = recorded !== null && (await reaches(repository, proposal, recorded));
  return seen !== null && isOnward ? seen : forkPoint(repository, base, proposal);
}

/** What was closed: the last night's tip, or what people had put on it. A night that was at work may have gone on after the close. */
async function closedTip(repository: Repository, tip: Oid | null, recorded: Oid | null): Promise<Oid | null> {
  const closed = await ifHere(repository, tip);
  if (closed === null || recorded === null) return recorded;
  return (await reaches(repository, closed, recorded)) ? closed : recorded;
}

interface LateWork {
  readonly tip: Oid;
  readonly files: Files;
  /** What it grew from: the recorded tip, or an older one to which somebody had set the branch back. */
  readonly since: Files;
}

/** What people did on the branch after its proposal had ended; a branch that was only set back holds nothing new. */
async function lateWork(
  repository: Repository,
  { base, proposal }: RemoteTips,
  recorded: Oid | null,
): Promise<LateWork | null> {
  const tip = proposal.oid;
  if (tip === null || recorded === null || tip === recorded) return null;
  if (await reaches(repository, recorded, tip)) return null;
  if (base.oid !== null && (await reaches(repository, base.oid, tip))) return null;
  const since = (await reaches(repository, tip, recorded)) ? recorded : await forkPoint(repository, recorded, tip);
  return { tip, files: await memoriesAt(repository, tip), since: await memoriesAt(repository, since) };
}

/**
 * The commit of the proposal that was merged: of those with that run as the last, the one that stands as it is in the
 * default branch's history, else the newest.
 */
async function mergedTip(
  repository: Repository,
  recorded: Oid | null,
  upTo: string | null,
  base: Oid | null,
): Promise<Oid | null> {
  if (recorded === null || base === null) return recorded;
  const candidates: Oid[] = [];
  for (const { oid } of await repository.history(recorded, 200)) {
    const last = (await runsAt(repository, oid)).at(-1);
    if (last === upTo) candidates.push(oid);
    else if (candidates.length > 0) break;
  }
  const standing = new Set<string>();
  for (const { oid } of await repository.history(base, 50)) standing.add(await treeOf(repository, oid));
  for (const oid of candidates) if (standing.has(await treeOf(repository, oid))) return oid;
  return candidates[0] ?? recorded;
}

async function treeOf(repository: Repository, commit: Oid): Promise<string> {
  return JSON.stringify([...(await repository.listFiles(commit, ['memories']))]);
}
