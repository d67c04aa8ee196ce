import { mkdir, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { formatIndex, type IndexEntry, indexEntry, readIndex } from './index-file.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import type { ReadObjects, TreeEntry } from './objects.ts';
import { underLock } from './ref-files.ts';
import { planRefresh, type Staged } from './refresh-plan.ts';
import { placeOf, standingAt } from './standing.ts';
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
  await underLock(join(gitDir, 'index.lock'), async (lock) => {
    const index = await readIndex(gitDir);
    const { unwritten } = await planRefresh(workTree, to, changes, stagedIn(index), ({ path, before, after }) =>
      standingAt(
        layout,
        workTree,
        path,
        [before, after].filter((entry) => entry !== null),
      ),
    );
    for (const { path, after } of unwritten) if (after === null) await removeFile(workTree, path);
    const written = unwritten.map(({ after }) => after).filter((after) => after !== null);
    const blobs = await readObjects(written.filter(isStored).map((entry) => entry.oid));
    const bytes = new Map(
      written.filter(isStored).map((entry, at) => [entry.oid, blobs[at]?.bytes ?? Buffer.alloc(0)]),
    );
    for (const { path, after } of unwritten) {
      if (after !== null) await writeEntry(workTree, path, after, bytes.get(after.oid));
    }
    const changed = new Set(changes.map(({ path }) => path));
    const kept = index.filter(({ name }) => !changed.has(name));
    for (const { path, after } of changes) if (after !== null) kept.push(await freshEntry(workTree, path, after));
    await lock.write(formatIndex(kept));
    await lock.commit(join(gitDir, 'index'));
  });
}

function stagedIn(index: readonly IndexEntry[]): Staged {
  return new Map(index.map((entry) => [entry.name, entry.stage === 0 ? entry : 'conflict']));
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
