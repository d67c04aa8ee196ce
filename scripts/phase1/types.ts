import type { Usage } from '../model/types.ts';
import type { Item, Thread } from '../rollout/types.ts';
import type { ExtractorClass } from '../state/types.ts';

/** The three texts of spec §5.1; every bullet ends in its evidence, `(@12,15)`. */
export interface Stage1Text {
  readonly rolloutSummary: string;
  readonly rolloutSlug: string;
  readonly rawMemory: string;
}

/** A rollout ready to be extracted: redacted and filtered, in source order. */
export interface ExtractionInput {
  readonly thread: Thread;
  /** `<yyyy>/<mm>/<dd>/<thread_id>.jsonl` */
  readonly rolloutPath: string;
  readonly items: readonly Item[];
}

/** Failures that are told apart (D26–D31); each is retried an hour later, three times. */
export type ExtractionFailure =
  | 'empty_reply'
  | 'refusal'
  | 'cut_off'
  | 'not_json'
  | 'wrong_shape'
  | 'conversation'
  | 'too_long'
  | 'server'
  | 'stalled';

export type Extraction =
  | { readonly outcome: 'extracted'; readonly text: Stage1Text; readonly unverified: number; readonly usage: Usage }
  | { readonly outcome: 'nothing'; readonly usage: Usage }
  | { readonly outcome: 'failed'; readonly failure: ExtractionFailure; readonly detail: string; readonly usage: Usage };

/**
 * Turns one rollout into a stage-1 output. Rejects only with an error that stops the night (a refused key, a spent
 * quota or cap, an abort); everything that concerns this rollout alone is an outcome.
 */
export interface Extractor {
  readonly class: ExtractorClass;
  /** Hash of what decides the answer besides the rollout: prompts, or the built-in rules' version. */
  readonly promptHash: string;
  extract(input: ExtractionInput, signal?: AbortSignal): Promise<Extraction>;
}
