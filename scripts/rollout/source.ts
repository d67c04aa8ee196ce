import { MemoryError } from '../shared/errors.ts';
import { rolloutCache } from './cache.ts';
import { type Listing, listAll, readAgain } from './list.ts';
import type { MemorySeen } from './memory-seen.ts';
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
      const rollout = cache.take(entry.found.path) ?? (await readAgain(entry, { ...place, clean }, signal));
      return withoutRepeats(rollout, repeats.get(threadId) ?? new Set());
    },
    cleaned: (more) =>
      rolloutsOf(sources, place, {
        rollout: (rollout) => more.rollout(clean.rollout(rollout)),
        text: (text) => more.text(clean.text(text)),
      }),
  };
}
