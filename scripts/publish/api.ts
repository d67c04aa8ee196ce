import { quoted } from '../model/errors.ts';
import { askedDelay, retryDelay, timerWait, type Wait } from '../model/retry.ts';
import { messageOf, UsageError } from '../shared/errors.ts';
import { parsedJson } from '../shared/json.ts';
import { ForgeError } from './errors.ts';

export interface ApiOptions {
  /** Where the interface begins: `https://api.github.com`, `https://host/api/v3`, `https://host/api/v4`. */
  readonly apiUrl: string;
  readonly token: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch?: typeof fetch;
  readonly wait?: Wait;
  /** Seconds that one request may take in all: 30. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
  /** What an answer with an error status means. */
  refusalOf(answer: ApiAnswer): ForgeError;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON; undefined for an empty body or one that is no JSON. */
  readonly value: unknown;
  /** A host's words on one line, without the token. */
  quoted(words: string): string;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT';

/** Requests to one host, each retried while it may pass. Rejects with ForgeError. */
export interface Api {
  /** @param path below `apiUrl`, or an address of the same host. Resolves for success only. */
  send(method: Method, path: string, body?: unknown): Promise<unknown>;
  /** Every entry of a list, over all its pages, at most 1,000. */
  list(path: string): Promise<readonly unknown[]>;
  wait(seconds: number): Promise<void>;
}

/** @throws UsageError for an address or a token that no request should be made with. */
export function createApi(options: ApiOptions): Api {
  const base = checkedApiUrl(options.apiUrl);
  const token = checkedToken(options.token);
  const caller: Caller = { ...options, base, token, wait: options.wait ?? timerWait };
  return {
    send: async (method, path, body) => (await retried(caller, method, addressOf(base, path), body)).value,
    list: (path) => pages(caller, path),
    wait: (seconds) => pause(caller, seconds),
  };
}

interface Caller extends ApiOptions {
  readonly base: URL;
  readonly wait: Wait;
}

const tries = 4;
/** Seconds. Whoever asks for more is asked again in the next night, not in this one. */
const longestAsked = 120;
const pageLimit = 10;
const largestBody = 32 * 1024 * 1024;

async function pages(caller: Caller, path: string): Promise<unknown[]> {
  const entries: unknown[] = [];
  let next: URL | null = addressOf(caller.base, path);
  for (let page = 1; next !== null && page <= pageLimit; page += 1) {
    const answer: ApiAnswer = await retried(caller, 'GET', next, undefined);
    if (!Array.isArray(answer.value)) throw foreignAnswer(answer.status);
    entries.push(...answer.value);
    next = nextPage(answer.headers.get('link'), caller.base);
  }
  return entries;
}

/** The address of `rel="next"`, if it is one of the same host. */
function nextPage(link: string | null, base: URL): URL | null {
  const target = /<([^<>]{1,2000})>\s{0,9};\s{0,9}rel="next"/.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target)) return null;
  const url = new URL(target);
  return url.origin === base.origin ? url : null;
}

async function retried(caller: Caller, method: Method, url: URL, body: unknown): Promise<ApiAnswer> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await followed(caller, method, url, body);
    } catch (error) {
      if (!(error instanceof ForgeError) || !error.mayPass || failures === tries) throw error;
      if ((error.retryAfter ?? 0) > longestAsked) throw error;
      const seconds = error.retryAfter ?? retryDelay(failures, null, `${method} ${url.pathname}`);
      await pause(caller, seconds);
    }
  }
}

/** Follows redirections of the same host (a renamed repository), never to another one: the token would go along. */
async function followed(caller: Caller, method: Method, url: URL, body: unknown): Promise<ApiAnswer> {
  let target = url;
  for (let step = 0; step <= 3; step += 1) {
    const answer = await once(caller, method, target, body);
    if (answer.status < 300) return answer;
    if (answer.status >= 400) throw caller.refusalOf(answer);
    const location = answer.headers.get('location') ?? '';
    const next = URL.canParse(location, target.href) ? new URL(location, target) : null;
    const keepsMethod = method === 'GET' || answer.status === 307 || answer.status === 308;
    if (next === null || next.origin !== caller.base.origin || !keepsMethod) throw redirectError(answer.status);
    target = next;
  }
  throw redirectError(310);
}

