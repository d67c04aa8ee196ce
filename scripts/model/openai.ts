import { estimateTokens } from '../shared/tokens.ts';
import { createClient, type HttpAnswer } from './client.ts';
import { type Dialect, firstDialect, learned, type Refusal, refusesTools, type Wire, weakened } from './dialect.ts';
import { ModelError, quoted } from './errors.ts';
import { isEventStream } from './events.ts';
import { withoutThoughts } from './json-text.ts';
import type { Reading } from './reading.ts';
import { brokenAnswer, errorOf, foreignAnswer, isModeration, refusalFrom, refusalOf } from './refusals.ts';
import { mayRetry, pause, retryDelay, timerWait, type Wait } from './retry.ts';
import type { Model, ModelReply, ModelRequest } from './types.ts';
import { chatBody, chatPath, readChat } from './wire-chat.ts';
import { readResponses, responsesBody, responsesPath } from './wire-responses.ts';

export interface OpenAiOptions {
  /** With its version part; OpenAI's own when absent. */
  readonly baseUrl?: string;
  /** May be empty for a server that asks for none. */
  readonly apiKey: string;
  /** `auto` begins with /responses and falls back to chat where the server has no such route. */
  readonly wire: Wire;
  /** Seconds that one request may take in all: 900. */
  readonly timeoutSeconds?: number;
  /** Seconds without a byte after which an answer has stalled: 300. */
  readonly idleSeconds?: number;
  /** Tries after the first: 4. */
  readonly maxRetries?: number;
  /** Whether answers are streamed, so that a stalled one is noticed and no proxy gives up: true. */
  readonly stream?: boolean;
  readonly wait?: Wait;
}

/**
 * Any OpenAI-compatible server. What the server refuses (a schema, `/responses`, a parameter) is weakened by itself and
 * remembered for as long as this value lives.
 * @throws UsageError for an address or a key that no request can be made with.
 */
export function createOpenAiModel(options: OpenAiOptions): Model {
  const { wire, maxRetries = 4, wait = timerWait } = options;
  const apiKey = options.apiKey.trim();
  const client = createClient({
    baseUrl: options.baseUrl ?? 'https://api.openai.com/v1',
    apiKey,
    timeoutSeconds: options.timeoutSeconds ?? 900,
    idleSeconds: options.idleSeconds ?? 300,
  });
  let known = firstDialect(wire, options.stream ?? true);

  return {
    async ask(request, signal) {
      const before = known;
      let dialect = before;
      let failures = 0;
      for (let requests = 1; ; requests++) {
        const verdict = await attempt(dialect, request, signal);
        if (verdict.outcome === 'reply') {
          known = learned(known, before, dialect);
          return { ...verdict.reply, usage: { ...verdict.reply.usage, requests } };
        }
        const mayWeaken = verdict.error.kind === 'bad_request' || verdict.error.kind === 'server';
        const weaker = mayWeaken && verdict.refusal && weakened(dialect, verdict.refusal, request, wire);
        if (weaker) {
          dialect = weaker;
          continue;
        }
        failures++;
        if (!mayRetry(verdict.error, failures, maxRetries)) throw afterTries(verdict.error, failures);
        await pause(wait, retryDelay(failures, verdict.error.retryAfter, request.subject), signal);
      }
    },
  };

  async function attempt(dialect: Dialect, request: ModelRequest, signal: AbortSignal | undefined): Promise<Verdict> {
    try {
      const isChat = dialect.wire === 'chat';
      const body = isChat ? chatBody(request, dialect) : responsesBody(request, dialect);
      const answer = await client.post(isChat ? chatPath : responsesPath, body, signal);
      return judge(answer, isChat ? readChat : readResponses, request, apiKey);
    } catch (thrown) {
      if (thrown instanceof ModelError) return { outcome: 'failed', error: thrown, refusal: null };
      throw thrown;
    }
  }
}

