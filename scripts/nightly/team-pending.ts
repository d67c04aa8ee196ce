import type { Repository } from '../git/types.ts';
import type { Oid } from '../shared/files.ts';
import type { PendingPush } from '../state/night-record.ts';
import { type StateTree, treeOfFiles, treeRoots } from '../state/tree.ts';
import { type RemoteTips, reachedRuns } from './team-facts.ts';
import { ifHere, reaches } from './team-history.ts';

export interface PendingPorts {
  readonly repository: Repository;
  /** Compare-and-swap on the server, the lease proven. @throws RefMovedError */
  swap(ref: string, expected: Oid | null, next: Oid): Promise<void>;
}

export interface Settled {
  /** null: no night has ended yet. */
  readonly tree: StateTree | null;
  readonly tips: RemoteTips;
  /** The tip of a push that was begun and stands on its branch now: what comes after it may be missing. */
  readonly unproposed: Oid | null;
}

/**
 * A night that died after it had moved the state: its branch follows now if its commits are here; where it cannot, the
 * state before it is taken and the night is played again from the journal.
 */
export async function finishPending(tree: StateTree, tips: RemoteTips, ports: PendingPorts): Promise<Settled> {
  const { repository } = ports;
  const pending = tree.night.pendingPush;
  if (pending === null) return { tree, tips, unproposed: null };
  const side = pending.ref === tips.base.ref ? 'base' : 'proposal';
  const now = tips[side].oid;
  const isThere = now !== null && (await reaches(repository, now, pending.tip));
  if (isThere || (await isMerged(repository, tips, pending))) return { tree, tips, unproposed: pending.tip };
  if (now === pending.oldOid && (await ifHere(repository, pending.tip)) !== null) {
    await ports.swap(pending.ref, pending.oldOid, pending.tip);
    return { tree, tips: { ...tips, [side]: { ref: pending.ref, oid: pending.tip } }, unproposed: pending.tip };
  }
  return { tree: await lastSettled(repository, tips), tips, unproposed: null };
}

/** What the state ref's commit holds. @throws StateTreeError */
export async function treeAt(repository: Repository, commit: Oid): Promise<StateTree> {
  return treeOfFiles(await repository.readFiles(commit, [...treeRoots]));
}

/** As it is, or by a squash or rebase that left its run in the copy of the state; the branch may be gone since. */
async function isMerged(repository: Repository, { base }: RemoteTips, { tip, runId }: PendingPush): Promise<boolean> {
  if (base.oid === null) return false;
  const known = await repository.history(base.oid, 1_000);
  if (known.some(({ oid, parents }) => oid === tip || parents.includes(tip))) return true;
  return (await reachedRuns(repository, base.oid)).has(runId);
}

/** The newest state whose commits the branches hold. */
async function lastSettled(repository: Repository, tips: RemoteTips): Promise<StateTree | null> {
  for (let at = tips.state; at !== null; ) {
    const [parent] = (await repository.readCommit(at)).parents;
    const tree = parent === undefined ? null : await stateBefore(repository, parent);
    if (parent === undefined || tree === null) return null;
    const pending = tree.night.pendingPush;
    const side = pending?.ref === tips.base.ref ? tips.base.oid : tips.proposal.oid;
    if (pending === null || (side !== null && (await reaches(repository, side, pending.tip)))) return tree;
    at = parent;
  }
  return null;
}

/** null where the commit is no state: the first one grows from what it proposes alone. */
async function stateBefore(repository: Repository, parent: Oid): Promise<StateTree | null> {
  const files = await repository.readFiles(parent, [...treeRoots]);
  return files.has('night.json') ? treeOfFiles(files) : null;
}
