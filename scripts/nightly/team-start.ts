import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { Found } from '../publish/forge.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { openStateOfRef, statePath } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { emptyNightRecord, type NightRecord } from '../state/night-record.ts';
import { listRuns } from '../state/runs.ts';
import { holdScope } from '../state/scopes.ts';
import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import type { FilesByScope, StateTree } from '../state/tree.ts';
import { treeOfFiles, treeRoots } from '../state/tree.ts';
import { everywhere } from '../workspace/layout.ts';
import { mergeMemories } from '../workspace/merge.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import { type Standing, type StandingFacts, standingOf } from './standing.ts';
import type { Start } from './start.ts';
import { type RemoteTips, runsAt, standingFacts } from './team-facts.ts';

export interface TeamStart {
  readonly start: Start;
  readonly standing: Standing;
  readonly tips: RemoteTips;
}

export interface TeamStartPorts {
  readonly repository: Repository;
  readonly remote: Remote;
  /** Before every push. @throws LeaseLostError */
  prove(): Promise<void>;
  /** The pull request, as the host has it; null where it cannot be asked. */
  findPullRequest(night: NightRecord): Promise<Found | null>;
}

/**
 * Where a night of a team starts: finishes a pending push, finds out what became of the last proposal, and takes the
 * memories from where people have them now.
 * @source design §4, "Start of a night"
 * @throws MemoryError when nobody knows what became of the proposal: nothing is paid, nothing held.
 */
export async function loadTeamStart(
  tips: RemoteTips,
  delivery: StandingFacts['delivery'],
  ports: TeamStartPorts,
): Promise<TeamStart> {
  const { repository } = ports;
  const loaded = tips.state === null ? null : await treeAt(repository, tips.state);
  const settled = loaded === null ? { tree: null, tips } : await finishPending(loaded, tips, ports);
  const night = settled.tree?.night ?? emptyNightRecord;
  const mustAsk = delivery === 'pull-request' && night.recordedTips[tips.proposal.ref] !== undefined;
  const found = mustAsk ? await ports.findPullRequest(night) : { recorded: null, open: null };
  const facts = await standingFacts(repository, settled.tips, night, delivery, found);
  const standing = standingOf(facts);
  if (standing.from === 'unknown') throw unknown();
  const place = await placeOf(repository, settled.tips, night, standing, delivery);
  const state = await stateFrom(settled.tree, repository, settled.tips);
  const stateText = settled.tree?.text ?? snapshotOf(state);
  const baseline = settled.tree?.baseline ?? baselineFrom(place.memories);
  const start: Start = {
    ...place,
    state,
    stateText,
    stateOid: tips.state,
    night: { ...night, pendingPush: null, defaultBranchOid: settled.tips.base.oid },
    baseline,
    reviewed: settled.tree?.reviewed ?? new Map(),
    closed: settled.tree?.closed ?? new Map(),
  };
  return { start: afterVerdict(start, standing, facts, settled.tips), standing, tips: settled.tips };
}

/** What the verdict does to the books: merged is reviewed; closed falls back to what was reviewed, and is held. */
function afterVerdict(start: Start, standing: Standing, facts: StandingFacts, tips: RemoteTips): Start {
  const { [tips.proposal.ref]: _tip, ...otherTips } = start.night.recordedTips;
  const night: NightRecord = { ...start.night, recordedTips: otherTips, pullRequest: null };
  if (standing.from === 'merged') return { ...start, night, reviewed: start.baseline };
  if (standing.from !== 'closed') return start;
  const proposed = facts.proposedRuns.filter((run) => !facts.mergedRuns.has(run));
  const scopes = [...start.baseline].filter(([scope, files]) => differs(files, start.reviewed.get(scope)));
  for (const [scope] of scopes) if (scope !== everywhere) holdScope(start.state, scope, proposed);
  const baseline = new Map(start.baseline);
  for (const [scope] of scopes) {
    const reviewed = start.reviewed.get(scope);
    if (reviewed === undefined) baseline.delete(scope);
    else baseline.set(scope, reviewed);
  }
  const key = String(start.night.pullRequest?.number ?? proposed.at(-1) ?? 'unnumbered');
  return { ...start, night, baseline, closed: new Map([...start.closed, [key, new Map(scopes)]]) };
}

type Place = Pick<Start, 'branch' | 'base' | 'reached' | 'parents' | 'memories' | 'standing' | 'before'>;

