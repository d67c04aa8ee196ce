import type { Repository } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { tombstonesPath } from './layout.ts';

/** What may never be uploaded again, as salted hashes: the copy tells nobody what was forgotten. */
export interface ArchiveTombstones {
  readonly salt: string;
  /** `tombstoneKey` of each. */
  readonly keys: readonly string[];
}

export type Forgotten =
  | { readonly kind: 'thread'; readonly thread: string }
  | { readonly kind: 'author'; readonly author: string }
  | { readonly kind: 'item'; readonly thread: string; readonly n: ItemNumber }
  /** The same words at the same time, in whatever session: a fork's copy of a forgotten item. */
  | { readonly kind: 'copy'; readonly at: EpochSeconds | null; readonly text: string };

/** Asked with plain names. */
export interface Forgetting {
  hides(what: Forgotten): boolean;
  readonly isEmpty: boolean;
}

export class TombstonesError extends MemoryError {
  constructor(reason: string) {
    super(
      `tombstones.json of the rollouts ref cannot be used: ${reason}. Nothing was uploaded.`,
      'Update this checkout if a newer version wrote it; else the next night writes it anew.',
    );
  }
}

const format = 'ctm-tombstones';
const version = 1;

export function tombstoneKey(salt: string, what: Forgotten): string {
  return sha256(JSON.stringify([salt, what.kind, ...partsOf(what)]));
}

/** One key a line in binary order, so that two lists merge and compare as text. */
export function formatTombstones({ salt, keys }: ArchiveTombstones): string {
  const rows = [...new Set(keys)].sort(byBinary).map((key) => JSON.stringify(key));
  const list = rows.length === 0 ? '[]' : `[\n${rows.join(',\n')}\n]`;
  return `{"format":"${format}","version":${version},"salt":${JSON.stringify(salt)},"keys":${list}}\n`;
}

export const noTombstones: ArchiveTombstones = { salt: '', keys: [] };

/**
 * Those of a commit of the rollouts ref; none where it holds no such file.
 * @throws TombstonesError for anything that this version does not understand: then nothing may be uploaded.
 */
export async function readTombstones(repository: Repository, commit: Oid): Promise<ArchiveTombstones> {
  const text = (await repository.readFiles(commit, [tombstonesPath])).get(tombstonesPath);
  if (text !== undefined) return parseTombstones(text);
  if ((await repository.leaves(commit, [tombstonesPath])).length > 0) throw new TombstonesError('it is no text file');
  return noTombstones;
}

export function forgettingOf({ salt, keys }: ArchiveTombstones): Forgetting {
  const known = new Set(keys);
  return { isEmpty: known.size === 0, hides: (what) => known.size > 0 && known.has(tombstoneKey(salt, what)) };
}

function partsOf(what: Forgotten): (string | number | null)[] {
  switch (what.kind) {
    case 'thread':
      return [what.thread];
    case 'author':
      return [what.author];
    case 'item':
      return [what.thread, what.n];
    case 'copy':
      return [what.at, what.text];
  }
}

function parseTombstones(text: string): ArchiveTombstones {
  const value = objectIn(text);
  if (value.format !== format) throw new TombstonesError(`"format" is not ${format}`);
  if (value.version !== version) throw new TombstonesError(`"version" is not ${version}`);
  const { salt, keys } = value;
  if (typeof salt !== 'string') throw new TombstonesError('"salt" is no text');
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string' || !/^[0-9a-f]{64}$/.test(key)))
    throw new TombstonesError('"keys" is no list of hashes');
  return { salt, keys: keys as string[] };
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new TombstonesError(`it is no JSON (${error.message.slice(0, 120)})`);
  }
  throw new TombstonesError('it is no JSON object');
}
