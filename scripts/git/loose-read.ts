import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import type { Oid } from '../shared/files.ts';
import type { ObjectType, RawObject } from './objects.ts';

/**
 * Objects that are stored each in a file of its own: what was written or fetched lately. To read such a file costs a
 * hundredth of starting the git program.
 * @returns null for what is packed, elsewhere or missing, and for what is damaged: the program knows, and says why.
 */
export async function readLooseObjects(objectsDir: string, oids: readonly Oid[]): Promise<(RawObject | null)[]> {
  if (oids.length > most) return oids.map(() => null);
  return Promise.all(oids.map((oid) => readOne(join(objectsDir, oid.slice(0, 2), oid.slice(2)))));
}

/** So many are seldom all loose, and the program reads them at once. */
const most = 64;

const whole = promisify(inflate);

async function readOne(path: string): Promise<RawObject | null> {
  try {
    return parsed(await whole(await readFile(path)));
  } catch (error) {
    // Whatever the system or zlib has against it.
    if (typeof (error as NodeJS.ErrnoException).code === 'string') return null;
    throw error;
  }
}

/** `blob 12\0` and the bytes. */
function parsed(content: Buffer): RawObject | null {
  const end = content.indexOf(0);
  const [, type, size] =
    /^(commit|tree|blob|tag) (\d{1,15})$/.exec(content.toString('latin1', 0, Math.max(0, end))) ?? [];
  const bytes = content.subarray(end + 1);
  return type === undefined || Number(size) !== bytes.length ? null : { type: type as ObjectType, bytes };
}
