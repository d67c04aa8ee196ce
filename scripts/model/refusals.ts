import { parsedJson } from '../shared/json.ts';
import { at, textAt } from './at.ts';
import type { HttpAnswer } from './client.ts';
import type { Refusal } from './dialect.ts';
import { ModelError, type ModelErrorKind, quoted } from './errors.ts';
import type { HttpHeaders } from './http.ts';
import { askedDelay } from './retry.ts';

/** What the body of an error says, in OpenAI's form or any other. */
export function refusalOf(status: number, body: string): Refusal {
  const value = parsedJson(body);
  const error = at(value, 'error');
  return refusalFrom(status, typeof error === 'object' && error !== null ? error : value, body);
}

/** As `refusalOf`, of the error object alone. `status` is what holds unless the object says otherwise. */
export function refusalFrom(status: number, error: unknown, body: string): Refusal {
  const code = at(error, 'code');
  return {
    status: typeof code === 'number' && code >= 400 && code < 600 ? code : status,
    code: [code, at(error, 'type')].filter((part) => typeof part === 'string').join(' '),
    param: textAt(error, 'param') ?? '',
    words: typeof error === 'string' ? error : (textAt(error, 'message') ?? body.slice(0, 4_000)),
  };
}

/** Whether a filter has turned the input away: an answer about this input, not an error of the service. */
export function isModeration(refusal: Refusal): boolean {
  if (![400, 403, 422].includes(refusal.status)) return false;
  return (
    /content_filter|content_policy|moderation|invalid_prompt/.test(refusal.code) ||
    /content (management )?policy|moderation|(input|prompt) was flagged|safety system/i.test(refusal.words)
  );
}

/** The error behind an answer with an error status. */
export function errorOf(refusal: Refusal, headers: HttpHeaders, apiKey: string): ModelError {
  const kind = kindOf(refusal);
  const asked = askedDelay(headers);
  return new ModelError(
    kind,
    `${sentences[kind]} (${refusal.status}): ${quoted(refusal.words, apiKey) || 'no words'}`,
    hints[kind],
    {
      status: refusal.status,
      retries: headers.get('x-should-retry') !== 'false' && passes(kind, refusal.status) ? Number.POSITIVE_INFINITY : 0,
      ...(asked === null ? {} : { retryAfter: asked }),
    },
  );
}

type ServerKind = Exclude<ModelErrorKind, 'stalled' | 'network' | 'aborted' | 'budget' | 'deferred'>;

const sentences: Record<ServerKind, string> = {
  key: "The model's server refuses the key",
  quota: "The account at the model's provider has nothing left to spend",
  rate_limit: "The model's server limits the rate of requests",
  too_long: 'The request is too long for the model',
  server: "The model's server failed",
  bad_request: "The model's server refuses the request",
};

const hints: Record<ServerKind, string> = {
  key: 'Check the variable that model.key_env names, its rights, and model.base_url. Nothing was lost: the next night goes on.',
  quota: 'Check plan and billing at the provider. Nothing was lost: the next night goes on.',
  rate_limit: 'Lower the concurrency or ask the provider for a higher limit; the next run tries again.',
  too_long: 'Set model.context_window to what the model really has.',
  server: 'Nothing to do if it passes: the next run tries again. If not, check model.base_url.',
  bad_request: 'Check the model names and model.base_url (it ends in its version part, like /v1).',
};

function kindOf({ status, code, words }: Refusal): ServerKind {
  if (status === 402 || noMoney.test(code) || noMoneyWords.test(words)) return 'quota';
  if (status === 401 || status === 403 || /invalid_api_key/.test(code)) return 'key';
  if (status === 413 || tooLong.test(code) || (status < 500 && tooLongWords.test(words))) return 'too_long';
  if (status === 429) return 'rate_limit';
  return status === 408 || status === 409 || status >= 500 ? 'server' : 'bad_request';
}

/** Words alone do not tell: some providers say "quota" and "billing" of a limit per minute. */
const noMoney =
  /insufficient_quota|insufficient_user_quota|billing_hard_limit|billing_not_active|insufficient_balance|payment_required/;
const noMoneyWords = /insufficient (account |user )?(balance|credit|funds|quota)|credit balance is too low/i;
const tooLong = /context_length_exceeded|string_above_max_length|exceed_context_size/;
const tooLongWords =
  /context (length|window|size)|maximum context|(prompt|input|request) is too (long|large)|request too large|too many (input )?tokens|reduce the length/i;

function passes(kind: ServerKind, status: number): boolean {
  return kind === 'rate_limit' || (kind === 'server' && status !== 501 && status !== 505);
}

/** The error of an answer that began with success and is none. */
export function brokenAnswer(answer: HttpAnswer, why: string, apiKey: string): ModelError {
  const start = quoted(answer.body.slice(0, 400), apiKey);
  if (answer.broken)
    return new ModelError(
      'network',
      `The connection to the model's server broke in the middle of an answer.`,
      'The next run tries again.',
      { status: answer.status, retries: 2 },
    );
  return new ModelError(
    'server',
    `The model's server sent an answer that was cut off: ${why}. It begins: ${start}`,
    hints.server,
    {
      status: answer.status,
      retries: 2,
    },
  );
}

export function foreignAnswer(answer: HttpAnswer, apiKey: string): ModelError {
  const type = answer.headers.get('content-type') ?? 'no type';
  const start = quoted(answer.body.slice(0, 2_000), apiKey).slice(0, 160);
  return new ModelError(
    'server',
    `The address answers, but not as a model's server (${answer.status}, ${quoted(type, apiKey)}): ${start || 'an empty body'}`,
    'Check model.base_url (it ends in its version part, like /v1) and whether a proxy stands between.',
    { status: answer.status },
  );
}
