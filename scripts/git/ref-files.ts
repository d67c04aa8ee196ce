import { existsSync } from 'node:fs';
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isoTime } from '../shared/clock.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { GitError, RefMovedError } from './errors.ts';
import { lstatOrNull, textOrNull } from './layout.ts';
import { lockError } from './ref-name.ts';
import type { Head } from './types.ts';

/** Refs as Git's files hold them, loose or packed: for repositories where the git program is not installed. */
export async function readRefFile(gitDir: string, ref: string): Promise<Oid | null> {
  const path = join(gitDir, ref);
  const found = await lstatOrNull(path);
  if (found?.isSymbolicLink()) throw refError(ref, 'is a symbolic ref');
  if (found?.isFile()) {
    const text = await textOrNull(path);
    if (text !== null) return oidIn(text, ref);
  }
  return (await packedRefs(gitDir)).get(ref) ?? null;
}

export async function listRefFiles(gitDir: string, prefix: string): Promise<ReadonlyMap<string, Oid>> {
  const refs = new Map([...(await packedRefs(gitDir))].filter(([ref]) => ref.startsWith(prefix)));
  for (const ref of await looseRefs(gitDir, 'refs')) {
    if (!ref.startsWith(prefix)) continue;
    const text = await textOrNull(join(gitDir, ref));
    if (text !== null && !text.startsWith('ref: ')) refs.set(ref, oidIn(text, ref));
  }
  return new Map([...refs].sort(([a], [b]) => byBinary(a, b)));
}

export async function readHeadFile(gitDir: string): Promise<Head> {
  const text = (await textOrNull(join(gitDir, 'HEAD'))) ?? '';
  const ref = /^ref: (refs\/\S+)\s*$/.exec(text)?.[1];
  if (ref === undefined) return { kind: 'detached', oid: oidIn(text, 'HEAD') };
  return { kind: 'branch', ref, oid: await readRefFile(gitDir, ref) };
}

/**
 * Compare-and-swap as Git does it: `<ref>.lock` is created exclusively, the ref read under it, and the lock renamed
 * over the ref, so a process that dies leaves the old value (and the lock, which the next error explains).
 */
export async function swapRefFile(gitDir: string, ref: string, expected: Oid | null, next: Oid | null): Promise<void> {
  const path = join(gitDir, ref);
  await refuseConflict(gitDir, ref);
  await makeFolder(dirname(path));
  await underLock(`${path}.lock`, async (lock) => {
    const actual = await readRefFile(gitDir, ref);
    if (actual !== expected) throw new RefMovedError(ref, expected, actual);
    if (next === null) {
      await unpack(gitDir, ref);
      await rm(path, { force: true });
      return;
    }
    await lock.write(`${next}\n`);
    if ((await lstatOrNull(path))?.isDirectory()) await removeEmptyFolders(path);
    await lock.commit(path);
  });
}

/** Creates `<path>.lock`-like files exclusively, and removes them again unless `commit` renamed them. */
export async function underLock(
  lockPath: string,
  work: (lock: { write(bytes: string | Buffer): Promise<void>; commit(path: string): Promise<void> }) => Promise<void>,
): Promise<void> {
  const file = await openLock(lockPath);
  let renamed = false;
  try {
    await work({
      async write(bytes) {
        await file.writeFile(bytes);
        await file.sync();
      },
      async commit(path) {
        await rename(lockPath, path);
        renamed = true;
      },
    });
  } finally {
    await file.close();
    if (!renamed) await rm(lockPath, { force: true });
  }
}

const lockAttempts = 50;
const lockPauseMs = 20;

async function openLock(lockPath: string): Promise<Awaited<ReturnType<typeof open>>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(lockPath, 'wx');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (attempt === lockAttempts) throw lockError(lockPath, await timeOf(lockPath));
      await setTimeout(lockPauseMs);
    }
  }
}

export async function timeOf(path: string): Promise<string | null> {
  try {
    return isoTime(Math.floor((await stat(path)).mtimeMs / 1000));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function oidIn(text: string, ref: string): Oid {
  const oid = /^(?!0{40})([0-9a-f]{40})\s*$/.exec(text)?.[1];
  if (oid !== undefined) return oid;
  throw refError(ref, text.startsWith('ref: ') ? 'is a symbolic ref' : 'is damaged: it holds no object id');
}

function refError(ref: string, fault: string): GitError {
  return new GitError(`${ref} ${fault}.`, `Look at it with: git symbolic-ref ${ref}; git reflog shows what it was.`);
}

async function packedRefs(gitDir: string): Promise<ReadonlyMap<string, Oid>> {
  const text = (await textOrNull(join(gitDir, 'packed-refs'))) ?? '';
  return new Map([...text.matchAll(/^([0-9a-f]{40}) (refs\/\S+)$/gm)].map((match) => [match[2] ?? '', match[1] ?? '']));
}

async function looseRefs(gitDir: string, folder: string): Promise<string[]> {
  if (!existsSync(join(gitDir, folder))) return [];
  const entries = await readdir(join(gitDir, folder), { withFileTypes: true });
  const found = entries.map(async (entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return looseRefs(gitDir, path);
    return entry.isFile() && !entry.name.endsWith('.lock') ? [path] : [];
  });
  return (await Promise.all(found)).flat();
}

async function refuseConflict(gitDir: string, ref: string): Promise<void> {
  const names = [...(await packedRefs(gitDir)).keys(), ...(await looseRefs(gitDir, 'refs'))];
  const other = names.find((name) => name.startsWith(`${ref}/`) || ref.startsWith(`${name}/`));
  if (other !== undefined)
    throw new GitError(`${ref} and ${other} cannot both exist.`, `Rename or delete one of them: git branch -m …`);
}

/** Takes a ref out of `packed-refs`; before its loose file goes, so that no older value shows through. */
async function unpack(gitDir: string, ref: string): Promise<void> {
  if (!(await packedRefs(gitDir)).has(ref)) return;
  const path = join(gitDir, 'packed-refs');
  await underLock(`${path}.lock`, async (lock) => {
    const lines = ((await textOrNull(path)) ?? '').split('\n');
    const at = lines.findIndex((line) => line.endsWith(` ${ref}`));
    if (at >= 0) lines.splice(at, lines[at + 1]?.startsWith('^') ? 2 : 1);
    await lock.write(lines.join('\n'));
    await lock.commit(path);
  });
}

/** What deleted refs leave behind. */
async function removeEmptyFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeEmptyFolders(join(folder, entry.name));
  }
  await rmdir(folder);
}
