import type { Thread } from '../rollout/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { type ExtractionClaim, recordNothing, recordOutput } from '../state/claims.ts';
import type { State } from '../state/database.ts';
import { outputOf, stemsInUse } from '../state/outputs.ts';
import type { EvidenceRow } from '../state/types.ts';
import { summaryStem } from '../workspace/layout.ts';
import type { Extraction, Extractor } from './types.ts';

/** What reading one session gave. */
export interface Learned {
  readonly thread: Thread;
  readonly extraction: Exclude<Extraction, { outcome: 'failed' }>;
  readonly evidence: readonly EvidenceRow[];
}

/** Stores what a session taught, with its evidence; "nothing worth keeping" is stored as well. */
export function recordExtraction(
  state: State,
  claim: ExtractionClaim,
  { thread, extraction, evidence }: Learned,
  by: { readonly runId: string; readonly extractor: Extractor; readonly now: EpochSeconds },
): void {
  const made = {
    threadId: thread.id,
    extractorClass: by.extractor.class,
    sourceUpdatedAt: thread.updatedAt,
    generatedAt: by.now,
    promptHash: by.extractor.promptHash,
    runId: by.runId,
  };
  if (extraction.outcome === 'nothing') {
    recordNothing(state, claim, { ...made, rawMemory: '', rolloutSummary: '', rolloutSlug: '', stem: '' });
    return;
  }
  const { text } = extraction;
  const earlier = outputOf(state, thread.id)?.stem;
  const stem = earlier || summaryStem(thread.id, thread.startedAt, text.rolloutSlug, stemsInUse(state));
  recordOutput(state, claim, { ...made, ...text, stem }, evidence);
}
