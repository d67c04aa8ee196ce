import { chmod, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { Oid } from '../shared/files.ts';
import { mapLimit } from '../shared/limit.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { headerOf, type RawObject } from './objects.ts';

/**
 * Stores objects as loose files, each complete or not there at all: they are written to a folder beside (which
 * `git gc` removes should this process die) and renamed into place. isomorphic-git writes in place, and an object that
 * a killed process left half-written is then never written again.
 */
export async function writeLooseObjects(objectsDir: string, objects: ReadonlyMap<Oid, RawObject>): Promise<void> {
  let quarantine: string | null = null;
  try {
    const missing = await absent(objectsDir, objects);
    if (missing.length === 0) return;
    const folder = await mkdtemp(join(objectsDir, 'tmp_objdir-memory-'));
    quarantine = folder;
    await makeFanOut(objectsDir, missing);
    await mapLimit(missing, 8, async ([oid, object]) => {
      const bytes = await compress(Buffer.concat([headerOf(object), object.bytes]));
      const temporary = join(folder, oid);
      await writeFile(temporary, bytes, { mode: 0o444, flag: 'wx' });
      await rename(temporary, join(objectsDir, oid.slice(0, 2), oid.slice(2)));
    });
  } finally {
    if (quarantine !== null) await rm(quarantine, { recursive: true, force: true });
  }
}

const compress = promisify(deflate);

/** An empty file is what a crash of the machine leaves; it counts as absent. */
async function absent(objectsDir: string, objects: ReadonlyMap<Oid, RawObject>): Promise<[Oid, RawObject][]> {
  const sizes = await mapLimit([...objects], 16, async ([oid]) =>
    sizeOf(join(objectsDir, oid.slice(0, 2), oid.slice(2))),
  );
  return [...objects].filter((_, at) => sizes[at] === 0);
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** The 256 folders take the rights of `objects` itself: so a repository that a group shares stays shared. */
async function makeFanOut(objectsDir: string, objects: readonly [Oid, RawObject][]): Promise<void> {
  const { mode } = await stat(objectsDir);
  for (const name of new Set(objects.map(([oid]) => oid.slice(0, 2)))) {
    const folder = join(objectsDir, name);
    if ((await makeFolder(folder)) !== undefined) await chmod(folder, mode & 0o7777);
  }
}
