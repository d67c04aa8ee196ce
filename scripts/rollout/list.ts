import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary } from '../shared/files.ts';
import type { RolloutCache } from './cache.ts';
import { type Entry, entryOf, factsOf, type Listed, type ReadingPlace } from './entry.ts';
import { hashed, repeatsIn } from './forks.ts';
import type { Kept } from './kept.ts';
import { readAgain } from './read-again.ts';
import { readers } from './readers.ts';
import type { Found, Source } from './source.ts';
import { withoutRepeats } from './thread.ts';
import { type Ignored, sessionFiles } from './walk.ts';

export interface Listing {
  readonly found: readonly Found[];
  readonly ignored: readonly Ignored[];
  readonly entries: ReadonlyMap<string, Entry>;
  readonly repeats: ReadonlyMap<string, ReadonlySet<ItemNumber>>;
}

/** Reads every session of the sources once, those that did not change since they were kept from there. */
export async function listAll(
  sources: readonly Source[],
  place: ReadingPlace,
  cache: RolloutCache,
  kept: Kept,
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
      signal?.throwIfAborted();
      const entry = await entryOf(path, reader, place, cache, kept, signal);
      if ('reason' in entry) ignored.push(entry);
      else keepBetter(entry, entries, ignored);
    }
  }
  const listed = [...entries.values()].sort((a, b) => byBinary(a.found.thread.id, b.found.thread.id));
  const repeats = repeatsIn(listed.map((entry) => entry.outline));
  const found = await Promise.all(
    listed.map((entry) => counted(entry, repeats.get(entry.found.thread.id), place, cache, kept)),
  );
  return { found, ignored: unique(ignored), entries: withoutOutlines(listed), repeats };
}

function withoutOutlines(listed: readonly Listed[]): Map<string, Entry> {
  return new Map(listed.map(({ found, reader, bytes, sha256 }) => [found.thread.id, { found, reader, bytes, sha256 }]));
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
  entry: Listed,
  repeated: ReadonlySet<ItemNumber> | undefined,
  place: ReadingPlace,
  cache: RolloutCache,
  kept: Kept,
): Promise<Found> {
  if (repeated === undefined) return entry.found;
  const { found, look } = entry;
  const row = entry.row();
  const repeats = hashed([...repeated].join(' '));
  if (row.own?.repeats === repeats) return { ...found, ...row.own.facts };
  const whole = cache.get(found.path) ?? (await readAgain(entry, place));
  const facts = factsOf(withoutRepeats(whole, repeated));
  if (whole.source.sha256 === entry.sha256) kept.keep(look, () => ({ ...row, own: { repeats, facts } }));
  return { ...found, ...facts };
}

export function atHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

/** By path; a file that two sources reach is named once. */
function unique(ignored: readonly Ignored[]): Ignored[] {
  const byPath = new Map(ignored.map((entry) => [entry.path, entry]));
  return [...byPath.values()].sort((a, b) => byBinary(a.path, b.path));
}
