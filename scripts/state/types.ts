import type { EpochSeconds } from '../shared/clock.ts';
import type { ItemNumber } from '../shared/evidence.ts';

/** `llm` outranks `builtin`: readers take the best class that a thread has. */
export type ExtractorClass = 'builtin' | 'llm';

/** Table `threads`: every session that was ever seen and has not been pruned. */
export interface ThreadRow {
  readonly threadId: string;
  readonly agent: string;
  readonly origin: string;
  readonly author: string | null;
  /** Repository id: the thread's scope. */
  readonly repo: string;
  readonly aliases: readonly string[];
  readonly cwd: string;
  readonly branch: string | null;
  readonly commit: string | null;
  readonly title: string;
  readonly startedAt: EpochSeconds;
  readonly updatedAt: EpochSeconds;
  readonly firstSeenAt: EpochSeconds;
  readonly memoryMode: 'enabled' | 'disabled' | 'polluted';
}

/** Table `stage1_outputs`, key (thread, class). Empty texts are the positive record "nothing worth keeping". */
export interface Stage1Output {
  readonly threadId: string;
  readonly extractorClass: ExtractorClass;
  /** The thread's `updatedAt` that was extracted. */
  readonly sourceUpdatedAt: EpochSeconds;
  readonly rawMemory: string;
  readonly rolloutSummary: string;
  readonly rolloutSlug: string;
  /** Stem of the summary's file name, frozen at the first extraction. */
  readonly stem: string;
  readonly generatedAt: EpochSeconds;
  readonly promptHash: string;
  readonly runId: string;
}

/** Table `evidence`: an item that an output cites. */
export interface EvidenceRow {
  readonly threadId: string;
  readonly n: ItemNumber;
  readonly who: 'human' | 'assistant' | 'commentary' | 'other_agent' | 'harness' | 'tool';
  readonly at: EpochSeconds | null;
  readonly line: number;
  readonly srcId: string | null;
  readonly author: string | null;
  /** sha256 of the redacted text, first 32 hex digits. */
  readonly hash: string;
  readonly hedged: boolean;
}

export type JobKind = 'memory_stage1' | 'memory_consolidate';

/** Table `jobs`: key is the thread id (stage 1) or the scope (consolidation). */
export interface JobRow {
  readonly kind: JobKind;
  readonly key: string;
  readonly status: 'pending' | 'running' | 'done' | 'error';
  readonly workerId: string | null;
  readonly ownershipToken: string | null;
  readonly startedAt: EpochSeconds | null;
  readonly finishedAt: EpochSeconds | null;
  readonly leaseUntil: EpochSeconds | null;
  readonly retryAt: EpochSeconds | null;
  readonly retryRemaining: number;
  readonly lastError: string | null;
  readonly inputWatermark: number | null;
  readonly lastSuccessWatermark: number | null;
  /** Consolidation: hash of the inputs that failed last, and how often in a row. */
  readonly failedInput: string | null;
  readonly failures: number;
  /** Class of the last success: it extracted the thread, or consolidated the scope. */
  readonly lastSuccessClass: ExtractorClass | null;
  /** Runs whose result for this scope is held (comma-separated run ids), else null. */
  readonly heldRuns: string | null;
}

/** Table `selection`: the exact snapshots that a scope last consolidated. */
export interface SelectionRow {
  readonly scope: string;
  readonly threadId: string;
  readonly extractorClass: ExtractorClass;
  readonly sourceUpdatedAt: EpochSeconds;
  readonly selectedAt: EpochSeconds;
}

/** Table `citations`, key `eventId`. Nights note reading in `shown`; a row of kind `read` counts for nothing. */
export interface CitationRow {
  readonly eventId: string;
  readonly kind: 'cited' | 'read';
  readonly cited: string;
  readonly citingThread: string;
  readonly author: string | null;
  readonly at: EpochSeconds;
}

/**
 * Table `shown`: which memory a session was shown, one row a session and not one a memory, since dozens are injected
 * into each. Short ids of known threads, ascending.
 */
export interface ShownRow {
  readonly threadId: string;
  readonly author: string | null;
  /** The session's last activity when it was noted. */
  readonly at: EpochSeconds;
  readonly injected: readonly string[];
  /** A search found it. */
  readonly retrieved: readonly string[];
  readonly read: readonly string[];
}

/** Table `runs`: the ledger, one row a night. Money in millionths of a US dollar. */
export interface RunRow {
  readonly runId: string;
  readonly startedAt: EpochSeconds;
  readonly finishedAt: EpochSeconds;
  readonly outcome: 'done' | 'partly' | 'failed' | 'quiet';
  /** JSON: counts by outcome (claimed, extracted, nothing, failed, scopes …), integers only, keys sorted. */
  readonly counts: Readonly<Record<string, number>>;
  /** JSON: by phase `{requests,input,cached,output,micro_usd}`. */
  readonly usage: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly models: string;
  readonly promptsHash: string;
}

/** Table `tombstones`, key (kind, key). A view applied on reading; lifting sets `liftedAt`. */
export interface TombstoneRow {
  readonly kind: 'evidence' | 'thread' | 'author';
  /** evidence: `<thread id> <n> <scope>`; thread: its id; author: `authorKey`, or the handle. */
  readonly key: string;
  readonly reason: string;
  readonly runId: string | null;
  readonly pullRequest: string | null;
  readonly setAt: EpochSeconds;
  readonly liftedAt: EpochSeconds | null;
}

/** Table `lines`: a person wrote or pinned this line of a scope, or took it out (`who` is `removed`). */
export interface LineRow {
  readonly scope: string;
  /** sha256 of the normalised line, first 32 hex digits. */
  readonly hash: string;
  readonly who: string;
  readonly since: EpochSeconds;
}

/** An output with what selection and file layout need beside it. */
export interface OutputView extends Stage1Output {
  readonly thread: ThreadRow;
  /** Citations of the thread within the window: one vote a person and day. */
  readonly usageCount: number;
  /** How often it was read within the window. Below any citation, and no sign of life: who reads a file sees all of it. */
  readonly readCount: number;
  readonly lastUsage: EpochSeconds | null;
}
