import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { claimExtraction, type ExtractionClaim, whyNotExtracted } from '../state/extraction.ts';
import type { ExtractorClass } from '../state/types.ts';
import { isAsked, type ReadPolicy, readingOrder, type SkipReason } from './decide.ts';

/** A session that is ours to read. */
export interface Claimed {
  readonly found: Found;
  readonly claim: ExtractionClaim;
}

export interface ClaimTerms {
  readonly runId: string;
  readonly extractorClass: ExtractorClass;
  readonly now: EpochSeconds;
  readonly leaseSeconds: number;
  /** `--now`: a failed session is tried again before its backoff is over. */
  readonly ignoreBackoff: boolean;
  /** Batches that are under way: what was asked there is not asked again. */
  readonly underWay?: ReadPolicy['asked'] | undefined;
}

/** Asks for every session, in reading order, and says why one is refused. */
export function claimSessions(
  state: State,
  candidates: readonly Found[],
  terms: ClaimTerms,
): { readonly claimed: readonly Claimed[]; readonly refused: ReadonlyMap<string, SkipReason> } {
  const claimed: Claimed[] = [];
  const refused = new Map<string, SkipReason>();
  for (const found of readingOrder(candidates)) {
    const { id: threadId, updatedAt: watermark } = found.thread;
    const { runId, underWay, ...rest } = terms;
    if (isAsked(found, underWay)) {
      refused.set(threadId, 'waits_for_batch');
      continue;
    }
    const result = claimExtraction(state, {
      ...rest,
      threadId,
      watermark,
      workerId: runId,
      token: `${runId}:${threadId}`,
    });
    if (result.outcome === 'claimed') claimed.push({ found, claim: result });
    else refused.set(threadId, result.outcome);
  }
  return { claimed, refused };
}

/** Why sessions that nobody asks for would be refused, by thread id. Changes nothing. */
export function refusalsOf(
  state: State,
  candidates: readonly Found[],
  {
    extractorClass,
    now,
    ignoreBackoff,
    underWay,
  }: Pick<ClaimTerms, 'extractorClass' | 'now' | 'ignoreBackoff' | 'underWay'>,
): ReadonlyMap<string, SkipReason> {
  const refused = new Map<string, SkipReason>();
  for (const found of candidates) {
    const { thread } = found;
    if (isAsked(found, underWay)) {
      refused.set(thread.id, 'waits_for_batch');
      continue;
    }
    const asked = { threadId: thread.id, watermark: thread.updatedAt, extractorClass, now, ignoreBackoff };
    const refusal = whyNotExtracted(state, asked);
    if (refusal !== null) refused.set(thread.id, refusal.outcome);
  }
  return refused;
}
