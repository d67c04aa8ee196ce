import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import type { Backend } from './backend.ts';
import { parseCommit } from './commit-text.ts';
import { remoteUrls } from './config-text.ts';
import { GitError } from './errors.ts';
import { refreshFiles } from './file-refresh.ts';
import { readIndex } from './index-file.ts';
import { isomorphicReader } from './isomorphic.ts';
import { type Layout, textOrNull } from './layout.ts';
import type { ReadObjects, TreeEntry } from './objects.ts';
import { listRefFiles, readHeadFile, readRefFile, swapRefFile } from './ref-files.ts';
import { sameLeaf, standingAt } from './standing.ts';
import { isBelow, leavesOf, treesOf } from './tree-read.ts';
import { untrackedAt } from './untracked.ts';

/** Without the git program: isomorphic-git reads objects, the rest is Git's own files. Plain SHA-1 repositories only. */
export function fileBackend(layout: Layout): Backend {
  const { gitDir } = layout;
  const readObjects = isomorphicReader(gitDir);
  return {
    name: 'isomorphic',
    readObjects,
    head: () => readHeadFile(gitDir),
    readRef: (ref) => readRefFile(gitDir, ref),
    listRefs: (prefix) => listRefFiles(gitDir, prefix),
    swapRef: (ref, expected, next) => swapRefFile(gitDir, ref, expected, next),
    remotes: async () => remoteUrls(layout.config),
    firstParents: (from, limit) => firstParents(layout, readObjects, from, limit),
    firstCommit: async (from) => (await firstParents(layout, readObjects, from, Infinity)).at(-1) ?? from,
    uncommitted: (head, paths) => uncommitted(layout, readObjects, head, paths),
    refresh: (_, to, changes) => refreshFiles(layout, readObjects, to, changes),
  };
}

async function firstParents(
  layout: Layout,
  readObjects: ReadObjects,
  from: Oid,
  limit: number,
): Promise<readonly Oid[]> {
  const boundary = new Set(((await textOrNull(join(layout.commonDir, 'shallow'))) ?? '').split('\n'));
  const oids: Oid[] = [];
  for (let next: Oid | undefined = from; next !== undefined && oids.length < limit; ) {
    const [object] = await readObjects([next]);
    if (object?.type !== 'commit')
      throw new GitError(`There is no commit ${next} in this repository.`, 'Check the repository: git fsck');
    oids.push(next);
    next = boundary.has(next) ? undefined : parseCommit(next, object.bytes).parents[0];
  }
  return oids;
}

async function uncommitted(
  layout: Layout,
  readObjects: ReadObjects,
  head: Oid | null,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { workTree, format } = layout;
  if (workTree === null) return [];
  const [commit] = head === null ? [] : await readObjects([head]);
  const root = head === null || !commit ? null : parseCommit(head, commit.bytes).tree;
  const committed = await leavesOf(treesOf(readObjects, format), root, paths);
  const staged = (await readIndex(layout.gitDir)).filter((entry) => isBelow(entry.name, paths));
  const known = new Set(staged.map((entry) => entry.name));
  const differing = [...committed.keys()].filter((path) => !known.has(path));
  for (const entry of staged) {
    const inHead = committed.get(entry.name);
    const same = entry.stage === 0 && sameLeaf(entry, inHead) && (await isAsStaged(layout, workTree, entry));
    if (!same) differing.push(entry.name);
  }
  return [...differing, ...(await untrackedAt(layout, workTree, paths, known))];
}

async function isAsStaged(layout: Layout, workTree: string, entry: TreeEntry): Promise<boolean> {
  if (entry.mode === '160000') return true;
  const standing = await standingAt(layout, workTree, entry.name, [entry]);
  return typeof standing !== 'string' && sameLeaf(entry, standing);
}
