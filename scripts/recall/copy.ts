import { join } from 'node:path';
import { type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { jsonFields } from '../shared/json.ts';
import { groupSearch } from '../workspace/groups-naming.ts';
import type { Scope } from '../workspace/layout.ts';
import type { MemoryTexts } from './entries.ts';
import { type FileRead, isOwnFolder, readPieces, readRegular } from './read-own.ts';
import type { MemorySource } from './source.ts';

/** A team's memory as this machine has it. */
export interface MemoryCopy {
  readonly texts: MemoryTexts;
  /** The folder of the memory files. */
  readonly folder: string;
  /** When the copy was brought here; null for a folder, which is the original. */
  readonly fetchedAt: EpochSeconds | null;
  /** What was not read, and why: sentences. */
  readonly refused: readonly string[];
}

/**
 * `missing`: the source has no `memories/`. `coming`: an address of which nothing was fetched yet. `off`: the memory
 * repository's configuration says `enabled: false`.
 */
export type Found =
  | { readonly kind: 'copy'; readonly copy: MemoryCopy }
  | { readonly kind: 'missing' | 'coming' | 'off' };

/** What a copy says of itself, in `current.json` beside `copies/`. */
export interface CopyNote {
  /** Of the default branch. */
  readonly oid: string;
  readonly enabled: boolean;
  readonly fetchedAt: EpochSeconds;
  /** Files that were not kept, in the words of `extract.ts`. */
  readonly refused: readonly string[];
}

/**
 * Reads the memory of a source as it is on this machine now; never asks a network.
 * @param scopes of the handbook those groups are read that may speak for one of them.
 */
export function findCopy(source: MemorySource, scopes: readonly Scope[]): Found {
  if (source.kind === 'folder') {
    return isSwitchedOff(source.folder) ? { kind: 'off' } : readFolder(source.folder, scopes, null, []);
  }
  const note = readNote(source.cache);
  if (note === null) return { kind: 'coming' };
  if (!note.enabled) return { kind: 'off' };
  return readFolder(join(source.cache, 'copies', note.oid), scopes, note.fetchedAt, note.refused);
}

export function readNote(cache: string): CopyNote | null {
  const read = readRegular(join(cache, 'current.json'), 262_144);
  return read.kind === 'file' ? noteFrom(read.bytes.toString('utf8')) : null;
}

export function noteText({ oid, enabled, fetchedAt, refused }: CopyNote): string {
  return `${JSON.stringify({ version: 1, oid, enabled, fetched_at: isoTime(fetchedAt), refused })}\n`;
}

/** One key is looked for, by its only spelling: to read all of the file would take a parser that a hook cannot wait for. */
export function isOffIn(configuration: string): boolean {
  return /^enabled[ \t]*:[ \t]*(?:false|False|FALSE)[ \t]*(?:#.*)?\r?$/m.test(configuration);
}

function isSwitchedOff(folder: string): boolean {
  const read = readRegular(join(folder, '.github', 'memory.yml'), 262_144);
  return read.kind === 'file' && isOffIn(read.bytes.toString('utf8'));
}

function readFolder(
  root: string,
  scopes: readonly Scope[],
  fetchedAt: EpochSeconds | null,
  known: readonly string[],
): Found {
  const folder = join(root, 'memories');
  if (!isOwnFolder(folder)) return { kind: 'missing' };
  const refused = [...known];
  const bytesOf = (name: string, read: FileRead): Buffer => {
    if (read.kind === 'refused') refused.push(`memories/${name} ${read.why}.`);
    return read.kind === 'file' ? read.bytes : Buffer.alloc(0);
  };
  const { found, search } = groupSearch(scopes);
  bytesOf('MEMORY.md', readPieces(join(folder, 'MEMORY.md'), search));
  const summary = bytesOf('memory_summary.md', readRegular(join(folder, 'memory_summary.md'))).toString('utf8');
  return { kind: 'copy', copy: { texts: { groups: found, summary }, folder, fetchedAt, refused } };
}

/** All of a copy's handbook, for who explains what a session did not get. */
export function wholeHandbook(folder: string): string {
  const read = readRegular(join(folder, 'MEMORY.md'));
  return read.kind === 'file' ? read.bytes.toString('utf8') : '';
}

function noteFrom(text: string): CopyNote | null {
  const { version, oid, enabled, fetched_at: at, refused } = jsonFields(text);
  const fetchedAt = typeof at === 'string' ? parseIsoTime(at) : null;
  if (version !== 1 || typeof oid !== 'string' || !/^[0-9a-f]{40,64}$/.test(oid) || fetchedAt === null) return null;
  const words = Array.isArray(refused) ? refused.filter((word) => typeof word === 'string') : [];
  return { oid, enabled: enabled !== false, fetchedAt, refused: words };
}
