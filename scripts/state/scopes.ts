import type { EpochSeconds } from '../shared/clock.ts';
import { text } from './columns.ts';
import type { State } from './database.ts';
import {
  failed,
  fullRetries,
  isRunning,
  jobOf,
  type Lease,
  newJob,
  type Ownership,
  putJob,
  removeJob,
  succeeded,
  underLease,
  whileOwned,
} from './jobs.ts';
import { replaceSelection } from './selection.ts';
import type { ExtractorClass, JobRow, SelectionRow } from './types.ts';

/** A scope's consolidation that is ours to do. */
export interface ConsolidationClaim extends Ownership {
  readonly outcome: 'claimed';
  readonly kind: 'memory_consolidate';
  /** The scope. */
  readonly key: string;
  readonly watermark: number;
  readonly before: JobRow | null;
}

export type ConsolidationOutcome =
  | ConsolidationClaim
  | { readonly outcome: 'backoff' | 'running' | 'cooldown'; readonly until: EpochSeconds };

export interface ConsolidationTerms extends Lease {
  /** Rest after a clean finish. */
  readonly cooldownSeconds: number;
  readonly ignoreCooldown?: boolean;
  readonly ignoreBackoff?: boolean;
}

/**
 * Wakes a scope: there is new material, or some is gone. Cancels a failure's backoff, never a cooldown; the watermark
 * always grows.
 */
export function enqueueConsolidation(state: State, scope: string, watermark: number): void {
  const job = jobOf(state, kind, scope);
  if (!job) {
    putJob(state, { ...newJob(kind, scope), inputWatermark: watermark });
    return;
  }
  const running = job.status === 'running';
  const before = job.inputWatermark ?? 0;
  putJob(state, {
    ...job,
    status: running ? 'running' : 'pending',
    retryAt: running ? job.retryAt : null,
    retryRemaining: Math.max(job.retryRemaining, fullRetries),
    inputWatermark: watermark > before ? watermark : before + 1,
  });
}

/**
 * Asks for a scope. Refused in this order: a failure's backoff, somebody's lease, the rest after a clean success. The
 * watermark never decides whether there is work (the diff does), and spent retries do not either.
 */
export function claimConsolidation(state: State, scope: string, terms: ConsolidationTerms): ConsolidationOutcome {
  return state.transaction(() => {
    const before = jobOf(state, kind, scope);
    const refusal = before && refusalOf(before, terms);
    if (refusal) return refusal;
    const job = before ?? { ...newJob(kind, scope), inputWatermark: 0 };
    putJob(state, underLease(job, terms));
    return { outcome: 'claimed', kind, key: scope, token: terms.token, watermark: job.inputWatermark ?? 0, before };
  });
}

export interface Consolidated {
  readonly selected: readonly Omit<SelectionRow, 'scope'>[];
  /** The greatest of the claim's and the selected outputs' source times. */
  readonly watermark: number;
  readonly consolidatorClass: ExtractorClass;
  readonly now: EpochSeconds;
  /** The result is code's alone because this input failed too often: its failures still count. */
  readonly keepsFailures?: boolean;
}

/** A success, also one without changes: starts the cooldown. @returns false when the scope is no longer ours. */
export function recordConsolidated(state: State, claim: ConsolidationClaim, result: Consolidated): boolean {
  return whileOwned(state, claim, (job) => {
    replaceSelection(state, claim.key, result.selected);
    return {
      ...succeeded(job, result.now),
      lastSuccessWatermark: Math.max(job.lastSuccessWatermark ?? 0, result.watermark),
      lastSuccessClass: result.consolidatorClass,
      heldRuns: null,
      failedInput: result.keepsFailures ? job.failedInput : null,
      failures: result.keepsFailures ? job.failures : 0,
    };
  });
}

export interface ConsolidationFailure {
  readonly label: string;
  /** Hash of what was given to the consolidator; null when it failed before. */
  readonly inputHash: string | null;
  readonly now: EpochSeconds;
  readonly retrySeconds: number;
}

