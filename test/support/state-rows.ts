import { day, type EpochSeconds } from '../../scripts/shared/clock.ts';
import type { State } from '../../scripts/state/database.ts';
import { claimExtraction, type ExtractionClaim, recordOutput } from '../../scripts/state/extraction.ts';
import { type ConsolidationClaim, type ConsolidationTerms, claimConsolidation } from '../../scripts/state/scopes.ts';
import { getThread, upsertThread } from '../../scripts/state/threads.ts';
import type { CitationRow, EvidenceRow, ExtractorClass, Stage1Output, ThreadRow } from '../../scripts/state/types.ts';

export const scope = 'github.com/acme/shop';

/** Midnight of a numbered day. */
export function dayAt(number: number): EpochSeconds {
  return number * day;
}

export function aThread(threadId: string, given: Partial<ThreadRow> = {}): ThreadRow {
  return {
    threadId,
    agent: 'codex',
    origin: 'cli',
    author: 'ada',
    repo: scope,
    aliases: [],
    cwd: '.',
    branch: 'main',
    commit: null,
    title: 'Make the tests pass',
    startedAt: dayAt(99),
    updatedAt: dayAt(100),
    firstSeenAt: dayAt(100),
    memoryMode: 'enabled',
    ...given,
  };
}

export function anOutput(given: Partial<Stage1Output> = {}): Omit<Stage1Output, 'threadId' | 'extractorClass'> {
  return {
    sourceUpdatedAt: dayAt(100),
    rawMemory: '- Run the tests with `make check` (@3).',
    rolloutSummary: 'The tests pass.',
    rolloutSlug: 'tests_pass',
    stem: '1970-04-10T00-00-00-abcd-tests_pass',
    generatedAt: dayAt(101),
    promptHash: 'a1b2',
    runId: 'run-1',
    ...given,
  };
}

export function anItem(threadId: string, n: string, given: Partial<EvidenceRow> = {}): EvidenceRow {
  const common = { at: dayAt(100), line: 7, srcId: null, author: 'ada', hash: '0'.repeat(32), hedged: false };
  return { threadId, n, who: 'human', ...common, ...given };
}

export function aCitation(eventId: string, cited: string, given: Partial<CitationRow> = {}): CitationRow {
  return { eventId, kind: 'cited', cited, citingThread: 'reader', author: 'ada', at: dayAt(101), ...given };
}

let tokens = 0;

/** Claims a thread that is known, at its present time unless told otherwise. */
export function claimOf(
  state: State,
  threadId: string,
  given: { at?: EpochSeconds; extractorClass?: ExtractorClass; watermark?: EpochSeconds; ignoreBackoff?: boolean } = {},
): ReturnType<typeof claimExtraction> {
  tokens += 1;
  return claimExtraction(state, {
    threadId,
    watermark: given.watermark ?? getThread(state, threadId)?.updatedAt ?? 0,
    extractorClass: given.extractorClass ?? 'llm',
    now: given.at ?? dayAt(101),
    workerId: 'night',
    token: `token-${tokens}`,
    leaseSeconds: 3600,
    ignoreBackoff: given.ignoreBackoff ?? false,
  });
}

export function mustClaim(...given: Parameters<typeof claimOf>): ExtractionClaim {
  const claim = claimOf(...given);
  if (claim.outcome !== 'claimed') throw new Error(`Not claimed: ${claim.outcome}`);
  return claim;
}

/** A thread with an output of a class, written the way a night writes it. */
export function withOutput(
  state: State,
  threadId: string,
  given: { thread?: Partial<ThreadRow>; output?: Partial<Stage1Output>; extractorClass?: ExtractorClass } = {},
): void {
  upsertThread(state, aThread(threadId, given.thread));
  const claim = mustClaim(state, threadId, { extractorClass: given.extractorClass ?? 'llm' });
  recordOutput(state, claim, anOutput(given.output), [anItem(threadId, '3')]);
}

export function claimScope(
  state: State,
  given: Partial<ConsolidationTerms> & { scope?: string } = {},
): ReturnType<typeof claimConsolidation> {
  tokens += 1;
  return claimConsolidation(state, given.scope ?? scope, {
    now: dayAt(101),
    cooldownSeconds: 21_600,
    leaseSeconds: 3600,
    workerId: 'night',
    token: `token-${tokens}`,
    ...given,
  });
}

export function mustClaimScope(...given: Parameters<typeof claimScope>): ConsolidationClaim {
  const claim = claimScope(...given);
  if (claim.outcome !== 'claimed') throw new Error(`Not claimed: ${claim.outcome}`);
  return claim;
}
