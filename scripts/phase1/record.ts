import type { Thread } from '../rollout/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { type ExtractionClaim, recordNothing, recordOutput } from '../state/extraction.ts';
import { stemOf } from '../state/outputs.ts';
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
  by: { readonly runId: string; readonly extractor: Extractor; readonly now: EpochSeconds; readonly stems: Stems },
): void {
  const made = { generatedAt: by.now, promptHash: by.extractor.promptHash, runId: by.runId };
  const slug = extraction.outcome === 'extracted' ? extraction.text.rolloutSlug : '';
  const stem = stemOf(state, thread.id) ?? by.stems.take(thread, slug);
  if (extraction.outcome === 'nothing') recordNothing(state, claim, { ...made, stem });
  else recordOutput(state, claim, { ...made, ...extraction.text, stem }, evidence);
}

/** Names for summary files, none given twice. */
export interface Stems {
  take(thread: Thread, slug: string): string;
}

export function createStems(inUse: readonly string[]): Stems {
  const bySecond = new Map<string, string[]>();
  const of = (stem: string): string[] => {
    const second = stem.slice(0, 19);
    const known = bySecond.get(second) ?? [];
    bySecond.set(second, known);
    return known;
  };
  for (const stem of inUse) of(stem).push(stem);
  return {
    take: (thread, slug) => {
      const stem = summaryStem(thread.id, thread.startedAt, slug, of(summaryStem(thread.id, thread.startedAt, slug)));
      of(stem).push(stem);
      return stem;
    },
  };
}