/**
 * Counts a failure, in a row as long as the input stays the same. A running row without an owner takes it as well.
 * @returns false when the scope is somebody else's.
 */
export function recordConsolidationFailure(
  state: State,
  claim: ConsolidationClaim,
  failure: ConsolidationFailure,
): boolean {
  return state.transaction(() => {
    const job = jobOf(state, kind, claim.key);
    if (job?.status !== 'running') return false;
    if (job.ownershipToken !== null && job.ownershipToken !== claim.token) return false;
    const again = failure.inputHash !== null && failure.inputHash === job.failedInput;
    putJob(state, {
      ...failed(job, { error: failure.label, now: failure.now, retrySeconds: failure.retrySeconds }),
      failedInput: failure.inputHash ?? job.failedInput,
      failures: failure.inputHash === null ? job.failures : again ? job.failures + 1 : 1,
    });
    return true;
  });
}

/**
 * What a scope proposed was closed: it rests until a session arrives that those runs did not have.
 * @param runs their ids.
 */
export function holdScope(state: State, scope: string, runs: readonly string[]): void {
  const job = jobOf(state, kind, scope) ?? newJob(kind, scope);
  putJob(state, { ...job, status: 'pending', finishedAt: null, heldRuns: runs.join(',') });
}

/** The verdict was taken back: the scope goes on as if it had never been held. */
export function releaseHold(state: State, scope: string): void {
  const job = jobOf(state, kind, scope);
  if (job !== null && job.heldRuns !== null) putJob(state, { ...job, heldRuns: null });
}

/** Scopes that are held, in binary order. */
export function heldScopes(state: State): string[] {
  const rows = state.all(
    "select key from jobs where kind = 'memory_consolidate' and held_runs is not null order by key",
  );
  return rows.map((row) => text(row, 'key'));
}

/** Undoes a claim that cost nothing; what was enqueued meanwhile stays so. @returns false when it is not ours. */
export function releaseConsolidation(state: State, claim: ConsolidationClaim): boolean {
  return state.transaction(() => {
    const job = jobOf(state, kind, claim.key);
    if (job?.status !== 'running' || job.ownershipToken !== claim.token) return false;
    if (claim.before) putJob(state, claim.before);
    else removeJob(state, kind, claim.key);
    const watermark = job.inputWatermark ?? 0;
    if (watermark !== claim.watermark) enqueueConsolidation(state, claim.key, watermark);
    return true;
  });
}

/**
 * Scopes to look at, in binary order: those with outputs or a selection (rows age without a sign), and those whose job
 * is not done. The scope `*`, which comes last and is made of all others, is not among them.
 */
export function dueScopes(state: State): string[] {
  const rows = state.all(
    `select repo as scope from (select distinct repo from threads) r where exists (
         select 1 from threads t join stage1_outputs o on o.thread_id = t.thread_id
         where t.repo = r.repo and (o.rollout_summary <> '' or o.raw_memory <> ''))
     union select scope from selection
     union select key from jobs where kind = 'memory_consolidate' and status <> 'done'
     order by 1`,
  );
  return rows.map((row) => text(row, 'scope')).filter((scope) => scope !== '*');
}

const kind = 'memory_consolidate';

function refusalOf(job: JobRow, terms: ConsolidationTerms): ConsolidationOutcome | null {
  const waits = job.retryAt !== null && job.retryAt > terms.now && !terms.ignoreBackoff;
  if (waits) return { outcome: 'backoff', until: job.retryAt };
  if (isRunning(job, terms.now)) return { outcome: 'running', until: job.leaseUntil ?? terms.now };
  const rested = (job.finishedAt ?? 0) + terms.cooldownSeconds;
  if (job.finishedAt === null || job.lastError !== null || terms.ignoreCooldown || rested <= terms.now) return null;
  return { outcome: 'cooldown', until: rested };
}
