import { readFile, readlink } from 'node:fs/promises';
import type { Oid } from '../shared/files.ts';
import { type Layout, lstatOrNull } from './layout.ts';
import { type ObjectFormat, oidOf, type TreeEntry } from './objects.ts';

/** What stands at a path of the working tree, as Git would store it; `other` is a folder or a device. */
export type Standing = Leaf | 'absent' | 'other';

export type Leaf = Pick<TreeEntry, 'mode' | 'oid'>;

export function sameLeaf(a: Leaf | null | undefined, b: Leaf | null | undefined): boolean {
  return a?.mode === b?.mode && a?.oid === b?.oid;
}

/** A raw path's place in the file system, as bytes. */
export function placeOf(workTree: string, raw: string): Buffer {
  return Buffer.concat([Buffer.from(`${workTree}/`), Buffer.from(raw, 'latin1')]);
}

/**
 * @param like what the file is compared with: where `core.autocrlf` is set a file that equals it but for CRLF counts as
 * equal, and where `core.fileMode` is off so does one with other rights.
 */
export async function standingAt(
  layout: Layout,
  workTree: string,
  raw: string,
  like: readonly TreeEntry[],
): Promise<Standing> {
  const place = placeOf(workTree, raw);
  const found = await lstatOrNull(place);
  if (found === null) return 'absent';
  if (found.isSymbolicLink()) {
    const target = await readlink(place, { encoding: 'buffer' });
    return { mode: '120000', oid: blobOid(target, layout.format) };
  }
  if (!found.isFile()) return 'other';
  const bytes = await readFile(place);
  const mode = found.mode & 0o100 ? '100755' : '100644';
  const modes = layout.config.get('core.filemode') === 'false' ? like.map((entry) => entry.mode) : [mode];
  const oids = [blobOid(bytes, layout.format)];
  if (/^(?:true|input|yes|on|1)$/i.test(layout.config.get('core.autocrlf') ?? ''))
    oids.push(blobOid(Buffer.from(bytes.toString('latin1').replaceAll('\r\n', '\n'), 'latin1'), layout.format));
  const equal = like.find((entry) => modes.includes(entry.mode) && oids.includes(entry.oid));
  return equal ? { mode: equal.mode, oid: equal.oid } : { mode, oid: oids[0] ?? '' };
}

function blobOid(bytes: Buffer, format: ObjectFormat): Oid {
  return oidOf({ type: 'blob', bytes }, format);
}
