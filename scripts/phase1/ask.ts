import { ModelError } from '../model/errors.ts';
import type { Model, ModelReply, ModelRequest, Usage } from '../model/types.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import { inputBudget } from '../rollout/budget.ts';
import { type Rendering, renderItems } from '../rollout/tiers.ts';
import type { Language } from '../shared/prompt.ts';
import { type Parsed, parseReply } from './parse.ts';
import { extractionRequest, type RequestSettings } from './request.ts';
import type { ExtractionInput } from './types.ts';

export interface AskSettings {
  readonly modelName: string;
  /** Tokens; null where it is unknown. */
  readonly contextWindow: number | null;
  readonly language: Language;
  readonly maxOutputTokens: number;
  /** Takes secrets out of a text. */
  redact(text: string): string;
}

export interface Conversation {
  ask(request: ModelRequest): Promise<ModelReply>;
  /** Of every reply so far. */
  usage(): Usage;
  /** The requests that were answered, in order. */
  answered(): readonly ModelRequest[];
}

export interface Answer {
  readonly request: ModelRequest;
  readonly reply: ModelReply;
  readonly parsed: Parsed;
  readonly rendering: Rendering;
}

/** Twice too long: even half of the budget is more than the model takes. */
export class TooLong extends Error {}

/** Counts what a conversation costs. */
export function conversation(model: Model, signal?: AbortSignal): Conversation {
  let usage = noUsage;
  const answered: ModelRequest[] = [];
  return {
    async ask(request) {
      const reply = await model.ask(request, signal);
      answered.push(request);
      usage = addUsage(usage, reply.usage);
      return reply;
    },
    usage: () => usage,
    answered: () => answered,
  };
}

/**
 * The first request and what its answer makes necessary: half of the input where it was too long, twice the room where
 * the answer was cut off.
 * @throws TooLong, and what the model rejects with.
 */
export async function firstAnswer(
  input: ExtractionInput,
  settings: AskSettings,
  hash: string,
  talk: Conversation,
): Promise<Answer> {
  const budget = inputBudget(settings.contextWindow);
  const whole = await answerWithin(input, budget, 1, settings, hash, talk);
  const answer = whole ?? (await answerWithin(input, Math.floor(budget / 2), 2, settings, hash, talk));
  if (answer === null) throw new TooLong();
  if (!isCutOff(answer.parsed)) return answer;
  const { request, rendering } = answer;
  const larger = { ...request, attempt: request.attempt + 1, maxOutputTokens: 2 * request.maxOutputTokens };
  return answerOf(larger, await talk.ask(larger), rendering);
}

/** A reply with what it says. */
export function answerOf(request: ModelRequest, reply: ModelReply, rendering: Rendering): Answer {
  return { request, reply, parsed: parseReply(reply), rendering };
}

/** @returns null where the server says that the input is too long. */
async function answerWithin(
  input: ExtractionInput,
  budget: number,
  attempt: number,
  settings: AskSettings,
  hash: string,
  talk: Conversation,
): Promise<Answer | null> {
  const rendering = renderItems(input.items, budget);
  const request = extractionRequest(input, settings.redact(rendering.text), requestSettings(settings, hash), attempt);
  try {
    return answerOf(request, await talk.ask(request), rendering);
  } catch (error) {
    if (error instanceof ModelError && error.kind === 'too_long') return null;
    throw error;
  }
}

function requestSettings(settings: AskSettings, hash: string): RequestSettings {
  const { modelName, language, maxOutputTokens } = settings;
  return { model: modelName, promptHash: hash, language, maxOutputTokens };
}

function isCutOff(parsed: Parsed): boolean {
  return parsed.outcome === 'failed' && parsed.failure === 'cut_off';
}
