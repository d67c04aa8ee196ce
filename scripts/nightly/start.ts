import { GitError } from '../git/errors.ts';
import type { Repository } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files, Oid } from '../shared/files.ts';
import { openStateOfRef, statePath } from '../state/current.ts';
import type { State } from '../state/database.ts';
import { emptyNightRecord, type NightRecord } from '../state/night-record.ts';
import { type LoadedState, loadStateRef, saveStateRef, stateRef } from '../state/ref.ts';
import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import type { FilesByScope } from '../state/tree.ts';
import { treeOfFiles, treeRoots } from '../state/tree.ts';
import { everywhere } from '../workspace/layout.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import { ifHere } from './team-history.ts';

/** Everything a night starts from, as values. */
export interface Start {
  /** The full name of the branch that the memory is committed to; `HEAD` where a detached one is looked at. */
  readonly branch: string;
  /** What the branch has to be when it is moved; null where it does not exist. */
  readonly base: Oid | null;
  /** Where the branch counts as reached by us if nothing is committed; null where it holds nothing of ours. */
  readonly reached: Oid | null;
  /** What the new commits grow from: their tree starts as the last one's. Empty on a branch without a commit. */
  readonly parents: readonly Oid[];
  /** Everything below `memories/` as people left it: what the night builds on. */
  readonly memories: Files;
  /** The same on the default branch: what a proposal takes away stands there until it is merged. */
  readonly defaultMemories: Files;
  /** Everything below `memories/` in the tree that the new commits start from. */
  readonly standing: Files;
  /** What the last night left where people worked since; null where nobody can have. */
  readonly before: Files | null;
  /** What people took away elsewhere than on the branch that the night builds on. */
  readonly removals: readonly Removal[];
  /** A pull request that was closed and no longer is: what its rejection had forgotten counts again. */
  readonly reopened: string | null;
  /** What is committed begins a new proposal: the one that is recorded has ended. */
  readonly afresh: boolean;
  /** What the state ref holds is not what the night starts from: a push that was begun has been done or given up. */
  readonly isUnsettled: boolean;
  /** A tip that reached its branch in a push of which no end was recorded. */
  readonly unproposed: Oid | null;
  /** Run id → when it reached the branch that people read; null where every night commits there itself. */
  readonly reachedAt: ReadonlyMap<string, EpochSeconds> | null;
  readonly state: State;
  /** `state` as text, to see whether the night changed it. */
  readonly stateText: string;
  /** What the state ref is expected to be when it is swapped; null where it does not exist. */
  readonly stateOid: Oid | null;
  readonly night: NightRecord;
  readonly baseline: FilesByScope;
  readonly reviewed: FilesByScope;
  readonly closed: ReadonlyMap<string, FilesByScope>;
}

/** Bullets that stood there and stand neither in `now` nor in the memories that the night builds on are forgotten. */
export interface Removal {
  readonly before: Files;
  readonly now: Files;
  readonly reason: string;
  /** Its number, where a verdict on a pull request was the reason: the verdict can be taken back. */
  readonly pullRequest: string | null;
}

/** Paths that are ours in the branch's tree. */
export const ourPaths = ['memories', statePath] as const;

/**
 * Reads where the last night ended. A night that died after it had moved the state ref is finished first: its commits
 * are there and the branch only has to follow; where people moved the branch meanwhile, the state before it is taken
 * and the night is played again from the journal.
 * @param intent `look` writes nothing: what is pending is taken as it will be.
 * @throws GitError for a detached HEAD, and for files of ours that are not committed.
 */
export async function loadStart(repository: Repository, intent: 'work' | 'look' = 'work'): Promise<Start> {
  const head = await repository.head();
  if (head.kind === 'detached' && intent === 'work') {
    throw new GitError(
      'HEAD is detached, so there is no branch to commit the memory to.',
      'Check out a branch first: git switch main',
    );
  }
  const branch = head.kind === 'branch' ? head.ref : 'HEAD';
  const loaded = await loadStateRef(repository, stateRef);
  const pending = loaded?.tree.night.pendingPush ?? null;
  if (intent === 'look') return startAt(repository, branch, head.oid, loaded, loaded?.oid ?? null);
  const isOurs = pending !== null && pending.ref === branch;
  if (isOurs && head.oid === pending.tip) await repository.refresh(pending.oldOid, pending.tip);
  await refuseUncommitted(repository);
  if (loaded === null || pending === null) return startAt(repository, branch, head.oid, loaded, loaded?.oid ?? null);
  if (isOurs && head.oid === pending.oldOid) {
    await repository.swapRef(branch, pending.oldOid, pending.tip);
    await repository.refresh(pending.oldOid, pending.tip);
    const settled = await settle(repository, loaded);
    return startAt(repository, branch, pending.tip, settled, settled.oid);
  }
  if (isOurs && head.oid !== null && (await reached(repository, head.oid, pending.tip))) {
    const settled = await settle(repository, loaded);
    return startAt(repository, branch, head.oid, settled, settled.oid);
  }
  return startAt(repository, branch, head.oid, await lastReached(repository, loaded.oid, head.oid), loaded.oid);
}

