import { type Selection, type SelectionPolicy, selectInputs } from '../../phase2/select.ts';
import { day, type EpochSeconds, hour } from '../../shared/clock.ts';
import { sha256 } from '../../shared/thread-id.ts';
import { recordCitations } from '../../state/citations.ts';
import type { State } from '../../state/database.ts';
import { claimExtraction, recordNothing, recordOutput } from '../../state/extraction.ts';
import { outputsOf } from '../../state/outputs.ts';
import { horizonOf, type Pruned, prune } from '../../state/prune.ts';
import { claimConsolidation, dueScopes, recordConsolidated } from '../../state/scopes.ts';
import { selectionOf } from '../../state/selection.ts';
import { upsertThread } from '../../state/threads.ts';
import type { EvidenceRow, OutputView } from '../../state/types.ts';
import { summaryStem } from '../../workspace/layout.ts';
import type { DaySession } from './days.ts';

/** What a session taught; null: nothing that is worth keeping. */
export interface Taught {
  readonly title: string;
  readonly slug: string;
  readonly rawMemory: string;
  readonly rolloutSummary: string;
  readonly evidence: readonly EvidenceRow[];
}

export interface Cited {
  readonly cited: string;
  readonly citing: string;
  readonly author: string;
  readonly at: EpochSeconds;
}

/** The defaults of the configuration. */
export const selectionPolicy: SelectionPolicy = { maxRawMemories: 256, maxUnusedDays: 30, maxNewPerNight: 40 };

/** A scope's selection of a night, and what it was chosen from. */
export interface Chosen extends Selection {
  readonly scope: string;
  readonly outputs: readonly OutputView[];
  /** Threads that were selected the night before. */
  readonly before: ReadonlySet<string>;
}

/** Writes what phase 1 leaves of a session: thread, job, output, evidence. */
export function recordSession(state: State, session: DaySession, taught: Taught | null, now: EpochSeconds): void {
  const { threadId, repo, author, at } = session;
  const startedAt = at - hour;
  upsertThread(state, {
    threadId,
    agent: threadId.startsWith('0') ? 'codex' : 'claude-code',
    origin: 'cli',
    author,
    repo,
    aliases: [],
    cwd: '.',
    branch: 'main',
    commit: sha256(threadId).slice(0, 40),
    title: taught?.title ?? '',
    startedAt,
    updatedAt: at,
    firstSeenAt: now,
    memoryMode: 'enabled',
  });
  const lease = { workerId: 'bench', token: `${now} ${threadId}`, now, leaseSeconds: hour };
  const claim = claimExtraction(state, { ...lease, threadId, watermark: at, extractorClass: 'llm' });
  if (claim.outcome !== 'claimed') throw new RangeError(`${threadId} is ${claim.outcome}.`);
  const common = { generatedAt: now, promptHash: promptHash.slice(0, 16), runId: runIdOf(now) };
  const stem = summaryStem(threadId, startedAt, taught?.slug ?? '');
  if (taught === null) recordNothing(state, claim, { ...common, stem });
  else {
    const { rawMemory, rolloutSummary, slug: rolloutSlug, evidence } = taught;
    recordOutput(state, claim, { ...common, stem, rawMemory, rolloutSummary, rolloutSlug }, evidence);
  }
}

/** @returns how many were new. */
export function recordCited(state: State, cited: readonly Cited[], now: EpochSeconds): number {
  return recordCitations(
    state,
    cited.map(({ cited: thread, citing, author, at }) => ({
      eventId: sha256(JSON.stringify([thread, citing])).slice(0, 32),
      kind: 'cited',
      cited: thread,
      citingThread: citing,
      author,
      at,
    })),
    { now, horizon: horizonOf(state) },
  );
}

export function pruneNight(state: State, now: EpochSeconds): Pruned {
  const { maxUnusedDays } = selectionPolicy;
  return prune(state, { now, maxUnusedDays, reachedAt: null, namedThreads: new Set() });
}

/** Selects in every scope as phase 2 does, and records it as consolidated. */
export function selectAll(state: State, now: EpochSeconds): Chosen[] {
  return dueScopes(state).map((scope) => {
    const window = { from: now - selectionPolicy.maxUnusedDays * day, to: now };
    const outputs = outputsOf(state, scope, window);
    const before = selectionOf(state, scope);
    const selection = selectInputs(outputs, before, new Set(), selectionPolicy, now);
    const lease = { workerId: 'bench', token: `${now} ${scope}`, now, leaseSeconds: hour };
    const claim = claimConsolidation(state, scope, { ...lease, cooldownSeconds: 0 });
    if (claim.outcome !== 'claimed') throw new RangeError(`${scope} is at rest: ${claim.outcome}.`);
    recordConsolidated(state, claim, {
      selected: selection.chosen.map(({ threadId, extractorClass, sourceUpdatedAt }) => {
        return { threadId, extractorClass, sourceUpdatedAt, selectedAt: now };
      }),
      watermark: selection.chosen.reduce((most, one) => Math.max(most, one.sourceUpdatedAt), claim.watermark),
      consolidatorClass: 'llm',
      now,
    });
    return { ...selection, scope, outputs, before: new Set(before.map(({ threadId }) => threadId)) };
  });
}

export function runIdOf(now: EpochSeconds): string {
  return sha256(`night ${now}`).slice(0, 16);
}

const promptHash = sha256('prompt');
