import type { Oid } from '../shared/files.ts';
import { overwriteError } from './errors.ts';
import { lstatOrNull } from './layout.ts';
import { shownPath } from './objects.ts';
import { type Leaf, placeOf, type Standing, sameLeaf } from './standing.ts';
import type { TreeChange } from './tree-read.ts';

/** What the index holds, by raw path; `conflict` for a path with several sides. */
export type Staged = ReadonlyMap<string, Leaf | 'conflict'>;

export interface RefreshPlan {
  /** Still as in the old commit: to be written or removed. */
  readonly unwritten: readonly TreeChange[];
  /** As in the new commit already. */
  readonly written: readonly TreeChange[];
}

/**
 * Compares every path that is to change before any is touched.
 * @throws GitError that names the first path which is neither as in the old commit nor as in the new one.
 */
export async function planRefresh(
  workTree: string,
  to: Oid,
  changes: readonly TreeChange[],
  staged: Staged,
  standingOf: (change: TreeChange) => Promise<Standing>,
): Promise<RefreshPlan> {
  const removed = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  const unwritten: TreeChange[] = [];
  const written: TreeChange[] = [];
  for (const change of changes) {
    const obstacle = change.after === null ? null : await fileOnTheWay(workTree, change.path, removed);
    if (obstacle !== null) throw overwriteError(shownPath(obstacle), to);
    const state = stateOf(change, staged.get(change.path) ?? null, await standingOf(change));
    if (state === null) throw overwriteError(shownPath(change.path), to);
    (state === 'after' ? written : unwritten).push(change);
  }
  return { unwritten, written };
}

function stateOf(
  { before, after }: TreeChange,
  staged: Leaf | 'conflict' | null,
  standing: Standing,
): 'before' | 'after' | null {
  if (staged === 'conflict' || !(sameLeaf(staged, before) || sameLeaf(staged, after))) return null;
  if (after?.mode === submodule || before?.mode === submodule) return 'before';
  if (standing === 'other') return null;
  const leaf = standing === 'absent' ? null : standing;
  if (sameLeaf(leaf, after)) return 'after';
  return sameLeaf(leaf, before) ? 'before' : null;
}

const submodule = '160000';

/** A file that stands where a folder is needed, unless it is one of those that go. */
async function fileOnTheWay(workTree: string, path: string, removed: ReadonlySet<string>): Promise<string | null> {
  const parts = path.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const folder = parts.slice(0, length).join('/');
    const found = await lstatOrNull(placeOf(workTree, folder));
    if (found === null) return null;
    if (!found.isDirectory()) return removed.has(folder) ? null : folder;
  }
  return null;
}
