import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from './database.ts';
import { putEvidence } from './evidence.ts';
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
import { hasWords, isExtracted, outputOf, putOutput, rankOf } from './outputs.ts';
import { enqueueConsolidation } from './scopes.ts';
import { getThread } from './threads.ts';
import type { EvidenceRow, ExtractorClass, JobRow, Stage1Output } from './types.ts';

/** A thread whose extraction is ours to do. */
export interface ExtractionClaim extends Ownership {
  readonly outcome: 'claimed';
  readonly kind: 'memory_stage1';
  /** The thread id. */
  readonly key: string;
  /** The thread's `updatedAt` at the claim. */
  readonly watermark: EpochSeconds;
  readonly extractorClass: ExtractorClass;
  readonly before: JobRow | null;
}

export type ExtractionOutcome = ExtractionClaim | ExtractionRefusal;

export type ExtractionRefusal =
  | { readonly outcome: 'up_to_date' | 'exhausted' }
  | { readonly outcome: 'running' | 'backoff'; readonly until: EpochSeconds };

export interface ExtractionTerms extends Lease {
  readonly threadId: string;
  /** The thread's `updatedAt`. */
  readonly watermark: EpochSeconds;
  readonly extractorClass: ExtractorClass;
  readonly ignoreBackoff?: boolean;
}

export type ExtractionQuestion = Omit<ExtractionTerms, 'workerId' | 'token' | 'leaseSeconds'>;

/**
 * Asks for a thread. It is up to date when its present text gave an output, also an empty one, to the same or a better
 * class: so a better class makes it eligible again, and a pruned output does not. Newer activity lifts backoff and
 * exhaustion; an expired lease is taken over at no retry's cost.
 */
export function claimExtraction(state: State, terms: ExtractionTerms): ExtractionOutcome {
  return state.transaction(() => {
    const before = jobOf(state, kind, terms.threadId);
    const refusal = whyNotExtracted(state, terms);
    if (refusal !== null) return refusal;
    const job = before ?? newJob(kind, terms.threadId);
    const retryRemaining = isNewer(before, terms) ? fullRetries : job.retryRemaining;
    putJob(state, underLease({ ...job, retryRemaining, inputWatermark: terms.watermark }, terms));
    const { threadId: key, token, watermark, extractorClass } = terms;
    return { outcome: 'claimed', kind, key, token, watermark, extractorClass, before };
  });
}

/** Why a claim of this thread would be refused; null where it would be given. Nothing is changed. */
export function whyNotExtracted(state: State, asked: ExtractionQuestion): ExtractionRefusal | null {
  const job = jobOf(state, kind, asked.threadId);
  if (isUpToDate(state, job, asked)) return { outcome: 'up_to_date' };
  return job && refusalOf(job, asked);
}

/** An output as an extractor gives it; thread, class and source time are the claim's. */
export type ExtractedOutput = Omit<Stage1Output, 'threadId' | 'extractorClass' | 'sourceUpdatedAt'>;

/** Keeps an output and wakes its scope. @returns false when the claim is no longer ours: nothing was kept. */
export function recordOutput(
  state: State,
  claim: ExtractionClaim,
  output: ExtractedOutput,
  evidence: readonly EvidenceRow[],
): boolean {
  return whileOwned(state, claim, (job) => {
    putOutput(state, outputFor(claim, output));
    putEvidence(state, evidence);
    enqueueConsolidation(state, scopeOf(state, claim), claim.watermark);
    return extracted(job, claim, output.generatedAt);
  });
}

/**
 * Records that nothing is worth keeping, as an output without text. The scope wakes only if words that it could read
 * until now are gone. @returns false when the claim is no longer ours.
 */
export function recordNothing(
  state: State,
  claim: ExtractionClaim,
  record: Pick<ExtractedOutput, 'stem' | 'generatedAt' | 'promptHash' | 'runId'>,
): boolean {
  return whileOwned(state, claim, (job) => {
    const before = outputOf(state, claim.key);
    putOutput(state, outputFor(claim, { ...record, rawMemory: '', rolloutSummary: '', rolloutSlug: '' }));
    const after = outputOf(state, claim.key);
    if (before && hasWords(before) && after && !hasWords(after))
      enqueueConsolidation(state, scopeOf(state, claim), claim.watermark);
    return extracted(job, claim, record.generatedAt);
  });
}

/** Costs a retry; the next attempt waits. @returns false when the claim is no longer ours. */
export function recordFailure(
  state: State,
  claim: ExtractionClaim,
  error: string,
  now: EpochSeconds,
  retrySeconds: number,
): boolean {
  return whileOwned(state, claim, (job) => failed(job, { error, now, retrySeconds }));
}

/** Gives the thread up until it has newer activity. @returns false when the claim is no longer ours. */
export function recordExhausted(state: State, claim: ExtractionClaim, error: string, now: EpochSeconds): boolean {
  return whileOwned(state, claim, (job) => ({
    ...failed(job, { error, now, retrySeconds: 0 }),
    retryAt: null,
    retryRemaining: 0,
  }));
}

/** Undoes a claim that cost nothing: the job is what it was. @returns false when the claim is no longer ours. */
export function releaseClaim(state: State, claim: ExtractionClaim): boolean {
  return state.transaction(() => {
    const isOurs = whileOwned(state, claim, (job) => claim.before ?? job);
    if (isOurs && !claim.before) removeJob(state, kind, claim.key);
    return isOurs;
  });
}

const kind = 'memory_stage1';

function isUpToDate(state: State, job: JobRow | null, terms: ExtractionQuestion): boolean {
  const rank = rankOf(terms.extractorClass);
  const done = job?.lastSuccessClass && rankOf(job.lastSuccessClass) >= rank ? (job.lastSuccessWatermark ?? -1) : -1;
  return done >= terms.watermark || isExtracted(state, terms);
}

function isNewer(job: JobRow | null, { watermark }: ExtractionQuestion): boolean {
  return job !== null && watermark > (job.inputWatermark ?? 0);
}

function refusalOf(job: JobRow, terms: ExtractionQuestion): ExtractionRefusal | null {
  if (isRunning(job, terms.now)) return { outcome: 'running', until: job.leaseUntil ?? terms.now };
  if (isNewer(job, terms)) return null;
  if (job.retryRemaining <= 0) return { outcome: 'exhausted' };
  const waits = job.retryAt !== null && job.retryAt > terms.now && !terms.ignoreBackoff;
  return waits ? { outcome: 'backoff', until: job.retryAt } : null;
}

function outputFor(claim: ExtractionClaim, output: ExtractedOutput): Stage1Output {
  return { ...output, threadId: claim.key, extractorClass: claim.extractorClass, sourceUpdatedAt: claim.watermark };
}

function extracted(job: JobRow, claim: ExtractionClaim, now: EpochSeconds): JobRow {
  return { ...succeeded(job, now), lastSuccessWatermark: claim.watermark, lastSuccessClass: claim.extractorClass };
}

/** @throws Error for a thread without a row: callers write it (`upsertThread`) before they claim it. */
function scopeOf(state: State, claim: ExtractionClaim): string {
  const thread = getThread(state, claim.key);
  if (!thread) throw new Error(`Thread ${claim.key} was claimed without a row.`);
  return thread.repo;
}
