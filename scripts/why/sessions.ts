import type { EpochSeconds } from '../shared/clock.ts';
import type { Evidence, ItemNumber } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { evidenceOf } from '../state/evidence.ts';
import { outputOf } from '../state/outputs.ts';
import { horizonOf } from '../state/prune.ts';
import { getThread, threadByShortId } from '../state/threads.ts';
import { listTombstones } from '../state/tombstones.ts';
import type { EvidenceRow, Stage1Output, ThreadRow, TombstoneRow } from '../state/types.ts';
import type { ExtensionEntry } from '../workspace/extension.ts';
import type { Scope } from '../workspace/layout.ts';
import type { MemoryLine } from './lines.ts';

/** A session that a line stands on, or a note or an imported file in a session's place. */
export interface Session {
  readonly shortId: string;
  readonly threadId: string | null;
  /** null where the state knows it no longer, or never did. */
  readonly thread: ThreadRow | null;
  /** What phase 1 made of it; null where that is gone. */
  readonly output: Stage1Output | null;
  /** null for a session. */
  readonly note: ExtensionEntry | null;
  readonly items: readonly CitedItem[];
  /** Why something of it is missing, or does not count; null where all is there. */
  readonly fate: Fate | null;
}

export interface CitedItem {
  readonly n: ItemNumber;
  /** What phase 1 noted of it; null where the state has no such item. */
  readonly row: EvidenceRow | null;
  /** Under a tombstone: since when, and why. */
  readonly forgotten: Pick<TombstoneRow, 'setAt' | 'reason' | 'pullRequest'> | null;
}

export type Fate =
  | { readonly kind: 'forgotten'; readonly since: EpochSeconds; readonly reason: string }
  | { readonly kind: 'author_forgotten'; readonly since: EpochSeconds; readonly reason: string }
  /** Taken out of memory by its owner, or because it saw what must not be learned from. */
  | { readonly kind: 'disabled' | 'polluted' }
  /** The session is known, and what was made of it has been let go. */
  | { readonly kind: 'output_pruned'; readonly horizon: EpochSeconds | null }
  /** The state has let go of the whole session: it is older than the horizon. */
  | { readonly kind: 'pruned'; readonly horizon: EpochSeconds }
  | { readonly kind: 'unknown' };

/**
 * The sessions behind a line, in the order in which it names them.
 * @param notes what evidence may name in a session's place.
 */
export function sessionsBehind(
  state: State,
  line: Pick<MemoryLine, 'evidence' | 'threadId' | 'scope'>,
  notes: readonly ExtensionEntry[] = [],
): Session[] {
  const tombstones = listTombstones(state).filter(({ liftedAt }) => liftedAt === null);
  const named: Evidence[] = [...line.evidence];
  const own = line.threadId === null ? null : shortThreadId(line.threadId);
  if (own !== null && !named.some(({ thread }) => thread === own)) named.push({ thread: own, items: [] });
  return named.map((evidence) => {
    const note = notes.find(({ threadId }) => shortThreadId(threadId) === evidence.thread) ?? null;
    const known = note?.threadId ?? idOf(state, evidence.thread, tombstones);
    const session = sessionOf(state, evidence, evidence.thread === own ? line.threadId : known, line.scope, tombstones);
    return note === null ? session : { ...session, note, fate: null };
  });
}

function idOf(state: State, shortId: string, tombstones: readonly TombstoneRow[]): string | null {
  const known = threadByShortId(state, shortId);
  if (known !== null) return known.threadId;
  const named = tombstones.flatMap(({ kind, key }) => (kind === 'author' ? [] : [key.split(' ', 1)[0] ?? '']));
  return named.find((threadId) => shortThreadId(threadId) === shortId) ?? null;
}

function sessionOf(
  state: State,
  { thread: shortId, items }: Evidence,
  threadId: string | null,
  scope: Scope,
  tombstones: readonly TombstoneRow[],
): Session {
  const thread = threadId === null ? null : getThread(state, threadId);
  const output = threadId === null ? null : outputOf(state, threadId);
  const rows = new Map(threadId === null ? [] : evidenceOf(state, threadId).map((row) => [row.n, row]));
  const scopes = new Set([scope, thread?.repo ?? scope]);
  return {
    shortId,
    threadId,
    thread,
    output,
    note: null,
    items: items.map((n) => ({
      n,
      row: rows.get(n) ?? null,
      forgotten:
        tombstones.find(
          ({ kind, key }) => kind === 'evidence' && [...scopes].some((each) => key === `${threadId} ${n} ${each}`),
        ) ?? null,
    })),
    fate: fateOf(state, threadId, thread, output, tombstones),
  };
}

function fateOf(
  state: State,
  threadId: string | null,
  thread: ThreadRow | null,
  output: Stage1Output | null,
  tombstones: readonly TombstoneRow[],
): Fate | null {
  const byThread = tombstones.find(({ kind, key }) => kind === 'thread' && key === threadId);
  if (byThread !== undefined) return { kind: 'forgotten', since: byThread.setAt, reason: byThread.reason };
  const byAuthor = tombstones.find(({ kind, key }) => kind === 'author' && key === thread?.author);
  if (byAuthor !== undefined) return { kind: 'author_forgotten', since: byAuthor.setAt, reason: byAuthor.reason };
  const horizon = horizonOf(state);
  if (thread === null) return horizon === null ? { kind: 'unknown' } : { kind: 'pruned', horizon };
  if (thread.memoryMode !== 'enabled') return { kind: thread.memoryMode };
  return output === null ? { kind: 'output_pruned', horizon } : null;
}
