import { resolve } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import { rolloutCache } from './cache.ts';
import { keptNowhere, type ListingFolder, openKept } from './kept.ts';
import { atHome, type Listing, listAll } from './list.ts';
import type { MemorySeen } from './memory-seen.ts';
import { readAgain } from './read-again.ts';
import { type Place, withoutRepeats } from './thread.ts';
import type { Agent, Counts, Rollout, Thread } from './types.ts';
import type { Ignored } from './walk.ts';

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
  /** Changes whenever what it does may, and says that what it returns may be kept on disk. Without one nothing is. */
  key?(): string;
}

export interface Source {
  readonly agent: Agent;
  /** A folder, searched with everything below it, or one file. `~/` is the home folder. */
  readonly path: string;
}

/** Rollouts kept in memory from `list` to their `read`, so that a file is seldom parsed twice. */
const cacheBytes = 64 * 1024 * 1024;

/**
 * @param place where this machine's repositories and home folder are, and which repositories are wanted.
 * @param listings where what is known of sessions is kept, so that those that do not change are not read to be listed;
 * only what was cleaned is.
 */
export function openRollouts(sources: readonly Source[], place: Place, listings?: ListingFolder): Rollouts {
  return rolloutsOf(sources, place, { rollout: (rollout) => rollout, text: (text) => text, key: () => '' }, listings);
}

function rolloutsOf(sources: readonly Source[], place: Place, clean: Clean, listings?: ListingFolder): Rollouts {
  const cache = rolloutCache(cacheBytes);
  let listing: Promise<Listing> | null = null;
  const listed = (signal?: AbortSignal): Promise<Listing> => {
    listing ??= listKept(signal).catch((error: unknown) => {
      listing = null;
      throw error;
    });
    return listing;
  };
  const listKept = async (signal?: AbortSignal): Promise<Listing> => {
    const key = listings === undefined ? undefined : clean.key?.();
    const kept = listings && key ? openKept(listings, settingsOf(sources, place, key)) : keptNowhere;
    try {
      const made = await listAll(sources, { ...place, clean }, cache, kept, signal);
      kept.end();
      return made;
    } finally {
      kept.drop();
    }
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
      const rollout = cache.take(entry.found.path) ?? (await readAgain(entry, { ...place, clean }, signal));
      return withoutRepeats(rollout, repeats.get(threadId) ?? new Set());
    },
    cleaned: (more) => rolloutsOf(sources, place, both(clean, more), listings),
  };
}

function both(first: Clean, second: Clean): Clean {
  const { key: before } = first;
  const { key: after } = second;
  return {
    rollout: (rollout) => second.rollout(first.rollout(rollout)),
    text: (text) => second.text(first.text(text)),
    ...(before && after ? { key: () => `${before()} ${after()}` } : {}),
  };
}

/** What a session is listed as depends on these beside its files, its folder's repository and the program. */
function settingsOf(sources: readonly Source[], { include, home, optOutWord }: Place, cleaned: string): unknown {
  const searched = sources.map(({ agent, path }) => [agent, resolve(atHome(path, home))]);
  return [searched, include, home, optOutWord ?? null, cleaned];
}
