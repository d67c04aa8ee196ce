import { createClient } from './client.ts';
import { type Dialect, firstDialect, learned, type Wire, weakened } from './dialect.ts';
import { ModelError } from './errors.ts';
import { mayRetry, pause, retryDelay, timerWait, type Wait } from './retry.ts';
import type { Model, ModelRequest } from './types.ts';
import { judge, type Verdict } from './verdict.ts';
import { bodyFor, pathOf } from './wire.ts';

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

export interface OpenAiModel extends Model {
  /** How the server is spoken to, as its answers have shown so far; null before the first. */
  dialect(): Dialect | null;
}

/**
 * Any OpenAI-compatible server. What the server refuses (a schema, `/responses`, a parameter) is weakened by itself and
 * remembered for as long as this value lives.
 * @throws UsageError for an address or a key that no request can be made with.
 */
export function createOpenAiModel(options: OpenAiOptions): OpenAiModel {
  const { wire, maxRetries = 4, wait = timerWait } = options;
  const apiKey = options.apiKey.trim();
  const client = createClient({
    baseUrl: options.baseUrl ?? 'https://api.openai.com/v1',
    apiKey,
    timeoutSeconds: options.timeoutSeconds ?? 900,
    idleSeconds: options.idleSeconds ?? 300,
  });
  let known = firstDialect(wire, options.stream ?? true);
  let isProven = false;

  return {
    dialect: () => (isProven ? known : null),
    async ask(request, signal) {
      const before = known;
      let dialect = before;
      let failures = 0;
      for (let requests = 1; ; requests++) {
        const verdict = await attempt(dialect, request, signal);
        if (verdict.outcome === 'reply') {
          known = learned(known, before, dialect);
          isProven = true;
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
      const answer = await client.post(pathOf(dialect.wire), bodyFor(request, dialect), signal);
      return judge(answer, dialect.wire, request, apiKey);
    } catch (thrown) {
      if (thrown instanceof ModelError) return { outcome: 'failed', error: thrown, refusal: null };
      throw thrown;
    }
  }
}

function afterTries(error: ModelError, tries: number): ModelError {
  if (tries === 1) return error;
  return new ModelError(error.kind, `${error.message} (after ${tries} tries)`, error.hint, {
    cause: error,
    ...(error.status === null ? {} : { status: error.status }),
  });
}