type Verdict =
  | { readonly outcome: 'reply'; readonly reply: ModelReply }
  | { readonly outcome: 'failed'; readonly error: ModelError; readonly refusal: Refusal | null };

function judge(
  answer: HttpAnswer,
  readBody: (body: string, isStream: boolean) => Reading,
  request: ModelRequest,
  apiKey: string,
): Verdict {
  if (answer.status >= 300) return refusedVerdict(refusalOf(answer.status, answer.body), answer, request, apiKey);
  const reading = readBody(answer.body, isEventStream(answer.headers.get('content-type'), answer.body));
  switch (reading.outcome) {
    case 'reply':
      return { outcome: 'reply', reply: replyOf(reading, answer, request) };
    case 'error':
      return refusedVerdict(refusalFrom(500, reading.error, answer.body), answer, request, apiKey);
    case 'cut':
      return { outcome: 'failed', error: brokenAnswer(answer, reading.why, apiKey), refusal: null };
    case 'foreign':
      return {
        outcome: 'failed',
        error: answer.broken ? brokenAnswer(answer, '', apiKey) : foreignAnswer(answer, apiKey),
        refusal: null,
      };
  }
}

function refusedVerdict(refusal: Refusal, answer: HttpAnswer, request: ModelRequest, apiKey: string): Verdict {
  if (isModeration(refusal)) {
    const text = quoted(refusal.words, apiKey);
    const usage = { requests: 1, input: 0, cached: 0, output: 0 };
    return { outcome: 'reply', reply: { text, toolCalls: [], finish: 'refusal', usage, model: request.model } };
  }
  if (request.tools !== undefined && refusesTools(refusal))
    return { outcome: 'failed', error: noTools(refusal, apiKey), refusal };
  return { outcome: 'failed', error: errorOf(refusal, answer.headers, apiKey), refusal };
}

function noTools(refusal: Refusal, apiKey: string): ModelError {
  return new ModelError(
    'bad_request',
    `The model cannot use tools (${refusal.status}): ${quoted(refusal.words, apiKey)}`,
    'Consolidation works with tool calls: name another model in model.consolidation_model.',
    { status: refusal.status },
  );
}

function replyOf(reading: Reading & { outcome: 'reply' }, answer: HttpAnswer, request: ModelRequest): ModelReply {
  const allowance = allowanceOf(answer.headers);
  const text = withoutThoughts(reading.text);
  return {
    text,
    toolCalls: reading.toolCalls,
    finish: reading.finish,
    usage: { requests: 1, ...(reading.tokens ?? estimatedTokens(request, reading)) },
    model: reading.model ?? request.model,
    ...(allowance === null ? {} : { allowance }),
  };
}

function estimatedTokens(request: ModelRequest, reading: Reading & { outcome: 'reply' }) {
  const input = request.messages.reduce((sum, message) => sum + estimateTokens(message.text), 0);
  const calls = reading.toolCalls.reduce((sum, call) => sum + estimateTokens(call.arguments), 0);
  return { input, cached: 0, output: estimateTokens(reading.text) + calls };
}

/** The smallest remaining share, 0…1, of what the server's rate-limit headers name; null without any. */
function allowanceOf(headers: Headers): number | null {
  const shares = ['', '-requests', '-tokens', '-input-tokens', '-output-tokens'].flatMap((what) => {
    const remaining = headers.get(`x-ratelimit-remaining${what}`);
    const limit = headers.get(`x-ratelimit-limit${what}`);
    const share = remaining === null || limit === null ? Number.NaN : Number(remaining) / Number(limit);
    return Number.isFinite(share) ? [Math.min(Math.max(share, 0), 1)] : [];
  });
  return shares.length === 0 ? null : Math.min(...shares);
}

function afterTries(error: ModelError, tries: number): ModelError {
  if (tries === 1) return error;
  return new ModelError(error.kind, `${error.message} (after ${tries} tries)`, error.hint, {
    cause: error,
    ...(error.status === null ? {} : { status: error.status }),
  });
}
