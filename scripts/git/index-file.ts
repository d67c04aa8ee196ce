import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';

/** An entry of `.git/index`. `name` is raw. */
export interface IndexEntry {
  readonly name: string;
  readonly mode: string;
  readonly oid: Oid;
  /** 0, or 1 to 3 for the sides of a conflict. */
  readonly stage: number;
  /** Times, device, inode, mode, owner and size as stored: 40 bytes. */
  readonly stat: Buffer;
  readonly flags: number;
  /** Version 3 only: `skip-worktree`, `intent-to-add`. */
  readonly extended: number;
}

const headerBytes = 12;
const checksumBytes = 20;
const fixedBytes = 62;
const extendedFlag = 0x4000;

/** The entries of a repository's index; none where it is missing. */
export async function readIndex(gitDir: string): Promise<IndexEntry[]> {
  try {
    return parseIndex(await readFile(join(gitDir, 'index')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/**
 * Reads an index of version 2 or 3 (SHA-1). Extensions that only make things faster are passed over.
 * @throws GitError where the index is damaged, or of a kind that only the git program knows (version 4, split, sparse).
 */
function parseIndex(bytes: Buffer): IndexEntry[] {
  const version = bytes.length >= headerBytes + checksumBytes ? bytes.readUInt32BE(4) : 0;
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version === 0) throw damaged('it is cut off');
  if (version !== 2 && version !== 3) throw unknownIndex(`is of version ${version}`);
  const end = bytes.length - checksumBytes;
  const stored = bytes.subarray(end);
  if (!stored.every((byte) => byte === 0) && !stored.equals(checksum(bytes.subarray(0, end))))
    throw damaged('its checksum is wrong');
  const entries: IndexEntry[] = [];
  let at = headerBytes;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    if (at + fixedBytes > end) throw damaged('it is cut off');
    const flags = bytes.readUInt16BE(at + 60);
    const extended = flags & extendedFlag ? bytes.readUInt16BE(at + fixedBytes) : 0;
    const nameAt = at + fixedBytes + (flags & extendedFlag ? 2 : 0);
    const nameEnd = bytes.indexOf(0, nameAt);
    if (nameEnd < 0 || nameEnd > end) throw damaged('it is cut off');
    entries.push({
      name: bytes.toString('latin1', nameAt, nameEnd),
      mode: bytes.readUInt32BE(at + 24).toString(8),
      oid: bytes.toString('hex', at + 40, at + 60),
      stage: (flags >> 12) & 3,
      stat: bytes.subarray(at, at + 40),
      flags,
      extended,
    });
    at += paddedLength(nameEnd - at);
  }
  refuseRequiredExtensions(bytes, at, end);
  return entries;
}

/** The bytes of an index file; version 3 where an entry has extended flags. */
export function formatIndex(entries: readonly IndexEntry[]): Buffer {
  const sorted = [...entries].sort((a, b) => (a.name === b.name ? a.stage - b.stage : a.name < b.name ? -1 : 1));
  const header = Buffer.alloc(headerBytes);
  header.write('DIRC', 'latin1');
  header.writeUInt32BE(entries.some(({ extended }) => extended !== 0) ? 3 : 2, 4);
  header.writeUInt32BE(sorted.length, 8);
  const body = Buffer.concat([header, ...sorted.map(entryBytes)]);
  return Buffer.concat([body, checksum(body)]);
}

/** An entry for a file that was just written; without `stats` Git compares the contents next time. */
export function indexEntry(name: string, mode: string, oid: Oid, stats: Stats | null): IndexEntry {
  const stat = Buffer.alloc(40);
  stat.writeUInt32BE(Number.parseInt(mode, 8), 24);
  if (stats !== null) {
    const times = [stats.ctimeMs, stats.mtimeMs];
    times.forEach((ms, at) => {
      stat.writeUInt32BE(Math.floor(ms / 1000) >>> 0, at * 8);
    });
    const rest = [stats.dev, stats.ino];
    rest.forEach((value, at) => {
      stat.writeUInt32BE(low32(value), 16 + at * 4);
    });
    stat.writeUInt32BE(low32(stats.uid), 28);
    stat.writeUInt32BE(low32(stats.gid), 32);
    stat.writeUInt32BE(low32(stats.size), 36);
  }
  return { name, mode, oid, stage: 0, stat, flags: 0, extended: 0 };
}

function entryBytes(entry: IndexEntry): Buffer {
  const name = Buffer.from(entry.name, 'latin1');
  const nameAt = fixedBytes + (entry.extended === 0 ? 0 : 2);
  const bytes = Buffer.alloc(paddedLength(nameAt + name.length));
  entry.stat.copy(bytes);
  bytes.write(entry.oid, 40, 'hex');
  const kept = entry.flags & 0x8000;
  const flags = kept | (entry.extended === 0 ? 0 : extendedFlag) | (entry.stage << 12) | Math.min(name.length, 0xfff);
  bytes.writeUInt16BE(flags, 60);
  if (entry.extended !== 0) bytes.writeUInt16BE(entry.extended, fixedBytes);
  name.copy(bytes, nameAt);
  return bytes;
}

/** One to eight NULs fill an entry up to a multiple of eight. */
function paddedLength(length: number): number {
  return (length & ~7) + 8;
}

function low32(value: number): number {
  return Number(BigInt.asUintN(32, BigInt(Math.floor(value))));
}

function refuseRequiredExtensions(bytes: Buffer, from: number, end: number): void {
  for (let at = from; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4)) {
    const name = bytes.toString('latin1', at, at + 4);
    if (name === 'link') throw unknownIndex('is split');
    if (!/^[A-Z]/.test(name)) throw unknownIndex(`has the extension ${name}`);
  }
}

function checksum(bytes: Buffer): Buffer {
  return createHash('sha1').update(bytes).digest();
}

function damaged(why: string): GitError {
  return new GitError(
    `The index is damaged: ${why}.`,
    'Build it again, which touches no file: rm .git/index && git reset',
  );
}

function unknownIndex(what: string): GitError {
  return new GitError(`The index ${what}, which needs the git program.`, 'Install git and run it again.');
}