/** Writes what the night that died had still to write: the state without what was pending, byte for byte. */
async function settle(repository: Repository, loaded: LoadedState): Promise<LoadedState> {
  const { author, at, message } = await repository.readCommit(loaded.oid);
  const tree = { ...loaded.tree, night: { ...loaded.tree.night, pendingPush: null } };
  const oid = await saveStateRef(repository, { ref: stateRef, expected: loaded.oid, tree, author, at, message });
  return { oid, tree };
}

/** The state before this one whose commits reached the branch: one night may have lost the branch several times. */
async function lastReached(repository: Repository, lost: Oid, head: Oid | null): Promise<LoadedState | null> {
  for (let at = lost; ; ) {
    const [parent] = (await repository.readCommit(at)).parents;
    if (parent === undefined) return null;
    const before = { oid: parent, tree: treeOfFiles(await repository.readFiles(parent, [...treeRoots])) };
    const pending = before.tree.night.pendingPush;
    if (pending === null || (head !== null && (await reached(repository, head, pending.tip)))) return before;
    at = parent;
  }
}

async function refuseUncommitted(repository: Repository): Promise<void> {
  const edited = await repository.uncommitted(ourPaths);
  if (edited.length === 0) return;
  const shown = edited.slice(0, 5).join(', ');
  throw new MemoryError(
    `Not committed: ${shown}${edited.length > 5 ? ` and ${edited.length - 5} more` : ''}. The run stops before it starts, so that no edit is lost.`,
    'Commit the edits (they are kept and built upon), or take them back: git restore --staged --worktree memories state.sqlite.json',
  );
}

/** Whether a commit stands in the branch's recent first-parent history. */
async function reached(repository: Repository, from: Oid, commit: Oid): Promise<boolean> {
  return (await repository.history(from, 1_000)).some(({ oid }) => oid === commit);
}

async function startAt(
  repository: Repository,
  branch: string,
  base: Oid | null,
  loaded: Awaited<ReturnType<typeof loadStateRef>>,
  stateOid: Oid | null,
): Promise<Start> {
  const wanted = loaded === null ? ourPaths : ['memories'];
  const files = base === null ? new Map<string, string>() : await repository.readFiles(base, [...wanted]);
  const memories = new Map([...files].filter(([path]) => path !== statePath));
  const tip = loaded?.tree.night.recordedTips[branch];
  // Whoever wrote the history anew has taken the commit away.
  const left = tip === undefined || tip === base ? null : await ifHere(repository, tip);
  const before = left === null ? null : await repository.readFiles(left, ['memories']);
  const place = {
    branch,
    base,
    reached: base,
    parents: base === null ? [] : [base],
    memories,
    defaultMemories: memories,
    standing: memories,
    before,
    removals: [],
    reopened: null,
    afresh: false,
    isUnsettled: false,
    unproposed: null,
    reachedAt: null,
    stateOid,
  };
  if (loaded !== null) {
    const { text, night, baseline, reviewed, closed } = loaded.tree;
    return { ...place, state: await openStateOfRef(text), stateText: text, night, baseline, reviewed, closed };
  }
  const published = files.get(statePath);
  const state = published === undefined ? await emptyState() : await openState(published);
  return {
    ...place,
    state,
    stateText: published ?? snapshotOf(state),
    night: emptyNightRecord,
    baseline: baselineFrom(memories),
    reviewed: new Map(),
    closed: new Map(),
  };
}

/** Without a state ref the branch's own tree is what the last night left. */
function baselineFrom(memories: Files): FilesByScope {
  return new Map([...scopesOf(memories), everywhere].map((scope) => [scope, project(memories, scope)]));
}
