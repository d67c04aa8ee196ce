import { StringDecoder } from 'node:string_decoder';
import type { OpenAI } from 'openai';
import { messageOf } from '../shared/errors.ts';
import { checkedKey, checkedUrl } from './client-address.ts';
import { abortedError, ModelError, quoted } from './errors.ts';
import { type Connections, type HttpHeaders, type Incoming, openConnections } from './http.ts';
import { type Patience, type Watchdog, watchdog } from './watchdog.ts';

export interface ClientOptions extends Patience {
  /** With its version part: `https://host/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: HttpHeaders;
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
 * The `openai` package as a transport: it knows addresses, headers and forms, we read the body, since it neither notices a
 * stalled one nor shows the words of an error that is not in OpenAI's form. It sends over our connections.
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
      const incoming = await request(client, watch.signal);
      watch.touch();
      const reader = incoming.status < 300 && take !== undefined ? taking(take) : keeping();
      return { status: incoming.status, headers: incoming.headers, ...(await read(incoming, watch, reader)) };
    } catch (thrown) {
      throw watch.reason() ?? networkError(thrown, apiKey);
    } finally {
      watch.stop();
    }
  };
  return {
    post: (path, body, signal) =>
      send((client, stop) => carried(client.post(path, { body, signal: stop })), body.stream === true, signal),
    get: (path, signal) => send((client, stop) => carried(client.get(path, { signal: stop })), false, signal),
    remove: (path, signal) => send((client, stop) => carried(client.delete(path, { signal: stop })), false, signal),
    upload: (file, signal) =>
      send((client, stop) => carried(client.files.create({ file, purpose: 'batch' }, { signal: stop })), false, signal),
    stream: (path, take, signal) =>
      send((client, stop) => carried(client.get(path, { signal: stop })), false, signal, take),
  };
}

type Request = (client: OpenAI, signal: AbortSignal) => Promise<Incoming>;

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
    fetch: carrying(openConnections()),
  });
}

/**
 * Answers carried past the package, whatever their status: it would read and reword the body of an error. Beside the
 * response and not in a class of it, since Node loads its whole fetch for the name alone.
 */
const incomings = new WeakMap<Response, Incoming>();

async function carried(request: { asResponse(): Promise<Response> }): Promise<Incoming> {
  const incoming = incomings.get(await request.asResponse());
  if (incoming !== undefined) return incoming;
  throw new TypeError('The openai package answers with a response that nobody sent.');
}

function carrying(connections: Connections): typeof fetch {
  return async (url, { method = 'GET', headers, body = null, signal } = {}) => {
    if (body !== null && typeof body !== 'string' && !(body instanceof FormData))
      throw new TypeError('The openai package sends neither text nor a form.');
    const outgoing = {
      method,
      url: String(url),
      headers: Object.fromEntries(headers instanceof Headers ? headers : new Headers(headers)),
      body,
    };
    const incoming = await connections.send(outgoing, signal ?? null);
    const response = new Response(null);
    incomings.set(response, incoming);
    return response;
  };
}

/** Where the text of an answer goes. */
interface Reader {
  /** @returns whether more is wanted. */
  add(text: string): boolean;
  body(): string;
}

function keeping(): Reader {
  const parts: string[] = [];
  let length = 0;
  let end = '';
  return {
    add: (text) => {
      parts.push(text);
      length += text.length;
      end = (end + text.slice(-endLength)).slice(-endLength);
      return length <= largestBody && !streamIsDone(end);
    },
    body: () => parts.join(''),
  };
}

function taking(take: (text: string) => boolean): Reader {
  return { add: take, body: () => '' };
}

async function read(incoming: Incoming, watch: Watchdog, reader: Reader): Promise<{ body: string; broken: boolean }> {
  // A TextDecoder's stream gives two bytes a character, whatever comes.
  const decoder = new StringDecoder('utf8');
  let isBegun = false;
  const add = (text: string): boolean => {
    const isMarked = !isBegun && text.startsWith('\ufeff');
    isBegun ||= text !== '';
    return reader.add(isMarked ? text.slice(1) : text);
  };
  try {
    await incoming.read((bytes) => {
      watch.touch();
      return add(decoder.write(bytes));
    });
  } catch (thrown) {
    if (watch.reason() !== null) throw thrown;
    return { body: reader.body(), broken: true };
  }
  add(decoder.end());
  return { body: reader.body(), broken: false };
}

/** Characters: far above any answer; a server that sends without end is left there. */
const largestBody = 32 * 1024 * 1024;

/** Characters of an answer's end that tell whether it is one. */
const endLength = 20;

/** Some servers say that they are done and keep the connection open. */
function streamIsDone(end: string): boolean {
  return end.trimEnd().endsWith('\ndata: [DONE]');
}

function networkError(thrown: unknown, apiKey: string): ModelError {
  const errors = causesOf(thrown);
  const codes = errors.map((error) => ('code' in error ? String(error.code) : ''));
  const words = quoted([...new Set(errors.map(messageOf))].join(' '), apiKey);
  return new ModelError(
    'network',
    `The model's server cannot be reached: ${words || 'the connection failed'}.`,
    'Check model.base_url and the network; the next run tries again.',
    { retries: codes.some((code) => lasting.test(code)) ? 0 : Number.POSITIVE_INFINITY },
  );
}

/** The package says first that a connection failed, and a name with several addresses fails at each. */
function causesOf(thrown: unknown): Error[] {
  const errors: unknown[] = thrown instanceof AggregateError ? thrown.errors : [thrown];
  return errors
    .flatMap((error) => (error instanceof Error && error.cause !== undefined ? causesOf(error.cause) : [error]))
    .filter((error) => error instanceof Error);
}

/** What is wrong with a certificate, or with the request itself, is so the next time too. */
const lasting = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|ERR_INVALID/;
