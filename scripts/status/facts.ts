import type { BatchRecord } from '../model/batch-record.ts';
import type { JournalLook } from '../model/journal-look.ts';
import type { ConsolidationPolicy, MemoryStart } from '../phase2/run.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { isRunning, listJobs } from '../state/jobs.ts';
import type { NightRecord } from '../state/night-record.ts';
import { outputOf } from '../state/outputs.ts';
import { horizonOf } from '../state/prune.ts';
import { listRuns, usageThisMonth } from '../state/runs.ts';
import { sizeVerdict } from '../state/snapshot.ts';
import { getThread, listThreads, noteAgent } from '../state/threads.ts';
import type { JobRow, RunRow } from '../state/types.ts';
import { type ScopeStatus, scopeStatuses } from './scopes.ts';

/** What is there to be told of. */
export interface StatusInput {
  readonly branch: string;
  readonly state: State;
  readonly stateBytes: number;
  /** null without the state ref. */
  readonly stateOid: Oid | null;
  readonly night: NightRecord;
  readonly memory: MemoryStart;
  readonly journal: JournalLook;
  readonly policy: ConsolidationPolicy;
  readonly usdPerMonth: number | null;
  readonly now: EpochSeconds;
}

/** A session that could not be read. */
export interface FailedSession {
  readonly threadId: string;
  readonly repo: string;
  readonly title: string;
  readonly error: string;
  /** null: given up until it has newer activity. */
  readonly triedAgainAt: EpochSeconds | null;
  readonly retriesLeft: number;
}

/** A job that says it runs although its lease is over: whoever had it is gone, and the next night takes it. */
export interface StuckJob {
  readonly kind: JobRow['kind'];
  readonly key: string;
  readonly startedAt: EpochSeconds | null;
  readonly leaseUntil: EpochSeconds | null;
}

export interface Status {
  readonly branch: string;
  readonly stateOid: Oid | null;
  readonly stateBytes: number;
  readonly sizeVerdict: 'fine' | 'warn' | 'stop';
  readonly horizon: EpochSeconds | null;
  /** The latest first. */
  readonly runs: readonly RunRow[];
  readonly scopes: readonly ScopeStatus[];
  /** Last time that a scope was consolidated. */
  readonly lastSuccess: EpochSeconds | null;
  readonly sessions: {
    readonly known: number;
    /** Noted, without an output and not given up: they wait to be read. */
    readonly unread: number;
    readonly failed: readonly FailedSession[];
    readonly running: number;
  };
  readonly stuck: readonly StuckJob[];
  readonly month: { readonly tokens: number; readonly usd: number; readonly usdPerMonth: number | null };
  readonly pendingPush: NightRecord['pendingPush'];
  readonly startedRun: NightRecord['startedRun'];
  readonly journal: JournalLook;
  /** At the model's server, as the last night saw them. */
  readonly batches: readonly BatchRecord[];
}

/** Who waits and why, from the state as it is. Leaves it as it was. */
export function statusOf(input: StatusInput): Status {
  const { state, now } = input;
  const stage1 = listJobs(state, 'memory_stage1');
  const jobs = [...stage1, ...listJobs(state, 'memory_consolidate')];
  const scopes = scopeStatuses(state, input.memory, input.policy, now);
  return {
    branch: input.branch,
    stateOid: input.stateOid,
    stateBytes: input.stateBytes,
    sizeVerdict: sizeVerdict(input.stateBytes),
    horizon: horizonOf(state),
    runs: listRuns(state, shownRuns),
    scopes,
    lastSuccess: scopes.reduce((last, scope) => Math.max(last, scope.consolidatedAt ?? 0), 0) || null,
    sessions: sessionFacts(state, stage1, now),
    stuck: jobs.filter((job) => job.status === 'running' && !isRunning(job, now)).map(stuckJob),
    month: monthOf(input),
    pendingPush: input.night.pendingPush,
    startedRun: input.night.startedRun,
    journal: input.journal,
    batches: input.night.batches,
  };
}

const shownRuns = 5;

function sessionFacts(state: State, jobs: readonly JobRow[], now: EpochSeconds): Status['sessions'] {
  const threads = listThreads(state).filter(({ agent }) => agent !== noteAgent);
  const failed = jobs.filter((job) => job.status === 'error');
  const failedIds = new Set(failed.map(({ key }) => key));
  const unread = threads.filter(
    ({ threadId, memoryMode }) =>
      memoryMode !== 'disabled' && !failedIds.has(threadId) && outputOf(state, threadId) === null,
  );
  return {
    known: threads.length,
    unread: unread.length,
    failed: failed.map((job) => failedSession(state, job)),
    running: jobs.filter((job) => isRunning(job, now)).length,
  };
}

function failedSession(state: State, job: JobRow): FailedSession {
  const thread = getThread(state, job.key);
  return {
    threadId: job.key,
    repo: thread?.repo ?? '',
    title: thread?.title ?? '',
    error: job.lastError ?? '',
    triedAgainAt: job.retryRemaining > 0 ? job.retryAt : null,
    retriesLeft: job.retryRemaining,
  };
}

function stuckJob({ kind, key, startedAt, leaseUntil }: JobRow): StuckJob {
  return { kind, key, startedAt, leaseUntil };
}

function monthOf({ state, now, usdPerMonth }: StatusInput): Status['month'] {
  const phases = Object.values(usageThisMonth(state, now));
  const sum = (name: string) => phases.reduce((total, phase) => total + (phase[name] ?? 0), 0);
  return { tokens: sum('input') + sum('output'), usd: sum('micro_usd') / 1_000_000, usdPerMonth };
}
