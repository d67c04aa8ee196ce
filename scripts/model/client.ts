import type { OpenAI } from 'openai';
import { messageOf } from '../shared/errors.ts';
import { checkedKey, checkedUrl } from './client-address.ts';
import { abortedError, ModelError, quoted } from './errors.ts';
import { type Patience, stalledError, type Watchdog, watchdog } from './watchdog.ts';

export interface ClientOptions extends Patience {
  /** With its version part: `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
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
  remove(path: string, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  /** A file of requests for a batch. */
  upload(file: File, signal: AbortSignal | undefined): Promise<HttpAnswer>;
  /** As `get`, but the text of a success goes to `take` as it comes, until that says false; the answer has no body then. */
  stream(path: string, take: (text: string) => boolean, signal: AbortSignal | undefined): Promise<HttpAnswer>;
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
  const send = async (
    request: Request,
    isStream: boolean,
    signal: AbortSignal | undefined,
    take?: (text: string) => boolean,
  ): Promise<HttpAnswer> => {
    if (signal?.aborted) throw abortedError();
    loading ??= load(baseUrl, apiKey, options.timeoutSeconds);
    const client = await loading;
    const watch = watchdog(options, signal, isStream);
    try {
      const response = await respond(request, client, watch.signal);
      watch.touch();
      const reader = response.status < 300 && take !== undefined ? taking(take) : keeping();
      return { status: response.status, headers: response.headers, ...(await read(response, watch, reader)) };
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
    remove: (path, signal) => send((client, stop) => client.delete(path, { signal: stop }).asResponse(), false, signal),
    upload: (file, signal) =>
      send(
        (client, stop) => client.files.create({ file, purpose: 'batch' }, { signal: stop }).asResponse(),
        false,
        signal,
      ),
    stream: (path, take, signal) =>
      send((client, stop) => client.get(path, { signal: stop }).asResponse(), false, signal, take),
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

/** Where the text of an answer goes. */
interface Reader {
  /** @returns whether more is wanted. */
  add(text: string): boolean;
  body(): string;
}

function keeping(): Reader {
  let body = '';
  return {
    add: (text) => {
      body += text;
      return body.length <= largestBody && !streamIsDone(body);
    },
    body: () => body,
  };
}

function taking(take: (text: string) => boolean): Reader {
  return { add: take, body: () => '' };
}

async function read(response: Response, watch: Watchdog, reader: Reader): Promise<{ body: string; broken: boolean }> {
  if (response.body === null) return { body: '', broken: false };
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) {
      watch.touch();
      if (!reader.add(decoder.decode(chunk, { stream: true }))) break;
    }
  } catch (thrown) {
    if (watch.reason() !== null) throw thrown;
    return { body: reader.body(), broken: true };
  }
  reader.add(decoder.decode());
  return { body: reader.body(), broken: false };
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
