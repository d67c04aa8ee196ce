import { mkdir, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { overwriteError } from './errors.ts';
import { formatIndex, type IndexEntry, indexEntry, readIndex } from './index-file.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import { type ReadObjects, shownPath, type TreeEntry } from './objects.ts';
import { underLock } from './ref-files.ts';
import { type Leaf, placeOf, sameLeaf, standingAt } from './standing.ts';
import type { TreeChange } from './tree-read.ts';

/** Compares everything first, then writes the files, then swaps the index in under `index.lock`. */
export async function refreshFiles(
  layout: Layout,
  readObjects: ReadObjects,
  to: Oid,
  changes: readonly TreeChange[],
): Promise<void> {
  const { workTree, gitDir } = layout;
  if (workTree === null) return;
  await underLock(join(gitDir, 'index.lock'), 'The working tree could not be refreshed', async (lock) => {
    const index = new Map((await readIndex(gitDir)).map((entry) => [`${entry.name}\0${entry.stage}`, entry]));
    const unwritten: TreeChange[] = [];
    for (const change of changes) {
      const state = await stateOf(layout, workTree, index, change);
      if (state === 'in the way') throw overwriteError(shownPath(change.path), to);
      if (state === 'before') unwritten.push(change);
    }
    for (const { path, after } of unwritten) if (after === null) await removeFile(workTree, path);
    const written = unwritten.map(({ after }) => after).filter((after) => after !== null);
    const blobs = await readObjects(written.filter(isStored).map((entry) => entry.oid));
    const bytes = new Map(
      written.filter(isStored).map((entry, at) => [entry.oid, blobs[at]?.bytes ?? Buffer.alloc(0)]),
    );
    for (const { path, after } of unwritten) {
      if (after !== null) await writeEntry(workTree, path, after, bytes.get(after.oid));
    }
    for (const { path, after } of changes) {
      const key = `${path}\0${0}`;
      if (after === null) index.delete(key);
      else index.set(key, await freshEntry(workTree, path, after));
    }
    await lock.write(formatIndex([...index.values()]));
    await lock.commit(join(gitDir, 'index'));
  });
}

type State = 'before' | 'after' | 'in the way';

async function stateOf(
  layout: Layout,
  workTree: string,
  index: ReadonlyMap<string, IndexEntry>,
  { path, before, after }: TreeChange,
): Promise<State> {
  const staged = index.get(`${path}\0${0}`) ?? null;
  if ([1, 2, 3].some((stage) => index.has(`${path}\0${stage}`))) return 'in the way';
  if (!sameLeaf(staged, before) && !sameLeaf(staged, after)) return 'in the way';
  if (after?.mode === '160000' || before?.mode === '160000') return 'before';
  const like = [before, after].filter((entry) => entry !== null);
  const standing = await standingAt(layout, workTree, path, like);
  if (standing === 'other') return 'in the way';
  const leaf: Leaf | null = standing === 'absent' ? null : standing;
  if (sameLeaf(leaf, after)) return 'after';
  return sameLeaf(leaf, before) ? 'before' : 'in the way';
}

/** A submodule's commit is stored elsewhere. */
function isStored(entry: TreeEntry): boolean {
  return entry.mode !== '160000';
}

/** Removes a file, and the folders that it leaves empty. */
async function removeFile(workTree: string, raw: string): Promise<void> {
  if ((await lstatOrNull(placeOf(workTree, raw)))?.isDirectory() !== false) return;
  await unlink(placeOf(workTree, raw));
  for (let end = raw.lastIndexOf('/'); end > 0; end = raw.lastIndexOf('/', end - 1)) {
    try {
      await rmdir(placeOf(workTree, raw.slice(0, end)));
    } catch (error) {
      if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return;
      throw error;
    }
  }
}

async function writeEntry(workTree: string, raw: string, entry: TreeEntry, bytes: Buffer | undefined): Promise<void> {
  const place = placeOf(workTree, raw);
  if (raw.includes('/')) await mkdir(placeOf(workTree, raw.slice(0, raw.lastIndexOf('/'))), { recursive: true });
  if (bytes === undefined) {
    await mkdir(place, { recursive: true });
    return;
  }
  if (await lstatOrNull(place)) await unlink(place);
  if (entry.mode === '120000') await symlink(bytes, place);
  else await writeFile(place, bytes, { flag: 'wx', mode: entry.mode === '100755' ? 0o777 : 0o666 });
}

async function freshEntry(workTree: string, raw: string, { mode, oid }: TreeEntry): Promise<IndexEntry> {
  return indexEntry(raw, mode, oid, await lstatOrNull(placeOf(workTree, raw)));
}