async function once(caller: Caller, method: Method, url: URL, body: unknown): Promise<ApiAnswer> {
  if (caller.signal?.aborted) throw abortedError();
  const timeout = AbortSignal.timeout((caller.timeoutSeconds ?? 30) * 1000);
  const signal = caller.signal === undefined ? timeout : AbortSignal.any([timeout, caller.signal]);
  const clean = (words: string) => quoted(words, caller.token);
  try {
    const response = await (caller.fetch ?? fetch)(url, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        ...caller.headers,
        authorization: `Bearer ${caller.token}`,
        'user-agent': 'commit-to-memory',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await textOf(response);
    const value = parsedJson(text);
    if (response.status < 300 && value === undefined && text.trim() !== '') throw foreignAnswer(response.status);
    return { status: response.status, headers: response.headers, value, quoted: clean };
  } catch (thrown) {
    if (thrown instanceof ForgeError) throw thrown;
    if (caller.signal?.aborted) throw abortedError();
    throw networkError(thrown, clean, timeout.aborted);
  }
}

async function textOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > largestBody) throw foreignAnswer(response.status);
  }
  return text + decoder.decode();
}

async function pause(caller: Caller, seconds: number): Promise<void> {
  try {
    await caller.wait(seconds, caller.signal);
  } catch (thrown) {
    if (!caller.signal?.aborted) throw thrown;
  }
  if (caller.signal?.aborted) throw abortedError();
}

/** Seconds that the host asks for: `retry-after`, else the time until its limit is reset, by its own clock. */
export function askedWait(headers: Headers): number | null {
  const asked = askedDelay(headers);
  if (asked !== null) return asked;
  if (headers.get('x-ratelimit-remaining') !== '0') return null;
  const reset = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
  const now = Date.parse(headers.get('date') ?? '') / 1000;
  return Number.isFinite(reset - now) ? Math.max(1, Math.ceil(reset - now)) : null;
}

function addressOf(base: URL, path: string): URL {
  if (path.startsWith(`${base.origin}/`)) return new URL(path);
  return new URL(`${base.href.replace(/\/$/, '')}${path}`);
}

function networkError(thrown: unknown, clean: (words: string) => string, isLate: boolean): ForgeError {
  const causes: string[] = [];
  let code = '';
  for (let error: unknown = thrown; error instanceof Error && causes.length < 4; error = error.cause) {
    causes.push(messageOf(error));
    code = 'code' in error && typeof error.code === 'string' ? error.code : code;
  }
  const words = isLate ? 'no whole answer in time' : clean([...new Set(causes)].join(' '));
  return new ForgeError(
    'network',
    `The host of the pull requests cannot be reached: ${words || 'the connection failed'}.`,
    'Check the network and delivery.api_url, then run it again: it goes on where it stopped.',
    { mayPass: !/CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|ERR_INVALID/.test(code) },
  );
}

function foreignAnswer(status: number): ForgeError {
  return new ForgeError(
    'server',
    `The address of the host answers, but not as its interface (${status}).`,
    'Check delivery.api_url (Enterprise: https://host/api/v3, GitLab: https://host/api/v4) and whether a proxy stands between.',
    { status },
  );
}

function redirectError(status: number): ForgeError {
  return new ForgeError(
    'server',
    `The host sends us elsewhere (${status}); the token does not follow.`,
    'If the repository has moved, set the new address: git remote set-url origin <address>; else check delivery.api_url.',
    { status },
  );
}

function abortedError(): ForgeError {
  return new ForgeError('aborted', 'The request to the host was given up.', 'Nothing to do: the run was stopped.');
}

function checkedApiUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain =
    url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '' && text !== '';
  if (!isPlain || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      'delivery.api_url is no http(s) address without user, password and query.',
      'Write it like https://host/api/v3 (GitHub Enterprise) or https://host/api/v4 (GitLab).',
    );
  if (url.protocol === 'http:' && !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname))
    throw new UsageError(
      `delivery.api_url would send the token to ${url.hostname} without encryption.`,
      'Use its https address.',
    );
  return url;
}

function checkedToken(token: string): string {
  if (!/^[\u0021-\u007e]{1,4096}$/.test(token))
    throw new UsageError(
      'The token for the pull requests is empty, or holds spaces, line breaks or characters outside ASCII.',
      'Set the variable that delivery.token_env names to the token alone.',
    );
  return token;
}
