import type { Repository } from '../git/types.ts';
import { parseRollout, RolloutError } from '../rollout/canonical.ts';
import { said } from '../rollout/entry.ts';
import type { Clean, Found, Rollouts } from '../rollout/source.ts';
import type { Rollout } from '../rollout/types.ts';
import { MemoryError } from '../shared/errors.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { headOfRollout } from './head.ts';
import { threadAt } from './layout.ts';
import { storedRollouts } from './stored.ts';

interface Entry {
  readonly found: Found;
  readonly oid: Oid;
}

interface Listing {
  readonly entries: ReadonlyMap<string, Entry>;
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * The sessions of one commit of the rollouts ref as a source for a night. Listing reads headers only. Laptops removed
 * what forks repeat, so nothing is compared here.
 * @param commit null where there is no ref: no sessions.
 */
export function archivedRollouts(repository: Repository, commit: Oid | null): Rollouts {
  return rolloutsOf(repository, commit, { rollout: (rollout) => rollout, text: (text) => text });
}

function rolloutsOf(repository: Repository, commit: Oid | null, clean: Clean): Rollouts {
  let listing: Promise<Listing> | null = null;
  const listed = (signal?: AbortSignal): Promise<Listing> => {
    listing ??= listAll(repository, commit, clean, signal).catch((error: unknown) => {
      listing = null;
      throw error;
    });
    return listing;
  };
  return {
    async list(signal) {
      const { entries, ignored } = await listed(signal);
      return { found: [...entries.values()].map(({ found }) => found), ignored };
    },
    async read(threadId, signal) {
      const entry = (await listed(signal)).entries.get(threadId);
      if (entry === undefined)
        throw new MemoryError(`No session ${threadId} in the rollouts ref.`, 'See which there are: npm run status.');
      const [bytes] = await repository.readBlobs([entry.oid]);
      return clean.rollout(parseRollout((bytes ?? Buffer.alloc(0)).toString('utf8')));
    },
    cleaned: (more) =>
      rolloutsOf(repository, commit, {
        rollout: (rollout) => more.rollout(clean.rollout(rollout)),
        text: (text) => more.text(clean.text(text)),
      }),
  };
}

async function listAll(
  repository: Repository,
  commit: Oid | null,
  clean: Clean,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const entries: [string, Entry][] = [];
  const ignored: { path: string; reason: string }[] = [];
  if (commit === null) return { entries: new Map(), ignored };
  for await (const { path, oid, bytes } of storedRollouts(repository, commit, () => true, signal)) {
    const found = foundAt(path, bytes, clean);
    if ('reason' in found) ignored.push({ path: clean.text(path), reason: clean.text(found.reason) });
    else entries.push([found.thread.id, { found, oid }]);
  }
  return { entries: new Map(entries.sort(([a], [b]) => byBinary(a, b))), ignored };
}

function foundAt(path: string, bytes: Buffer, clean: Clean): Found | { readonly reason: string } {
  try {
    const { rollout, items, humanItems, optsOut, usedOutside } = headOfRollout(bytes);
    if (rollout.thread.id !== threadAt(path)) return { reason: 'the session in it has another id' };
    const { thread, skipped, memory } = clean.rollout(standIn(rollout));
    const seen = memory === undefined ? {} : { memory };
    return { thread, items, humanItems, skipped, path: clean.text(path), ...seen, ...said(optsOut, usedOutside) };
  } catch (error) {
    if (error instanceof RolloutError) return { reason: error.message };
    throw error;
  }
}

/** The title is the first human words, and so is all that cleaning a header has to see of the items. */
function standIn(head: Omit<Rollout, 'items'>): Rollout {
  const { title } = head.thread;
  return { ...head, items: [{ n: '1', at: null, who: 'human', kind: 'text', text: title, src: { line: 1 } }] };
}
