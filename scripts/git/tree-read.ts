import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';
import { isFolder, type ObjectFormat, parseTree, type ReadObjects, type TreeEntry } from './objects.ts';

/** A leaf that differs between two trees; `path` is raw. */
export interface TreeChange {
  readonly path: string;
  readonly before: TreeEntry | null;
  readonly after: TreeEntry | null;
}

/** Trees by oid, read a level at a time: one batch for each depth, however many folders it has. Those read once are kept. */
export interface Trees {
  /** null stands for the empty tree. */
  read(oids: readonly (Oid | null)[]): Promise<TreeEntry[][]>;
}

export function treesOf(readObjects: ReadObjects, format: ObjectFormat): Trees {
  const kept = new Map<Oid, TreeEntry[]>();
  let room = mostKept;
  return {
    async read(oids) {
      const missing = [...new Set(oids.filter((oid) => oid !== null))].filter((oid) => !kept.has(oid));
      const found = missing.length === 0 ? [] : await readObjects(missing);
      const fresh = new Map(
        missing.map((oid, at) => {
          const object = found[at];
          if (object?.type !== 'tree')
            throw new GitError(`The tree ${oid} is missing.`, 'Check the repository: git fsck. Or clone it again.');
          return [oid, parseTree(object.bytes, format)] as const;
        }),
      );
      for (const [oid, entries] of fresh) {
        if (entries.length > room) continue;
        room -= entries.length;
        kept.set(oid, entries);
      }
      return oids.map((oid) => (oid === null ? [] : (fresh.get(oid) ?? kept.get(oid) ?? [])));
    },
  };
}

/** Entries of trees: enough for every folder of a team's month, some 20 MB at most. */
const mostKept = 100_000;

const maxDepth = 100;
const maxLeaves = 200_000;

/** Every leaf (file, link, submodule) at or below the raw paths, by its raw path. An empty path is the whole tree. */
export async function leavesOf(
  trees: Trees,
  root: Oid | null,
  paths: readonly string[],
): Promise<Map<string, TreeEntry>> {
  const leaves = new Map<string, TreeEntry>();
  let level: { readonly prefix: string; readonly oid: Oid | null }[] = [{ prefix: '', oid: root }];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth || leaves.size + level.length > maxLeaves)
      throw new GitError(
        `The tree ${root} is deeper than ${maxDepth} folders or holds more than ${maxLeaves} files.`,
        'Such a tree is made to harm its readers: do not merge it.',
      );
    const read = await trees.read(level.map((folder) => folder.oid));
    const next: typeof level = [];
    read.forEach((entries, at) => {
      for (const entry of entries) {
        const path = `${level[at]?.prefix ?? ''}${entry.name}`;
        const within = isBelow(path, paths);
        if (!isFolder(entry)) {
          if (within) leaves.set(path, entry);
        } else if (within || paths.some((wanted) => wanted.startsWith(`${path}/`))) {
          next.push({ prefix: `${path}/`, oid: entry.oid });
        }
      }
    });
    level = next;
  }
  return leaves;
}

/** The leaves that differ, by raw path. Folders with equal oids are not opened. */
export async function changedLeaves(trees: Trees, before: Oid | null, after: Oid | null): Promise<TreeChange[]> {
  const changes: TreeChange[] = [];
  let level: Pair[] = before === after ? [] : [{ prefix: '', before, after }];
  while (level.length > 0) {
    const read = await trees.read(level.flatMap((pair) => [pair.before, pair.after]));
    const next: Pair[] = [];
    level.forEach(({ prefix }, at) => {
      const old = byName(read[at * 2] ?? []);
      const fresh = byName(read[at * 2 + 1] ?? []);
      for (const name of new Set([...old.keys(), ...fresh.keys()])) {
        compare(`${prefix}${name}`, old.get(name) ?? null, fresh.get(name) ?? null, changes, next);
      }
    });
    level = next;
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether a raw path is one of `paths` or below one. An empty one holds everything. */
export function isBelow(path: string, paths: readonly string[]): boolean {
  return paths.some((wanted) => wanted === '' || path === wanted || path.startsWith(`${wanted}/`));
}

interface Pair {
  readonly prefix: string;
  readonly before: Oid | null;
  readonly after: Oid | null;
}

function compare(
  path: string,
  before: TreeEntry | null,
  after: TreeEntry | null,
  changes: TreeChange[],
  next: Pair[],
): void {
  if (before?.oid === after?.oid && before?.mode === after?.mode) return;
  const [oldFolder, oldLeaf] = sides(before);
  const [newFolder, newLeaf] = sides(after);
  if (oldLeaf !== null || newLeaf !== null) changes.push({ path, before: oldLeaf, after: newLeaf });
  if (oldFolder !== newFolder) next.push({ prefix: `${path}/`, before: oldFolder, after: newFolder });
}

function sides(entry: TreeEntry | null): [folder: Oid | null, leaf: TreeEntry | null] {
  if (entry === null) return [null, null];
  return isFolder(entry) ? [entry.oid, null] : [null, entry];
}

function byName(entries: readonly TreeEntry[]): Map<string, TreeEntry> {
  return new Map(entries.map((entry) => [entry.name, entry]));
}
