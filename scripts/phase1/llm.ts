import { ModelError } from '../model/errors.ts';
import { withoutThoughts } from '../model/json-text.ts';
import type { Model, ModelRequest } from '../model/types.ts';
import { noUsage } from '../model/usage.ts';
import { promptHash } from '../shared/prompt.ts';
import { sha256 } from '../shared/thread-id.ts';
import {
  type Answer,
  type AskSettings,
  answerOf,
  type Conversation,
  conversation,
  firstAnswer,
  TooLong,
} from './ask.ts';
import type { Parsed } from './parse.ts';
import { phase1Prompts, repairRequest } from './request.ts';
import type { Extraction, ExtractionFailure, ExtractionInput, Extractor, Stage1Text } from './types.ts';
import { type Audience, betterOf, type Verified, verifyText } from './verify.ts';

export interface LlmExtractorSettings extends AskSettings {
  readonly model: Model;
  readonly audience: Audience;
  /** Says that the answer to a request could not be used, so that no journal gives it again. */
  reject(request: ModelRequest, why: string): Promise<void>;
}

/**
 * The extractor that asks a model. One request a rollout; a second where the input was too long (half of it), the
 * answer cut off (twice the output) or something in it does not hold (the problems named), each at most once.
 */
export function createLlmExtractor(settings: LlmExtractorSettings): Extractor {
  const { audience, language } = settings;
  const hash = sha256([promptHash(phase1Prompts), audience, language].join('\n')).slice(0, 16);
  return {
    class: 'llm',
    promptHash: hash,
    extract: (input, signal) => extract(input, settings, hash, signal),
  };
}

async function extract(
  input: ExtractionInput,
  settings: LlmExtractorSettings,
  hash: string,
  signal?: AbortSignal,
): Promise<Extraction> {
  if (!input.items.some((item) => item.who === 'human')) return { outcome: 'nothing', usage: noUsage };
  const talk = conversation(settings.model, signal);
  try {
    const first = await firstAnswer(input, settings, hash, talk);
    const judged = judge(first, input, settings);
    const settled = isSound(judged) ? judged : await repaired(first, judged, input, settings, talk);
    const outcome = outcomeOf(settled);
    if (outcome.outcome === 'failed') {
      for (const request of talk.answered()) await settings.reject(request, `${outcome.failure}: ${outcome.detail}`);
    }
    return { ...outcome, usage: talk.usage() };
  } catch (error) {
    return { outcome: 'failed', ...failureOf(error), usage: talk.usage() };
  }
}

type Judged =
  | { readonly outcome: 'verified'; readonly verified: Verified }
  | Exclude<Parsed, { readonly outcome: 'text' }>;

function judge({ parsed, rendering }: Answer, input: ExtractionInput, settings: LlmExtractorSettings): Judged {
  if (parsed.outcome !== 'text') return parsed;
  const text = redacted(parsed.text, settings);
  const { thread } = input;
  const verified = verifyText(text, rendering.shown, { thread, audience: settings.audience });
  return { outcome: 'verified', verified };
}

function redacted(text: Stage1Text, { redact }: LlmExtractorSettings): Stage1Text {
  return {
    rolloutSummary: redact(text.rolloutSummary),
    rolloutSlug: redact(text.rolloutSlug),
    rawMemory: redact(text.rawMemory),
  };
}

function isSound(judged: Judged): boolean {
  if (judged.outcome === 'verified') return judged.verified.problems.length === 0;
  return judged.outcome === 'nothing' || !mendable.has(judged.failure);
}

/** An answer came, but not in the form that was asked for. */
const mendable: ReadonlySet<ExtractionFailure> = new Set(['not_json', 'wrong_shape', 'conversation']);

async function repaired(
  first: Answer,
  judged: Judged,
  input: ExtractionInput,
  settings: LlmExtractorSettings,
  talk: Conversation,
): Promise<Judged> {
  const answer = settings.redact(withoutThoughts(first.reply.text)) || '(no text)';
  const request = repairRequest(first.request, answer, problemsOf(judged));
  try {
    const second = judge(answerOf(request, await talk.ask(request), first.rendering), input, settings);
    if (judged.outcome !== 'verified') return second;
    return second.outcome === 'verified' ? better(judged, second) : judged;
  } catch (error) {
    if (judged.outcome !== 'verified' || mustFly(error)) throw error;
    return judged;
  }
}

function better(a: Judged & { outcome: 'verified' }, b: Judged & { outcome: 'verified' }): Judged {
  return { outcome: 'verified', verified: betterOf(a.verified, b.verified) };
}

function problemsOf(judged: Judged): readonly string[] {
  if (judged.outcome === 'verified') return judged.verified.problems;
  if (judged.outcome === 'nothing') return [];
  return [
    `${judged.detail}. The session is over and is only to be described: answer with one JSON object of exactly ` +
      'the three strings `rollout_summary`, `rollout_slug` and `raw_memory`.',
  ];
}

type Outcome =
  | { readonly outcome: 'extracted'; readonly text: Stage1Text; readonly unverified: number }
  | { readonly outcome: 'nothing' }
  | { readonly outcome: 'failed'; readonly failure: ExtractionFailure; readonly detail: string };

function outcomeOf(judged: Judged): Outcome {
  if (judged.outcome !== 'verified') return judged;
  const { text, unverified, kept, dropped } = judged.verified;
  if (kept > 0 && text.rolloutSummary !== '') return { outcome: 'extracted', text, unverified };
  if (dropped > 0) return { outcome: 'failed', failure: 'wrong_shape', detail: 'no bullet has evidence' };
  return { outcome: 'nothing' };
}

/** @throws what stops the night, and what is no fault of the model. */
function failureOf(error: unknown): { failure: ExtractionFailure; detail: string } {
  if (error instanceof TooLong) return { failure: 'too_long', detail: 'half of the budget is too long as well' };
  if (mustFly(error) || !(error instanceof ModelError)) throw error;
  if (error.kind === 'too_long' || error.kind === 'stalled') return { failure: error.kind, detail: error.message };
  return { failure: 'server', detail: error.message };
}

function mustFly(error: unknown): boolean {
  return !(error instanceof ModelError) || error.stopsNight || error.kind === 'aborted' || error.kind === 'deferred';
}
