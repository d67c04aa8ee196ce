import type { OpenAI } from 'openai';
import { messageOf, UsageError } from '../shared/errors.ts';
import { abortedError, ModelError, quoted } from './errors.ts';

export interface ClientOptions {
  /** With its version part: `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Seconds that one request may take in all. */
  readonly timeoutSeconds: number;
  /** Seconds without a byte, once an answer is due, after which it has stalled. */
  readonly idleSeconds: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Whether the connection broke before the body's end. */
  readonly broken: boolean;
}

/** One request, one answer, whatever its status. Rejects with ModelError `network`, `stalled` or `aborted` only. */
export interface Client {
  post(path: string, body: Record<string, unknown>, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  get(path: string, signal: AbortSignal | undefined): Promise<HttpAnswer>;
}

/**
 * The `openai` package as a transport: it knows addresses and headers, we read the body, since it neither notices a
 * stalled one nor shows the words of an error that is not in OpenAI's form.
 * @throws UsageError for an address or a key that no request can be made with.
 */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkedUrl(options.baseUrl);
  const apiKey = checkedKey(options.apiKey);
  let loading: Promise<OpenAI> | undefined;
  const send = async (request: Request, isStream: boolean, signal: AbortSignal | undefined): Promise<HttpAnswer> => {
    if (signal?.aborted) throw abortedError();
    loading ??= load(baseUrl, apiKey, options.timeoutSeconds);
    const client = await loading;
    const watch = watchdog(options, signal, isStream);
    try {
      const response = await respond(request, client, watch.signal);
      watch.touch();
      return { status: response.status, headers: response.headers, ...(await read(response, watch)) };
    } catch (thrown) {
      throw watch.reason() ?? networkError(thrown, apiKey);
    } finally {
      watch.stop();
    }
  };
  return {
    post: (path, body, signal) =>
      send((client, stop) => client.post(path, { body, signal: stop }).asResponse(), body.stream === true, signal),
    get: (path, signal) => send((client, stop) => client.get(path, { signal: stop }).asResponse(), false, signal),
  };
}

type Request = (client: OpenAI, signal: AbortSignal) => Promise<Response>;

async function load(baseURL: string, apiKey: string, timeoutSeconds: number): Promise<OpenAI> {
  const { OpenAI } = await import('openai');
  return new OpenAI({
    baseURL,
    apiKey: apiKey || 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    maxRetries: 0,
    timeout: timeoutSeconds * 1000,
    logLevel: 'off',
    fetchOptions: { redirect: 'manual' },
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      if (!response.ok) throw new Refused(response);
      return response;
    },
  });
}

/** Carries an answer with an error status past the client, which would read and reword its body. */
class Refused extends Error {
  readonly response: Response;

  constructor(response: Response) {
    super('refused');
    this.response = response;
  }
}

async function respond(request: Request, client: OpenAI, signal: AbortSignal): Promise<Response> {
  try {
    return await request(client, signal);
  } catch (thrown) {
    if (thrown instanceof Error && thrown.cause instanceof Refused) return thrown.cause.response;
    throw thrown;
  }
}

interface Watchdog {
  readonly signal: AbortSignal;
  /** A byte came. */
  touch(): void;
  /** Why it gave up, if it did. */
  reason(): ModelError | null;
  stop(): void;
}

/** A streamed answer owes bytes from the start, any other only once it has begun. */
function watchdog(options: ClientOptions, outer: AbortSignal | undefined, isStream: boolean): Watchdog {
  const controller = new AbortController();
  let reason: ModelError | null = null;
  const giveUp = (error: ModelError) => {
    reason ??= error;
    controller.abort();
  };
  const aborted = () => giveUp(abortedError(outer?.reason));
  const startIdle = () =>
    setTimeout(() => giveUp(stalledError(`no byte for ${options.idleSeconds} s`)), options.idleSeconds * 1000);
  const total = setTimeout(
    () => giveUp(stalledError(`no whole answer within ${options.timeoutSeconds} s`)),
    options.timeoutSeconds * 1000,
  );
  let idle = isStream ? startIdle() : undefined;
  outer?.addEventListener('abort', aborted, { once: true });
  return {
    signal: controller.signal,
    touch: () => {
      idle = idle?.refresh() ?? startIdle();
    },
    reason: () => reason,
    stop: () => {
      clearTimeout(total);
      clearTimeout(idle);
      outer?.removeEventListener('abort', aborted);
    },
  };
}

function stalledError(what: string): ModelError {
  return new ModelError(
    'stalled',
    `The model's server has stalled: ${what}.`,
    'It is tried again by itself. If that happens often, the server is overloaded or the model too slow.',
    { retries: 1 },
  );
}

async function read(response: Response, watch: Watchdog): Promise<{ body: string; broken: boolean }> {
  if (response.body === null) return { body: '', broken: false };
  const decoder = new TextDecoder();
  let body = '';
  try {
    for await (const chunk of response.body) {
      watch.touch();
      body += decoder.decode(chunk, { stream: true });
      if (body.length > largestBody || streamIsDone(body)) break;
    }
  } catch (thrown) {
    if (watch.reason() !== null) throw thrown;
    return { body, broken: true };
  }
  return { body: body + decoder.decode(), broken: false };
}

/** Characters: far above any answer; a server that sends without end is left there. */
const largestBody = 32 * 1024 * 1024;

/** Some servers say that they are done and keep the connection open. */
function streamIsDone(body: string): boolean {
  return body.slice(-20).trimEnd().endsWith('\ndata: [DONE]');
}

function networkError(thrown: unknown, apiKey: string): ModelError {
  const causes: string[] = [];
  let code = '';
  for (let error: unknown = thrown; error instanceof Error && causes.length < 4; error = error.cause) {
    causes.push(messageOf(error));
    code = 'code' in error && typeof error.code === 'string' ? error.code : code;
  }
  const isLate = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
  if (isLate) return stalledError(`no byte within the time that the connection allows`);
  const words = quoted([...new Set(causes)].join(' '), apiKey);
  return new ModelError(
    'network',
    `The model's server cannot be reached: ${words || 'the connection failed'}.`,
    'Check model.base_url and the network; the next run tries again.',
    { retries: /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|ERR_INVALID/.test(code) ? 0 : Number.POSITIVE_INFINITY },
  );
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new UsageError(
      'model.base_url is no http(s) address without user and password.',
      'Write it with its version part, like https://host/v1; the key belongs into the variable that model.key_env names.',
    );
  return text.replace(/\/{1,9}$/, '');
}

function checkedKey(text: string): string {
  const key = text.trim();
  if (!/^[\u0021-\u007e]*$/.test(key))
    throw new UsageError(
      "The model's key holds spaces, line breaks or characters outside ASCII.",
      'Set the variable that model.key_env names to the key alone.',
    );
  return key;
}
