import { readFile, writeFile } from 'node:fs/promises';
import { type Layout, lstatOrNull } from './layout.ts';
import { isRegularFile, oidOf, type ReadObjects } from './objects.ts';
import { placeOf } from './standing.ts';
import type { TreeChange } from './tree-read.ts';

/**
 * Completes the files that a refresh which died, or found no more room, left with their beginning only: what stands is
 * a true beginning of the new content and not of the old, so writing the rest takes nothing away from anybody.
 */
export async function completeHalfWritten(
  layout: Layout,
  readObjects: ReadObjects,
  changes: readonly TreeChange[],
): Promise<void> {
  const { workTree, format } = layout;
  if (workTree === null) return;
  for (const { path, before, after } of changes) {
    if (after === null || !isRegularFile(after)) continue;
    const place = placeOf(workTree, path);
    if (!(await lstatOrNull(place))?.isFile()) continue;
    const standing = await readFile(place);
    const oid = oidOf({ type: 'blob', bytes: standing }, format);
    if (oid === after.oid || oid === before?.oid) continue;
    const stored = [after, ...(before !== null && isRegularFile(before) ? [before] : [])];
    const [next, last] = await readObjects(stored.map((entry) => entry.oid));
    if (!next || !beginsWith(next.bytes, standing) || (last && beginsWith(last.bytes, standing))) continue;
    await writeFile(place, next.bytes);
  }
}

function beginsWith(whole: Buffer, part: Buffer): boolean {
  return part.length < whole.length && whole.subarray(0, part.length).equals(part);
}
