import type { Oid } from '../shared/files.ts';
import { parseCommit } from './commit-text.ts';
import { isFolder, isRegularFile, type ObjectFormat, parseTree, type ReadObjects } from './objects.ts';

/** Commits whose trees are looked at together: few enough for the memory, many enough that the program seldom starts. */
const together = 500;

/**
 * The oid of one file in each of many commits, a level of all their trees at a time. Nothing is kept that is not needed.
 * @param rawPath of a file, its bytes as latin1.
 * @returns null where there is no such file, or no such commit here.
 */
export async function oidsAt(
  readObjects: ReadObjects,
  format: ObjectFormat,
  commits: readonly Oid[],
  rawPath: string,
): Promise<(Oid | null)[]> {
  const parts = rawPath.split('/');
  const known = parts.map(() => new Map<Oid, Oid | null>());
  const found: (Oid | null)[] = [];
  for (let from = 0; from < commits.length; from += together) {
    const some = commits.slice(from, from + together);
    const objects = await readObjects(some);
    let level = some.map((oid, at) => {
      const object = objects[at];
      return object?.type === 'commit' ? parseCommit(oid, object.bytes).tree : null;
    });
    for (const [depth, name] of parts.entries())
      level = await entriesAt(readObjects, format, level, name, depth === parts.length - 1, known[depth] ?? new Map());
    found.push(...level);
  }
  return found;
}

/** @param known tree → what the name is in it: equal folders are opened once. */
async function entriesAt(
  readObjects: ReadObjects,
  format: ObjectFormat,
  trees: readonly (Oid | null)[],
  name: string,
  isLast: boolean,
  known: Map<Oid, Oid | null>,
): Promise<(Oid | null)[]> {
  const missing = [...new Set(trees)].filter((tree) => tree !== null).filter((tree) => !known.has(tree));
  const objects = missing.length === 0 ? [] : await readObjects(missing);
  for (const [at, tree] of missing.entries()) {
    const object = objects[at];
    const entries = object?.type === 'tree' ? parseTree(object.bytes, format) : [];
    const entry = entries.find((each) => each.name === name && (isLast ? isRegularFile(each) : isFolder(each)));
    known.set(tree, entry?.oid ?? null);
  }
  return trees.map((tree) => (tree === null ? null : (known.get(tree) ?? null)));
}
