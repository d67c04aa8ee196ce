import { MemoryError, messageOf } from '../shared/errors.ts';
import type { ItemNumber } from '../shared/evidence.ts';
import { byBinary } from '../shared/files.ts';
import { safeThreadId } from '../shared/thread-id.ts';
import { kinOf, type Outline, outlineOf, repeatsIn } from './forks.ts';
import type { MemorySeen } from './memory-seen.ts';
import { optsOut, usedOutside } from './opt-out.ts';
import type { Reader } from './reader.ts';
import { readers } from './readers.ts';
import { type Place, rolloutOf, withoutRepeats } from './thread.ts';
import type { Agent, Counts, Rollout, Thread } from './types.ts';
import { type Ignored, sessionFiles } from './walk.ts';

/** A session that could be read, and what one has to know to decide whether to. */
export interface Found {
  readonly thread: Thread;
  readonly items: number;
  readonly humanItems: number;
  readonly skipped: Counts;
  readonly path: string;
  /** Which memory it was shown. */
  readonly memory?: MemorySeen;
  /** Names that it shares with sessions that it copied from, or that copied from it (`kinOf`); none in the archive. */
  readonly kin?: readonly string[];
  /** A person keeps it out of memory with a word. */
  readonly optsOut?: boolean;
  /** It used the web or the tools of an MCP server. */
  readonly usedOutside?: boolean;
}

/** The sessions of all sources. A listing is made once: what is written later waits for the next night. */
export interface Rollouts {
  /** Ascending thread id, whatever the order of files and sources. */
  list(signal?: AbortSignal): Promise<{ readonly found: readonly Found[]; readonly ignored: readonly Ignored[] }>;
  /** @throws MemoryError for an id that `list` did not find, and for a file that can no longer be read. */
  read(threadId: string, signal?: AbortSignal): Promise<Rollout>;
  /** The same sources, each session passed through `clean` once it is read: nobody sees it as it was. */
  cleaned(clean: Clean): Rollouts;
}

export interface Clean {
  rollout(rollout: Rollout): Rollout;
  /** For paths and reasons. */
  text(text: string): string;
}

export interface Source {
  readonly agent: Agent;
  /** A folder, searched with everything below it, or one file. `~/` is the home folder. */
  readonly path: string;
}

interface Entry {
  readonly found: Found;
  readonly reader: Reader;
  readonly outline: Outline;
  readonly bytes: number;
  readonly sha256: string;
}

interface Listing {
  readonly found: readonly Found[];
  readonly ignored: readonly Ignored[];
  readonly entries: ReadonlyMap<string, Entry>;
  readonly repeats: ReadonlyMap<string, ReadonlySet<ItemNumber>>;
}

/** Rollouts kept in memory after `list`, so that `read` seldom parses a file twice. */
const cacheBytes = 64 * 1024 * 1024;

/**
 * @param place where this machine's repositories and home folder are, and which repositories are wanted.
 */
export function openRollouts(sources: readonly Source[], place: Place): Rollouts {
  return rolloutsOf(sources, place, { rollout: (rollout) => rollout, text: (text) => text });
}

function rolloutsOf(sources: readonly Source[], place: Place, clean: Clean): Rollouts {
  const cache = rolloutCache(cacheBytes);
  let listing: Promise<Listing> | null = null;
  const listed = (signal?: AbortSignal): Promise<Listing> => {
    listing ??= listAll(sources, { ...place, clean }, cache, signal).catch((error: unknown) => {
      listing = null;
      throw error;
    });
    return listing;
  };
  return {
    async list(signal) {
      const { found, ignored } = await listed(signal);
      return {
        found,
        ignored: ignored.map(({ path, reason }) => ({ path: clean.text(path), reason: clean.text(reason) })),
      };
    },
    async read(threadId, signal) {
      const { entries, repeats } = await listed(signal);
      const entry = entries.get(threadId);
      if (entry === undefined)
        throw new MemoryError(`No session ${threadId} in the sources.`, 'See which there are: npm run status.');
      const rollout = cache.get(entry.found.path) ?? (await readAgain(entry, { ...place, clean }, signal));
      return withoutRepeats(rollout, repeats.get(threadId) ?? new Set());
    },
    cleaned: (more) =>
      rolloutsOf(sources, place, {
        rollout: (rollout) => more.rollout(clean.rollout(rollout)),
        text: (text) => more.text(clean.text(text)),
      }),
  };
}

type Reading = Place & { readonly clean: Clean };

async function listAll(
  sources: readonly Source[],
  place: Reading,
  cache: RolloutCache,
  signal?: AbortSignal,
): Promise<Listing> {
  const ignored: Ignored[] = [];
  const entries = new Map<string, Entry>();
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
  return { found, ignored: unique(ignored), entries, repeats };
}

async function entryOf(
  path: string,
  reader: Reader,
  place: Reading,
  cache: RolloutCache,
  signal?: AbortSignal,
): Promise<Entry | Ignored> {
  try {
    const reading = await reader.read(path, { home: place.home, ...(signal === undefined ? {} : { signal }) });
    if (reading.outcome === 'ignored') return { path, reason: reading.reason };
    const whole = await rolloutOf(reading.session, place);
    const rollout = place.clean.rollout(whole);
    cache.add(path, rollout);
    const { bytes, sha256 } = rollout.source;
    const outline = {
      ...outlineOf(reading.session),
      id: rollout.thread.id,
      parents: reading.session.parents.map(safeThreadId),
    };
    const about = said(optsOut(whole.items, place.optOutWord), usedOutside(whole.items));
    return { found: { ...foundOf(rollout, path), kin: kinOf(outline), ...about }, reader, outline, bytes, sha256 };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Error && 'code' in error) return { path, reason: `unreadable: ${messageOf(error)}` };
    throw error;
  }
}

/** Of two files with one id the one with more items stays, then the longer, then the smaller hash. */
function keepBetter(entry: Entry, entries: Map<string, Entry>, ignored: Ignored[]): void {
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

async function readAgain({ found, reader }: Entry, place: Reading, signal?: AbortSignal): Promise<Rollout> {
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

interface RolloutCache {
  add(path: string, rollout: Rollout): void;
  get(path: string): Rollout | undefined;
}

/** Keeps what fits; what does not is read again. */
function rolloutCache(limit: number): RolloutCache {
  const kept = new Map<string, Rollout>();
  let used = 0;
  return {
    add(path, rollout) {
      const size = rollout.items.reduce((sum, item) => sum + 2 * item.text.length + 300, 1000);
      if (used + size > limit) return;
      used += size;
      kept.set(path, rollout);
    },
    get: (path) => kept.get(path),
  };
}

function atHome(path: string, home: string): string {
  return path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
}

/** By path; a file that two sources reach is named once. */
function unique(ignored: readonly Ignored[]): Ignored[] {
  const byPath = new Map(ignored.map((entry) => [entry.path, entry]));
  return [...byPath.values()].sort((a, b) => byBinary(a.path, b.path));
}
