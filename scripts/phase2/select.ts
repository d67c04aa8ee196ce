import { day, type EpochSeconds } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import type { OutputView, SelectionRow } from '../state/types.ts';

export interface SelectionPolicy {
  readonly maxRawMemories: number;
  readonly maxUnusedDays: number;
  /** New outputs that one night may bring into a scope. */
  readonly maxNewPerNight: number;
  /** Sessions that used the web or MCP servers: the others come first, or they do not come at all. */
  readonly outside?: 'include' | 'exclude' | 'downrank';
  /** Run id → when people could read it first; where they review what is proposed, what they have not seen waits. */
  readonly reachedAt?: ReadonlyMap<string, EpochSeconds> | null;
}

export interface Selection {
  /** By ascending thread id, so that equal selections give equal files. */
  readonly chosen: readonly OutputView[];
  /** New outputs left for later nights. */
  readonly waiting: number;
  /** Threads that were selected last time and no longer are. */
  readonly forgotten: readonly string[];
}

/**
 * Chooses what a scope's consolidation reads: the most cited, then the most recent. What nobody used for
 * `maxUnusedDays` is left out, and that is how memories are forgotten; threads behind a standing human line stay and
 * take no slot. Half of the slots are kept for rows never consolidated, which enter oldest first; what was there and
 * left by its rank comes back only into slots that nobody else takes.
 * @param pinned threads that a human-stated line of the handbook rests on.
 * @source design §6; spec §6.3
 */
export function selectInputs(
  outputs: readonly OutputView[],
  before: readonly SelectionRow[],
  pinned: ReadonlySet<string>,
  policy: SelectionPolicy,
  now: EpochSeconds,
): Selection {
  const cutoff = now - policy.maxUnusedDays * day;
  const known = new Set(before.map((row) => row.threadId));
  const allowed = policy.outside === 'exclude' ? outputs.filter((output) => !isPolluted(output)) : outputs;
  const worded = allowed.filter((output) => output.rawMemory.trim() !== '' || output.rolloutSummary.trim() !== '');
  const isLasting = ({ threadId }: OutputView) => known.has(threadId) && pinned.has(threadId);
  const lasting = worded.filter(isLasting);
  const rest = worded.filter((output) => !isLasting(output) && agesFrom(output, policy) >= cutoff);
  const old = rest.filter((output) => known.has(output.threadId)).sort(last(byUseThenRecency, policy));
  const others = rest.filter((output) => !known.has(output.threadId));
  const wasThere = leftByRank(before);
  const fresh = others.filter((output) => !wasThere(output)).sort(last(oldestFirst, policy));
  const reserved = Math.ceil(policy.maxRawMemories / 2);
  const room = Math.max(reserved, policy.maxRawMemories - old.length);
  const entering = fresh.slice(0, Math.min(room, policy.maxNewPerNight));
  const staying = old.slice(0, policy.maxRawMemories - entering.length);
  const left = Math.min(policy.maxRawMemories - staying.length, policy.maxNewPerNight) - entering.length;
  const returning = others.filter(wasThere).sort(last(byUseThenRecency, policy)).slice(0, Math.max(0, left));
  const chosen = [...lasting, ...staying, ...entering, ...returning].sort((a, b) => byBinary(a.threadId, b.threadId));
  const ids = new Set(chosen.map((output) => output.threadId));
  return {
    chosen,
    waiting: fresh.length - entering.length,
    forgotten: [...known].filter((id) => !ids.has(id)).sort(byBinary),
  };
}

/**
 * Whether a row that is not selected was so before. Rows enter oldest first, so what is no newer than the newest of the
 * last selection, and was made by then, has had its turn.
 */
function leftByRank(before: readonly SelectionRow[]): (output: OutputView) => boolean {
  const [newest] = [...before].sort((a, b) => oldestFirst(b, a));
  const selectedAt = before.reduce((most, row) => Math.max(most, row.selectedAt), 0);
  return (output) => newest !== undefined && output.generatedAt <= selectedAt && oldestFirst(output, newest) <= 0;
}

/** Never-used rows count from the night that made them, since until then nobody could use them. */
function lastSign(output: OutputView): EpochSeconds {
  return output.lastUsage ?? Math.max(output.sourceUpdatedAt, output.generatedAt);
}

/** @source design §6: never used, from when it reached the default branch; never reached, as if read to the end once */
function agesFrom(output: OutputView, { reachedAt = null, maxUnusedDays }: SelectionPolicy): EpochSeconds {
  if (reachedAt === null || output.lastUsage !== null) return lastSign(output);
  const reached = reachedAt.get(output.runId) ?? output.generatedAt + maxUnusedDays * day;
  return Math.max(output.sourceUpdatedAt, reached);
}

function isPolluted({ thread }: OutputView): boolean {
  return thread.memoryMode === 'polluted';
}

type Order = (a: OutputView, b: OutputView) => number;

/** The same order, after it the polluted ones where they are ranked down. */
function last(order: Order, { outside }: SelectionPolicy): Order {
  if (outside !== 'downrank') return order;
  return (a, b) => Number(isPolluted(a)) - Number(isPolluted(b)) || order(a, b);
}

/** What was only read ranks below what was cited. */
function byUseThenRecency(a: OutputView, b: OutputView): number {
  return (
    b.usageCount - a.usageCount ||
    b.readCount - a.readCount ||
    lastSign(b) - lastSign(a) ||
    b.sourceUpdatedAt - a.sourceUpdatedAt ||
    byBinary(b.threadId, a.threadId)
  );
}

type Aged = Pick<OutputView, 'sourceUpdatedAt' | 'threadId'>;

function oldestFirst(a: Aged, b: Aged): number {
  return a.sourceUpdatedAt - b.sourceUpdatedAt || byBinary(a.threadId, b.threadId);
}
