import { MemoryError, messageOf } from '../shared/errors.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary } from '../shared/files.ts';
import type { RolloutCache } from './cache.ts';
import { kinOf, type Outline, outlineOf, repeatsIn } from './forks.ts';
import { optsOut, usedOutside } from './opt-out.ts';
import type { Reader } from './reader.ts';
import { readers } from './readers.ts';
import type { Clean, Found, Source } from './source.ts';
import { type Place, rolloutOf, withoutRepeats } from './thread.ts';
import type { Rollout } from './types.ts';
import { type Ignored, sessionFiles } from './walk.ts';

export interface Entry {
  readonly found: Found;
  readonly reader: Reader;
  readonly bytes: number;
  readonly sha256: string;
}

/** As it was read: of it only what `read` needs is kept. */
interface Listed extends Entry {
  readonly outline: Outline;
}

export interface Listing {
  readonly found: readonly Found[];
  readonly ignored: readonly Ignored[];
  readonly entries: ReadonlyMap<string, Entry>;
  readonly repeats: ReadonlyMap<string, ReadonlySet<ItemNumber>>;
}

export type Reading = Place & { readonly clean: Clean };

/** Reads every session of the sources once. */
export async function listAll(
  sources: readonly Source[],
  place: Reading,
  cache: RolloutCache,
  signal?: AbortSignal,
): Promise<Listing> {
  const ignored: Ignored[] = [];
  const entries = new Map<string, Listed>();
  const seen = new Set<string>();
  for (const source of sources) {
    const reader = readers[source.agent];
    const files = await sessionFiles(atHome(source.path, place.home), reader, signal);
    ignored.push(...files.ignored);
    for (const path of files.paths) {
      if (seen.has(path)) continue;
      seen.add(path);
      const entry = await entryOf(path, reader, place, cache, signal);
      if ('reason' in entry) ignored.push(entry);
      else keepBetter(entry, entries, ignored);
    }
  }
  const kept = [...entries.values()].sort((a, b) => byBinary(a.found.thread.id, b.found.thread.id));
  const repeats = repeatsIn(kept.map((entry) => entry.outline));
  const found = await Promise.all(
    kept.map((entry) => counted(entry, repeats.get(entry.found.thread.id), place, cache)),
  );
  return { found, ignored: unique(ignored), entries: withoutOutlines(kept), repeats };
}

function withoutOutlines(listed: readonly Listed[]): Map<string, Entry> {
  return new Map(listed.map(({ outline: _, ...entry }) => [entry.found.thread.id, entry]));
}

async function entryOf(
  path: string,
  reader: Reader,
  place: Reading,
  cache: RolloutCache,
  signal?: AbortSignal,
): Promise<Listed | Ignored> {
  try {
    const reading = await reader.read(path, { home: place.home, ...(signal === undefined ? {} : { signal }) });
    if (reading.outcome === 'ignored') return { path, reason: reading.reason };
    const whole = await rolloutOf(reading.session, place);
    const rollout = place.clean.rollout(whole);
    cache.add(path, rollout);
    const { bytes, sha256 } = rollout.source;
    const outline = outlineOf(reading.session, rollout.thread.id);
    const about = said(optsOut(whole.items, place.optOutWord), usedOutside(whole.items));
    return { found: { ...foundOf(rollout, path), kin: kinOf(outline), ...about }, reader, outline, bytes, sha256 };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error) return { path, reason: `unreadable: ${messageOf(error)}` };
    throw error;
  }
}

/** Of two files with one id the one with more items stays, then the longer, then the smaller hash. */
function keepBetter(entry: Listed, entries: Map<string, Listed>, ignored: Ignored[]): void {
  const { id } = entry.found.thread;
  const other = entries.get(id);
  if (other === undefined) {
    entries.set(id, entry);
    return;
  }
  const isBetter =
    (entry.found.items - other.found.items ||
      entry.bytes - other.bytes ||
      byBinary(other.sha256, entry.sha256) ||
      byBinary(other.found.path, entry.found.path)) > 0;
  entries.set(id, isBetter ? entry : other);
  const lost = isBetter ? other : entry;
  ignored.push({ path: lost.found.path, reason: `the same session as ${(isBetter ? entry : other).found.path}` });
}

async function counted(
  entry: Entry,
  repeated: ReadonlySet<ItemNumber> | undefined,
  place: Reading,
  cache: RolloutCache,
): Promise<Found> {
  if (repeated === undefined) return entry.found;
  const { path } = entry.found;
  const own = withoutRepeats(cache.get(path) ?? (await readAgain(entry, place)), repeated);
  return { ...entry.found, ...foundOf(own, path) };
}

/** What is so; the rest is left out. */
export function said(isOut: boolean, isOutside: boolean): Pick<Found, 'optsOut' | 'usedOutside'> {
  return { ...(isOut ? { optsOut: true } : {}), ...(isOutside ? { usedOutside: true } : {}) };
}

function foundOf(rollout: Rollout, path: string): Found {
  const human = rollout.items.filter((item) => item.who === 'human');
  return {
    thread: rollout.thread,
    items: rollout.items.length,
    humanItems: human.length,
    skipped: rollout.skipped,
    path,
    ...(rollout.memory === undefined ? {} : { memory: rollout.memory }),
  };
}

/** @throws MemoryError for a file that changed or can no longer be read. */
export async function readAgain({ found, reader }: Entry, place: Reading, signal?: AbortSignal): Promise<Rollout> {
  const reading = await readFile(found.path, reader, place, signal);
  if (reading.outcome === 'session') return place.clean.rollout(await rolloutOf(reading.session, place));
  throw new MemoryError(
    `The session's file changed while it was read: ${reading.reason}.`,
    'Nothing to do: the next night reads it again.',
  );
}

/** What a failure says is kept in the state, so it names no path of this machine. */
async function readFile(path: string, reader: Reader, { home }: Place, signal?: AbortSignal) {
  try {
    return await reader.read(path, { home, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new MemoryError(
      `The session's file can no longer be read (${error.code}).`,
      'Nothing to do: the next night looks for it again.',
      { cause: error },
    );
  }
}

function atHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

/** By path; a file that two sources reach is named once. */
function unique(ignored: readonly Ignored[]): Ignored[] {
  const byPath = new Map(ignored.map((entry) => [entry.path, entry]));
  return [...byPath.values()].sort((a, b) => byBinary(a.path, b.path));
}
