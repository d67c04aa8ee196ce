import { createHash } from 'node:crypto';
import type { Oid } from '../shared/files.ts';

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface RawObject {
  readonly type: ObjectType;
  readonly bytes: Buffer;
}

export type ObjectFormat = 'sha1' | 'sha256';

/** Reads objects by full oid: one answer for each question, in order; null where the repository has none. */
export type ReadObjects = (oids: readonly Oid[]) => Promise<readonly (RawObject | null)[]>;

/** A part of a tree. `name` holds its bytes as latin1, so that a name that is no UTF-8 survives. */
export interface TreeEntry {
  /** Octal as Git writes it: `40000` folder, `100644` and `100755` file, `120000` symbolic link, `160000` submodule. */
  readonly mode: string;
  readonly name: string;
  readonly oid: Oid;
}

export function oidOf(object: RawObject, format: ObjectFormat): Oid {
  return createHash(format).update(headerOf(object)).update(object.bytes).digest('hex');
}

/** `blob 12\0`: what Git hashes and stores before the bytes. */
export function headerOf(object: RawObject): Buffer {
  return Buffer.from(`${object.type} ${object.bytes.length}\0`);
}

export function parseTree(bytes: Buffer, format: ObjectFormat): TreeEntry[] {
  const width = format === 'sha1' ? 20 : 32;
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const nul = bytes.indexOf(0, space);
    const mode = bytes.toString('latin1', at, space).replace(/^0+/, '');
    entries.push({
      mode,
      name: bytes.toString('latin1', space + 1, nul),
      oid: bytes.toString('hex', nul + 1, nul + 1 + width),
    });
    if (space < 0 || nul < 0 || nul + 1 + width > bytes.length) throw new Error('a tree object is damaged');
    at = nul + 1 + width;
  }
  return entries;
}

/** The bytes of a tree object, its entries in Git's order: by bytes, a folder as if its name ended in `/`. */
export function formatTree(entries: readonly TreeEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
  return Buffer.concat(
    sorted.flatMap(({ mode, name, oid }) => [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(oid, 'hex')]),
  );
}

export function isFolder(entry: TreeEntry): boolean {
  return entry.mode === '40000';
}

export function isRegularFile(entry: TreeEntry): boolean {
  return entry.mode.startsWith('100');
}

/** A path's or name's bytes as latin1, the form in which trees and the index are compared. */
export function toRaw(path: string): string {
  return Buffer.from(path).toString('latin1');
}

/** The text of a raw path; null where its bytes are no UTF-8. */
export function fromRaw(raw: string): string | null {
  return decodeUtf8(Buffer.from(raw, 'latin1'));
}

/** A raw path for a message: what is no UTF-8 shows as a replacement character. */
export function shownPath(raw: string): string {
  return Buffer.from(raw, 'latin1').toString('utf8');
}

/** Strict: null for bytes that are no UTF-8. A byte order mark stays. */
export function decodeUtf8(bytes: Buffer): string | null {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function sortKey(entry: TreeEntry): string {
  return isFolder(entry) ? `${entry.name}/` : entry.name;
}
