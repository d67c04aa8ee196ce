import type { Oid } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { GitError } from './errors.ts';
import { decodeUtf8, fromRaw, type RawObject } from './objects.ts';

/** @returns null for bytes that are no text, undefined for no blob. */
export function textOf(blob: RawObject | null | undefined): string | null | undefined {
  if (blob?.type !== 'blob') return undefined;
  const text = blob.bytes.includes(0) ? null : decodeUtf8(blob.bytes);
  return text === null ? null : text.replaceAll('\r\n', '\n');
}

/**
 * @returns null for what is no text, or has a name that no file may have.
 * @throws GitError where the repository has no such blob.
 */
export function textFile(raw: string, oid: Oid, text: string | null | undefined): [string, string] | null {
  const path = namedPath(raw);
  if (path === null) return null;
  if (text === undefined) throw missing(path, oid);
  return text === null ? null : [path, text];
}

/** @returns null for a name that no file may have. */
export function namedPath(raw: string): string | null {
  const path = fromRaw(raw);
  return path === null || pathFault(path) !== null ? null : path;
}

/** @throws GitError where the repository has no such blob. */
export function blobBytes(path: string, oid: Oid, blob: RawObject | null | undefined): Buffer {
  if (blob?.type === 'blob') return blob.bytes;
  throw missing(path, oid);
}

function missing(path: string, oid: Oid): GitError {
  return new GitError(`The file ${path} (${oid}) is missing from the repository.`, 'Fetch it, or clone again.');
}
