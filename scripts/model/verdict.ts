import { estimateTokens } from '../shared/tokens.ts';
import type { HttpAnswer } from './client.ts';
import { type Dialect, type Refusal, refusesTools } from './dialect.ts';
import { ModelError, quoted } from './errors.ts';
import { isEventStream } from './events.ts';
import type { HttpHeaders } from './http.ts';
import { withoutThoughts } from './json-text.ts';
import type { Reading } from './reading.ts';
import { brokenAnswer, errorOf, foreignAnswer, isModeration, refusalFrom, refusalOf } from './refusals.ts';
import type { ModelReply, ModelRequest } from './types.ts';
import { readBody } from './wire.ts';

/** What of a request its answer is judged by. */
export type Asked = Pick<ModelRequest, 'messages' | 'model' | 'tools'>;

/** What came of one request. */
export type Verdict =
  | { readonly outcome: 'reply'; readonly reply: ModelReply }
  | { readonly outcome: 'failed'; readonly error: ModelError; readonly refusal: Refusal | null };

/** @param request tools, name of the model, and the texts that tokens are reckoned from where the server counts none. */
export function judge(answer: HttpAnswer, wire: Dialect['wire'], request: Asked, apiKey: string): Verdict {
  if (answer.status >= 300) return refusedVerdict(refusalOf(answer.status, answer.body), answer, request, apiKey);
  const reading = readBody(wire, answer.body, isEventStream(answer.headers.get('content-type'), answer.body));
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

function refusedVerdict(refusal: Refusal, answer: HttpAnswer, request: Asked, apiKey: string): Verdict {
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

function replyOf(reading: Reading & { outcome: 'reply' }, answer: HttpAnswer, request: Asked): ModelReply {
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

function estimatedTokens(request: Asked, reading: Reading & { outcome: 'reply' }) {
  const input = request.messages.reduce((sum, message) => sum + estimateTokens(message.text), 0);
  const calls = reading.toolCalls.reduce((sum, call) => sum + estimateTokens(call.arguments), 0);
  return { input, cached: 0, output: estimateTokens(reading.text) + calls };
}

/** The smallest remaining share, 0…1, of what the server's rate-limit headers name; null without any. */
function allowanceOf(headers: HttpHeaders): number | null {
  const shares = ['', '-requests', '-tokens', '-input-tokens', '-output-tokens'].flatMap((what) => {
    const remaining = headers.get(`x-ratelimit-remaining${what}`);
    const limit = headers.get(`x-ratelimit-limit${what}`);
    const share = remaining === null || limit === null ? Number.NaN : Number(remaining) / Number(limit);
    return Number.isFinite(share) ? [Math.min(Math.max(share, 0), 1)] : [];
  });
  return shares.length === 0 ? null : Math.min(...shares);
}
