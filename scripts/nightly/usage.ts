import type { ReadPolicy } from '../phase1/decide.ts';
import { type Citation, citationOf } from '../recall/citations.ts';
import type { MemorySeen } from '../rollout/memory-seen.ts';
import type { Found, Rollouts } from '../rollout/source.ts';
import type { Item, Thread } from '../rollout/types.ts';
import { day, type EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { recordCitations } from '../state/citations.ts';
import type { State } from '../state/database.ts';
import { horizonOf } from '../state/prune.ts';
import { recordShown, shownUpTo } from '../state/shown.ts';
import { threadByShortId } from '../state/threads.ts';
import type { CitationRow } from '../state/types.ts';
import { citedThreads } from './cited.ts';
import { finalAnswers } from './final-answers.ts';
import { whyNotRead } from './reading.ts';
import type { Start } from './start.ts';

export interface UsagePolicy {
  readonly reading: ReadPolicy;
  readonly maxUnusedDays: number;
}

export interface UsageReport {
  /** Citations that were not known before. */
  readonly citations: number;
  /** Sessions whose use of memory is known now and was not before. */
  readonly sessions: number;
}

/**
 * Notes which memory sessions were shown, and what their answers cite of it. Costs no allowance, so that memories that
 * are used live on while paying has stopped. A session is looked at when it has grown; its items are read only where an
 * answer of it cites. One that cannot be read now is looked at by the next night.
 */
export async function recordUsage(
  start: Pick<Start, 'state' | 'memories'>,
  found: readonly Found[],
  policy: UsagePolicy,
  rollouts: Rollouts,
  now: EpochSeconds,
  signal?: AbortSignal,
): Promise<UsageReport> {
  const { state, memories } = start;
  const horizon = Math.max(now - policy.maxUnusedDays * day, horizonOf(state) ?? 0);
  const reasonOf = whyNotRead(state, policy.reading, now);
  const looked: { entry: Found; seen: MemorySeen; cited: readonly CitationRow[] }[] = [];
  for (const entry of found) {
    const { thread, memory: seen } = entry;
    if (seen === undefined || thread.updatedAt < horizon || reasonOf(entry) !== null) continue;
    if ((shownUpTo(state, thread.id) ?? -1) >= thread.updatedAt) continue;
    const items = seen.citing === 0 ? [] : await itemsOf(thread.id, rollouts, signal);
    if (items !== null) looked.push({ entry, seen, cited: citationRows(state, memories, thread, items, seen) });
  }
  return state.transaction(() => {
    recordShown(
      state,
      looked.map(({ entry: { thread }, seen }) => {
        const known = (ids: readonly string[]) => ids.filter((id) => threadByShortId(state, id) !== null);
        const { id: threadId, author, updatedAt: at } = thread;
        const { injected, retrieved, read } = seen;
        return { threadId, author, at, injected: known(injected), retrieved: known(retrieved), read: known(read) };
      }),
    );
    const rows = looked.flatMap(({ cited }) => cited);
    return { citations: recordCitations(state, rows, { now, horizon }), sessions: looked.length };
  });
}

/** null where the session cannot be read: phase 1 says why. */
async function itemsOf(id: string, rollouts: Rollouts, signal?: AbortSignal): Promise<readonly Item[] | null> {
  try {
    return (await rollouts.read(id, signal)).items;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof MemoryError) return null;
    throw error;
  }
}

function citationRows(
  state: State,
  memories: Files,
  thread: Thread,
  items: readonly Item[],
  seen: MemorySeen,
): CitationRow[] {
  const shown = new Set([...seen.injected, ...seen.retrieved, ...seen.read]);
  return finalAnswers(items).flatMap((answer) => {
    const citation = citationOf(answer.text);
    return citation === null ? [] : votesOf(state, memories, thread, answer, citation, shown);
  });
}

/** What a session says of itself is no sign that others need it. */
function votesOf(
  state: State,
  memories: Files,
  thread: Thread,
  answer: Item,
  citation: Citation,
  shown: ReadonlySet<string>,
): CitationRow[] {
  return citedThreads(state, memories, citation, shown)
    .filter((cited) => cited !== thread.id)
    .map((cited) => ({
      eventId: sha256(JSON.stringify([cited, sourceOf(answer)])).slice(0, 32),
      kind: 'cited',
      cited,
      citingThread: thread.id,
      author: thread.author,
      at: answer.at ?? thread.updatedAt,
    }));
}

/** A shorter id may be one within its session only. */
const globalId = 16;

/** The same for every copy of an answer: in a fork, on another laptop, read again. */
function sourceOf({ src, at, text }: Item): readonly unknown[] {
  return (src.id ?? '').length >= globalId ? [src.id] : [at, text];
}