async function placeOf(
  repository: Repository,
  tips: RemoteTips,
  night: NightRecord,
  verdict: Exclude<Standing, { from: 'unknown' }>,
  delivery: StandingFacts['delivery'],
): Promise<Place> {
  const memoriesAt = async (commit: Oid | null): Promise<Files> =>
    commit === null ? new Map() : repository.readFiles(commit, ['memories']);
  const { base, proposal } = tips;
  const theirs = await memoriesAt(base.oid);
  const target = delivery === 'pull-request' ? proposal : base;
  const recorded = night.recordedTips[target.ref] ?? null;
  const baseParents = base.oid === null ? [] : [base.oid];
  const place = { branch: target.ref, base: target.oid };
  if (verdict.from === 'default') {
    const before = recorded === null || recorded === target.oid ? null : await memoriesAt(recorded);
    const reached = delivery === 'pull-request' ? null : target.oid;
    return { ...place, reached, parents: baseParents, memories: theirs, standing: theirs, before };
  }
  const left = await memoriesAt(recorded);
  const now = await memoriesAt(proposal.oid);
  if (verdict.from === 'branch') {
    const hasMoved = base.oid !== null && base.oid !== night.defaultBranchOid;
    const shared = await memoriesAt(night.defaultBranchOid);
    const memories = hasMoved ? mergeMemories(shared, now, theirs).files : now;
    const parents = [...(proposal.oid === null ? [] : [proposal.oid]), ...(hasMoved ? baseParents : [])];
    const isUntouched = !hasMoved && proposal.oid === recorded;
    const standing = hasMoved ? theirs : now;
    return { ...place, reached: proposal.oid, parents, memories, standing, before: isUntouched ? null : left };
  }
  const hasLate = proposal.oid !== null && proposal.oid !== recorded;
  const accepted =
    verdict.from === 'merged' && !verdict.isWhole
      ? mergeMemories(await memoriesAt(await tipOfRun(repository, recorded, verdict.upTo)), left, theirs).files
      : theirs;
  const memories = hasLate ? mergeMemories(left, accepted, now).files : accepted;
  const parents = [...(hasLate && proposal.oid !== null ? [proposal.oid] : []), ...baseParents];
  const isRejected = verdict.from === 'closed' && verdict.isRejected;
  const before = verdict.from === 'merged' || isRejected ? left : await memoriesAt(night.defaultBranchOid);
  return { ...place, reached: null, parents, memories, standing: theirs, before };
}

/** The last commit of the proposal whose copy of the state ends with that run. */
async function tipOfRun(repository: Repository, tip: Oid | null, run: string | null): Promise<Oid | null> {
  if (tip === null) return null;
  for (const { oid } of await repository.history(tip, 200)) {
    if ((await runsAt(repository, oid)).at(-1) === run) return oid;
  }
  return null;
}

/**
 * A night that died after it had moved the state: its branch follows now if its commits are here; where it cannot, the
 * state before it is taken and the night is played again from the journal.
 */
async function finishPending(
  tree: StateTree,
  tips: RemoteTips,
  { repository, remote, prove }: TeamStartPorts,
): Promise<{ tree: StateTree | null; tips: RemoteTips }> {
  const pending = tree.night.pendingPush;
  if (pending === null) return { tree, tips };
  const side = pending.ref === tips.base.ref ? 'base' : 'proposal';
  const moved = { ...tips, [side]: { ref: pending.ref, oid: pending.tip } };
  const now = tips[side].oid;
  if (now !== null && (await reaches(repository, now, pending.tip))) return { tree, tips };
  if (now === pending.oldOid && (await isHere(repository, pending.tip))) {
    await prove();
    await remote.push([{ ref: pending.ref, expected: pending.oldOid, next: pending.tip }]);
    return { tree, tips: moved };
  }
  return { tree: await lastSettled(repository, tips), tips };
}

/** The newest state whose commits the branches hold. */
async function lastSettled(repository: Repository, tips: RemoteTips): Promise<StateTree | null> {
  for (let at = tips.state; at !== null; ) {
    const [parent] = (await repository.readCommit(at)).parents;
    if (parent === undefined) return null;
    const tree = await treeAt(repository, parent);
    const pending = tree.night.pendingPush;
    const side = pending?.ref === tips.base.ref ? tips.base.oid : tips.proposal.oid;
    if (pending === null || (side !== null && (await reaches(repository, side, pending.tip)))) return tree;
    at = parent;
  }
  return null;
}

export async function treeAt(repository: Repository, commit: Oid): Promise<StateTree> {
  return treeOfFiles(await repository.readFiles(commit, [...treeRoots]));
}

async function reaches(repository: Repository, from: Oid, commit: Oid): Promise<boolean> {
  return (await repository.history(from, 1_000)).some(({ oid }) => oid === commit);
}

async function isHere(repository: Repository, commit: Oid): Promise<boolean> {
  try {
    await repository.readCommit(commit);
    return true;
  } catch (error) {
    if (error instanceof MemoryError) return false;
    throw error;
  }
}

/** Without a state ref: the published copy with the later night, of the default branch and of the proposal. */
async function stateFrom(tree: StateTree | null, repository: Repository, tips: RemoteTips): Promise<State> {
  if (tree !== null) return openStateOfRef(tree.text);
  const copies: string[] = [];
  for (const oid of [tips.base.oid, tips.proposal.oid]) {
    const text = oid === null ? undefined : (await repository.readFiles(oid, [statePath])).get(statePath);
    if (text !== undefined) copies.push(text);
  }
  const states = await Promise.all(copies.map(openState));
  const nightOf = (state: State) => listRuns(state, 1)[0]?.finishedAt ?? 0;
  return states.sort((a, b) => nightOf(b) - nightOf(a))[0] ?? (await emptyState());
}

function baselineFrom(memories: Files): FilesByScope {
  return new Map([...scopesOf(memories), everywhere].map((scope) => [scope, project(memories, scope)]));
}

function differs(a: Files, b: Files | undefined): boolean {
  return b === undefined || a.size !== b.size || [...a].some(([path, text]) => b.get(path) !== text);
}

function unknown(): MemoryError {
  return new MemoryError(
    'The host could not be asked what became of the last pull request, so the night stops before it pays for anything.',
    'Run it again when the host answers and the token may read pull requests: npm run doctor says what is wrong.',
  );
}
