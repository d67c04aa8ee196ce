import type { EpochSeconds } from '../shared/clock.ts';
import { integer, integerOrNull, oneOf, text, textOrNull } from './columns.ts';
import type { Row, State } from './database.ts';
import type { ExtractorClass, JobKind, JobRow } from './types.ts';

/** Retries that a job starts with, and gets back when its input is newer. */
export const fullRetries = 3;

/** Characters of `lastError` that are kept. */
const maxErrorLength = 500;

/** Proof that a running job is ours: without the row's token nothing is recorded. */
export interface Ownership {
  readonly kind: JobKind;
  readonly key: string;
  readonly token: string;
}

export interface Lease {
  readonly workerId: string;
  /** Unique for each claim. */
  readonly token: string;
  readonly now: EpochSeconds;
  readonly leaseSeconds: number;
}

export function jobOf(state: State, kind: JobKind, key: string): JobRow | null {
  const row = state.first(`select ${jobColumns.join(', ')} from jobs where kind = :kind and key = :key`, { kind, key });
  return row && jobFrom(row);
}

/** By key. */
export function listJobs(state: State, kind: JobKind): JobRow[] {
  return state.all(`select ${jobColumns.join(', ')} from jobs where kind = :kind order by key`, { kind }).map(jobFrom);
}

/** Whether somebody's lease on the job still runs. */
export function isRunning(job: JobRow, now: EpochSeconds): boolean {
  return job.status === 'running' && job.leaseUntil !== null && job.leaseUntil > now;
}

/** The job as running under a lease; whatever else the row holds is given by `job`. */
export function underLease(job: JobRow, lease: Lease): JobRow {
  return {
    ...job,
    status: 'running',
    workerId: lease.workerId,
    ownershipToken: lease.token,
    startedAt: lease.now,
    finishedAt: null,
    leaseUntil: lease.now + lease.leaseSeconds,
    retryAt: null,
    lastError: null,
  };
}

export function newJob(kind: JobKind, key: string): JobRow {
  return {
    kind,
    key,
    status: 'pending',
    workerId: null,
    ownershipToken: null,
    startedAt: null,
    finishedAt: null,
    leaseUntil: null,
    retryAt: null,
    retryRemaining: fullRetries,
    lastError: null,
    inputWatermark: null,
    lastSuccessWatermark: null,
    lastSuccessClass: null,
    failedInput: null,
    failures: 0,
    heldRuns: null,
  };
}

/** Writes the row whole. */
export function putJob(state: State, job: JobRow): void {
  state.run(`insert or replace into jobs (${jobColumns.join(', ')}) values (:${jobColumns.join(', :')})`, {
    kind: job.kind,
    key: job.key,
    status: job.status,
    worker_id: job.workerId,
    ownership_token: job.ownershipToken,
    started_at: job.startedAt,
    finished_at: job.finishedAt,
    lease_until: job.leaseUntil,
    retry_at: job.retryAt,
    retry_remaining: job.retryRemaining,
    last_error: job.lastError === null ? null : job.lastError.slice(0, maxErrorLength),
    input_watermark: job.inputWatermark,
    last_success_watermark: job.lastSuccessWatermark,
    last_success_class: job.lastSuccessClass,
    failed_input: job.failedInput,
    failures: job.failures,
    held_runs: job.heldRuns,
  });
}

export function removeJob(state: State, kind: JobKind, key: string): void {
  state.run('delete from jobs where kind = :kind and key = :key', { kind, key });
}

/** Changes the job if it is running and ours, with whatever `work` records beside it. @returns false if it is not. */
export function whileOwned(state: State, owner: Ownership, work: (job: JobRow) => JobRow): boolean {
  return state.transaction(() => {
    const job = jobOf(state, owner.kind, owner.key);
    if (job?.status !== 'running' || job.ownershipToken !== owner.token) return false;
    putJob(state, work(job));
    return true;
  });
}

/** Extends the lease of a running job of ours. @returns false when it was lost: stop, and record nothing. */
export function heartbeat(state: State, owner: Ownership, now: EpochSeconds, leaseSeconds: number): boolean {
  return whileOwned(state, owner, (job) => ({ ...job, leaseUntil: now + leaseSeconds }));
}

/** The job as it stands after a success. Whose it was is not kept, so that equal nights leave equal rows. */
export function succeeded(job: JobRow, now: EpochSeconds): JobRow {
  return { ...unowned(job), status: 'done', finishedAt: now, retryAt: null, lastError: null };
}

/** The job as it stands after a failure; `retrySeconds` later it may be tried again. */
export function failed(job: JobRow, failure: { error: string; now: EpochSeconds; retrySeconds: number }): JobRow {
  return {
    ...unowned(job),
    status: 'error',
    finishedAt: failure.now,
    retryAt: failure.now + failure.retrySeconds,
    retryRemaining: Math.max(job.retryRemaining - 1, 0),
    lastError: failure.error,
  };
}

function unowned(job: JobRow): JobRow {
  return { ...job, workerId: null, ownershipToken: null, leaseUntil: null };
}

const jobColumns = [
  'kind',
  'key',
  'status',
  'worker_id',
  'ownership_token',
  'started_at',
  'finished_at',
  'lease_until',
  'retry_at',
  'retry_remaining',
  'last_error',
  'input_watermark',
  'last_success_watermark',
  'last_success_class',
  'failed_input',
  'failures',
  'held_runs',
] as const;

function jobFrom(row: Row): JobRow {
  return {
    kind: oneOf(row, 'kind', ['memory_stage1', 'memory_consolidate']),
    key: text(row, 'key'),
    status: oneOf(row, 'status', ['pending', 'running', 'done', 'error']),
    workerId: textOrNull(row, 'worker_id'),
    ownershipToken: textOrNull(row, 'ownership_token'),
    startedAt: integerOrNull(row, 'started_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    leaseUntil: integerOrNull(row, 'lease_until'),
    retryAt: integerOrNull(row, 'retry_at'),
    retryRemaining: integer(row, 'retry_remaining'),
    lastError: textOrNull(row, 'last_error'),
    inputWatermark: integerOrNull(row, 'input_watermark'),
    lastSuccessWatermark: integerOrNull(row, 'last_success_watermark'),
    lastSuccessClass:
      row.last_success_class === null ? null : oneOf<ExtractorClass>(row, 'last_success_class', ['builtin', 'llm']),
    failedInput: textOrNull(row, 'failed_input'),
    failures: integer(row, 'failures'),
    heldRuns: textOrNull(row, 'held_runs'),
  };
}
