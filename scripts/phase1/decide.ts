import type { Found } from '../rollout/source.ts';
import { day, type EpochSeconds, hour } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';

/** Why a session is not read tonight. `status` and `--dry-run` print these words. */
export type SkipReason =
  | 'sub_agent'
  | 'ephemeral'
  | 'own_run'
  | 'origin_excluded'
  | 'repository_not_included'
  | 'repository_excluded'
  | 'no_human_words'
  | 'disabled'
  | 'opted_out'
  | 'used_outside'
  | 'tombstoned'
  | 'short_id_taken'
  | 'too_old'
  | 'expired_unread'
  | 'before_horizon'
  | 'not_idle'
  | 'up_to_date'
  | 'running'
  | 'backoff'
  | 'exhausted'
  | 'no_allowance'
  | 'waits_for_batch';

export interface ReadPolicy {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly excludeOrigins: readonly string[];
  /** What becomes of sessions that used the web or MCP servers. */
  readonly outside: 'include' | 'exclude' | 'downrank';
  /** Sessions that this machine keeps out, beside those that say so themselves. */
  isOptedOut(found: Found): boolean;
  readonly maxAgeDays: number;
  readonly idleHours: number;
  /** `--source`: the sessions found count as included. */
  readonly all: boolean;
  /** `--now`: ignore the idle time. */
  readonly now: boolean;
  /** `--since`: take what is at least as new as this, whatever the age limit; null keeps the limit. */
  readonly since: EpochSeconds | null;
  /** Thread → the activity up to which a batch was asked about it: that is paid for, and neither age nor use keep it out. */
  readonly asked?: ReadonlyMap<string, EpochSeconds>;
}

/** What the state knows of a session that decides whether it is in time. */
export interface Known {
  readonly firstSeenAt: EpochSeconds | null;
  readonly memoryMode: 'enabled' | 'disabled' | 'polluted';
  readonly tombstoned: boolean;
  /** Sessions older than this without a row were pruned; they are not read again. */
  readonly horizon: EpochSeconds;
}

/** Longest time that a session seen in time waits to be read. */
const maxWaitDays = 30;

/**
 * Whether a session may be read, from what is known without reading it.
 * @returns null when it may.
 * @source design §2 (eligible), §5 (in time, idle)
 */
export function whySkipped(found: Found, known: Known, policy: ReadPolicy, now: EpochSeconds): SkipReason | null {
  const { thread } = found;
  if (thread.kind === 'sub_agent' || thread.kind === 'ephemeral') return thread.kind;
  if (thread.kind === 'own') return 'own_run';
  if (policy.excludeOrigins.includes(thread.origin)) return 'origin_excluded';
  const names = [thread.repo, ...thread.aliases];
  if (names.some((name) => matches(policy.exclude, name))) return 'repository_excluded';
  if (!policy.all && !names.some((name) => matches(policy.include, name))) return 'repository_not_included';
  if (found.humanItems === 0) return 'no_human_words';
  if (isOptedOut(found, policy)) return 'opted_out';
  if (known.memoryMode === 'disabled') return 'disabled';
  if (policy.outside === 'exclude' && (known.memoryMode === 'polluted' || found.usedOutside === true))
    return 'used_outside';
  if (known.tombstoned) return 'tombstoned';
  if (isAsked(found, policy.asked)) return null;
  const late = whyLate(thread.updatedAt, known, policy, now);
  if (late !== null) return late;
  if (!policy.now && thread.updatedAt > now - policy.idleHours * hour) return 'not_idle';
  return null;
}

/** Whether a batch was asked about all that stands in it. */
export function isAsked({ thread }: Found, asked: ReadPolicy['asked']): boolean {
  return (asked?.get(thread.id) ?? -1) >= thread.updatedAt;
}

/** What the state is to hold of it: out of memory, polluted by what it read outside, or neither. */
export function modeOf(found: Found, before: Known['memoryMode'], policy: ReadPolicy): Known['memoryMode'] {
  if (isOptedOut(found, policy) || before === 'disabled') return 'disabled';
  if (policy.outside === 'include') return 'enabled';
  return found.usedOutside === true ? 'polluted' : before;
}

function isOptedOut(found: Found, policy: ReadPolicy): boolean {
  return found.optsOut === true || policy.isOptedOut(found);
}

/** Newest first, but every fifth is the oldest left: what is old is read before it expires. */
export function readingOrder<T extends { readonly thread: { readonly id: string; readonly updatedAt: number } }>(
  sessions: readonly T[],
): T[] {
  const left = [...sessions].sort(
    (a, b) => b.thread.updatedAt - a.thread.updatedAt || byBinary(b.thread.id, a.thread.id),
  );
  const order: T[] = [];
  let newest = 0;
  let oldest = left.length - 1;
  while (newest <= oldest) {
    const next = order.length % 5 === 4 ? left[oldest--] : left[newest++];
    if (next !== undefined) order.push(next);
  }
  return order;
}

/** `host/owner/name` exactly, or every repository below `host/owner/*`. */
export function matches(patterns: readonly string[], repo: string): boolean {
  return patterns.some((pattern) =>
    pattern.endsWith('/*') ? repo.startsWith(pattern.slice(0, -1)) : pattern === repo,
  );
}

function whyLate(updatedAt: EpochSeconds, known: Known, policy: ReadPolicy, now: EpochSeconds): SkipReason | null {
  if (policy.since !== null) return updatedAt < policy.since ? 'too_old' : null;
  if (known.firstSeenAt === null) {
    if (updatedAt < known.horizon) return 'before_horizon';
    return updatedAt < now - policy.maxAgeDays * day ? 'too_old' : null;
  }
  const inTime = updatedAt >= known.firstSeenAt - policy.maxAgeDays * day;
  if (!inTime) return 'too_old';
  return updatedAt < now - maxWaitDays * day ? 'expired_unread' : null;
}
