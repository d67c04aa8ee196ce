import { ModelError } from '../model/errors.ts';
import { withoutThoughts } from '../model/json-text.ts';
import type { Model, ModelReply, ModelRequest, Usage } from '../model/types.ts';
import { inputBudget } from '../rollout/budget.ts';
import { type Rendering, renderItems } from '../rollout/tiers.ts';
import { type Language, promptHash } from '../shared/prompt.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Parsed, parseReply } from './parse.ts';
import { extractionRequest, phase1Prompts, type RequestSettings, repairRequest } from './request.ts';
import type { Extraction, ExtractionFailure, ExtractionInput, Extractor, Stage1Text } from './types.ts';
import { type Audience, betterOf, type Verified, verifyText } from './verify.ts';

export interface LlmExtractorSettings {
  readonly model: Model;
  readonly modelName: string;
  /** Tokens; null where it is unknown. */
  readonly contextWindow: number | null;
  readonly audience: Audience;
  readonly language: Language;
  readonly maxOutputTokens: number;
  /** Takes secrets out of a text. */
  redact(text: string): string;
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
    return { ...outcomeOf(settled), usage: talk.usage() };
  } catch (error) {
    return { outcome: 'failed', ...failureOf(error), usage: talk.usage() };
  }
}

interface Conversation {
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Of every reply so far. */
  usage(): Usage;
}

interface Answer {
  readonly request: ModelRequest;
  readonly reply: ModelReply;
  readonly rendering: Rendering;
}

type Judged =
  | { readonly outcome: 'verified'; readonly verified: Verified }
  | Exclude<Parsed, { readonly outcome: 'text' }>;

const noUsage: Usage = { requests: 0, input: 0, cached: 0, output: 0 };

function conversation(model: Model, signal?: AbortSignal): Conversation {
  let usage = noUsage;
  return {
    async ask(request) {
      const reply = await model.ask(request, signal);
      usage = plus(usage, reply.usage);
      return reply;
    },
    usage: () => usage,
  };
}

function plus(a: Usage, b: Usage): Usage {
  return {
    requests: a.requests + b.requests,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
  };
}

async function firstAnswer(
  input: ExtractionInput,
  settings: LlmExtractorSettings,
  hash: string,
  talk: Conversation,
): Promise<Answer> {
  const budget = inputBudget(settings.contextWindow);
  const whole = await answerWithin(input, budget, 1, settings, hash, talk);
  const answer = whole ?? (await answerWithin(input, Math.floor(budget / 2), 2, settings, hash, talk));
  if (answer === null) throw new TooLong();
  if (parseReply(answer.reply).outcome !== 'failed' || !isCutOff(answer.reply)) return answer;
  const { request } = answer;
  const larger = { ...request, attempt: request.attempt + 1, maxOutputTokens: 2 * request.maxOutputTokens };
  return { ...answer, request: larger, reply: await talk.ask(larger) };
}

/** Twice too long: even half of the budget is more than the model takes. */
class TooLong extends Error {}

/** @returns null where the server says that the input is too long. */
async function answerWithin(
  input: ExtractionInput,
  budget: number,
  attempt: number,
  settings: LlmExtractorSettings,
  hash: string,
  talk: Conversation,
): Promise<Answer | null> {
  const rendering = renderItems(input.items, budget);
  const request = extractionRequest(input, settings.redact(rendering.text), requestSettings(settings, hash), attempt);
  try {
    return { request, reply: await talk.ask(request), rendering };
  } catch (error) {
    if (error instanceof ModelError && error.kind === 'too_long') return null;
    throw error;
  }
}

function requestSettings(settings: LlmExtractorSettings, hash: string): RequestSettings {
  const { modelName, language, maxOutputTokens } = settings;
  return { model: modelName, promptHash: hash, language, maxOutputTokens };
}

function isCutOff(reply: ModelReply): boolean {
  const parsed = parseReply(reply);
  return parsed.outcome === 'failed' && parsed.failure === 'cut_off';
}

function judge(answer: Answer, input: ExtractionInput, settings: LlmExtractorSettings): Judged {
  const parsed = parseReply(answer.reply);
  if (parsed.outcome !== 'text') return parsed;
  const text = redacted(parsed.text, settings);
  const { thread } = input;
  const verified = verifyText(text, answer.rendering.shown, { thread, audience: settings.audience });
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
    const second = judge({ ...first, request, reply: await talk.ask(request) }, input, settings);
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
  return !(error instanceof ModelError) || error.stopsNight || error.kind === 'aborted';
}
