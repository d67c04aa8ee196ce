import { prepareScope } from '../phase2/prepare.ts';
import type { ConsolidationPolicy, MemoryStart } from '../phase2/run.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { jobOf, listJobs } from '../state/jobs.ts';
import { claimConsolidation, dueScopes, releaseConsolidation } from '../state/scopes.ts';
import { selectionOf } from '../state/selection.ts';
import type { ExtractorClass } from '../state/types.ts';
import { everywhere } from '../workspace/layout.ts';

/** How a scope stands. Counts are of sessions. */
export interface ScopeStatus {
  readonly scope: string;
  /** Read by its last consolidation. */
  readonly selected: number;
  /** Taught something that no consolidation has read yet. */
  readonly waiting: number;
  /** Would be forgotten by the next one. */
  readonly leaving: number;
  readonly consolidatedAt: EpochSeconds | null;
  readonly by: ExtractorClass | null;
  /** `rests`: nothing differs. The others have something to do: now, or not before `at`. */
  readonly next: 'rests' | 'due' | 'cooldown' | 'backoff' | 'running';
  readonly at: EpochSeconds | null;
  /** On the same input, in a row. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** Every scope as the next night would find it, in binary order, `*` last. Leaves the state as it was. */
export function scopeStatuses(
  state: State,
  start: MemoryStart,
  policy: ConsolidationPolicy,
  now: EpochSeconds,
): ScopeStatus[] {
  const keys = listJobs(state, 'memory_consolidate').map(({ key }) => key);
  const scopes = new Set([...dueScopes(state), ...keys].filter((scope) => scope !== everywhere));
  const known = [...scopes].sort(byBinary).map((scope) => scopeStatus(state, scope, start, policy, now));
  const last = jobOf(state, 'memory_consolidate', everywhere);
  return last === null ? known : [...known, { ...fromJob(state, everywhere), ...nothingNew, next: 'rests', at: null }];
}

const nothingNew = { waiting: 0, leaving: 0 } as const;

function scopeStatus(
  state: State,
  scope: string,
  start: MemoryStart,
  policy: ConsolidationPolicy,
  now: EpochSeconds,
): ScopeStatus {
  const { selection, isDue } = prepareScope(state, scope, start, policy, now);
  const before = new Map(selectionOf(state, scope).map((row) => [row.threadId, row]));
  const fresh = selection.chosen.filter(
    (output) => before.get(output.threadId)?.sourceUpdatedAt !== output.sourceUpdatedAt,
  );
  return {
    ...fromJob(state, scope),
    waiting: fresh.length + selection.waiting,
    leaving: selection.forgotten.length,
    ...(isDue ? nextTurn(state, scope, policy, now) : { next: 'rests', at: null }),
  };
}

type FromJob = Omit<ScopeStatus, 'waiting' | 'leaving' | 'next' | 'at'>;

function fromJob(state: State, scope: string): FromJob {
  const job = jobOf(state, 'memory_consolidate', scope);
  const selection = selectionOf(state, scope);
  const isDone = job?.lastSuccessClass != null && job.lastError === null;
  return {
    scope,
    selected: selection.length,
    consolidatedAt:
      selection.reduce((last, row) => Math.max(last, row.selectedAt), (isDone && job.finishedAt) || 0) || null,
    by: job?.lastSuccessClass ?? null,
    failures: job?.failures ?? 0,
    lastError: job?.lastError ?? null,
  };
}

/** Asks as a night would, and gives the claim back. */
function nextTurn(
  state: State,
  scope: string,
  { cooldownSeconds, leaseSeconds }: ConsolidationPolicy,
  now: EpochSeconds,
): Pick<ScopeStatus, 'next' | 'at'> {
  const terms = { now, cooldownSeconds, leaseSeconds, workerId: 'status', token: 'status' };
  const claim = claimConsolidation(state, scope, terms);
  if (claim.outcome !== 'claimed') return { next: claim.outcome, at: claim.until };
  releaseConsolidation(state, claim);
  return { next: 'due', at: null };
}
