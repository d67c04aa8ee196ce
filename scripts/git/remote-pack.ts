import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { byBinary } from '../shared/files.ts';
import { textOrNull } from './layout.ts';
import { underLock } from './ref-files.ts';

/**
 * Why a pack and the index that was made for it cannot be kept, as the end of a sentence; null for a whole one. Objects
 * whose base is missing are left out of the index, so the counts tell.
 */
export function packFault(pack: Buffer, index: Buffer): string | null {
  if (pack.length < 32 || pack.toString('latin1', 0, 4) !== 'PACK') return 'it is no pack';
  const sum = createHash('sha1').update(pack.subarray(0, -20)).digest();
  if (!sum.equals(pack.subarray(-20))) return 'it arrived damaged';
  const promised = pack.readUInt32BE(8);
  const indexed = index.length < 1032 ? 0 : index.readUInt32BE(8 + 255 * 4);
  return promised === indexed ? null : `it lacks ${promised - indexed} of ${promised} objects`;
}

/** Keeps a pack, complete or not at all: its index comes last, and without one Git does not look at it. */
export async function storePack(commonDir: string, pack: Buffer, index: Buffer): Promise<void> {
  const folder = join(commonDir, 'objects/pack');
  const name = join(folder, `pack-${pack.subarray(-20).toString('hex')}`);
  if (existsSync(`${name}.idx`)) return;
  await mkdir(folder, { recursive: true });
  const drafts = await mkdtemp(join(commonDir, 'objects', 'tmp_objdir-memory-'));
  try {
    for (const [extension, bytes] of [
      ['pack', pack],
      ['idx', index],
    ] as const) {
      const draft = join(drafts, extension);
      await writeFile(draft, bytes, { mode: 0o444, flag: 'wx', flush: true });
      await rename(draft, `${name}.${extension}`);
    }
  } finally {
    await rm(drafts, { recursive: true, force: true });
  }
}

/** Carries over how a fetch changed a shallow clone's boundary, to what the boundary is by now. */
export async function moveBoundary(
  commonDir: string,
  before: ReadonlySet<Oid>,
  after: ReadonlySet<Oid>,
): Promise<void> {
  const added = [...after].filter((oid) => !before.has(oid));
  const removed = new Set([...before].filter((oid) => !after.has(oid)));
  if (added.length === 0 && removed.size === 0) return;
  const path = join(commonDir, 'shallow');
  await underLock(`${path}.lock`, async (lock) => {
    const now = ((await textOrNull(path)) ?? '').split('\n').filter(Boolean);
    const next = [...new Set([...now, ...added])].filter((oid) => !removed.has(oid)).sort(byBinary);
    if (next.length === 0) {
      await rm(path, { force: true });
      return;
    }
    await lock.write(`${next.join('\n')}\n`);
    await lock.commit(path);
  });
}
