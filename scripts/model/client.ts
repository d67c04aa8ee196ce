import { messageOf } from '../shared/errors.ts';
import { checkedKey, checkedUrl } from './client-address.ts';
import { abortedError, ModelError, quoted } from './errors.ts';
import { type HttpHeaders, type Incoming, type Outgoing, openConnections } from './http.ts';
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
 * Addresses, headers and patience; what a body says is read elsewhere.
 * @throws UsageError for an address or a key that no request can be made with.
 */
export function createClient(options: ClientOptions): Client {
  const baseUrl = checkedUrl(options.baseUrl);
  const apiKey = checkedKey(options.apiKey);
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey || 'none'}`,
    'user-agent': 'commit-to-memory',
  };
  const connections = openConnections();
  const send = async (
    { method, path, body }: Request,
    isStream: boolean,
    signal: AbortSignal | undefined,
    take?: (text: string) => boolean,
  ): Promise<HttpAnswer> => {
    if (signal?.aborted) throw abortedError();
    const watch = watchdog(options, signal, isStream);
    try {
      const incoming = await connections.send({ method, url: baseUrl + path, headers, body }, watch.signal);
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
      send({ method: 'POST', path, body: JSON.stringify(body) }, body.stream === true, signal),
    get: (path, signal) => send({ method: 'GET', path, body: null }, false, signal),
    remove: (path, signal) => send({ method: 'DELETE', path, body: null }, false, signal),
    upload: (file, signal) => send({ method: 'POST', path: '/files', body: batchForm(file) }, false, signal),
    stream: (path, take, signal) => send({ method: 'GET', path, body: null }, false, signal, take),
  };
}

type Request = Pick<Outgoing, 'method' | 'body'> & { readonly path: string };

function batchForm(file: File): FormData {
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', file, file.name);
  return form;
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
  const decoder = new TextDecoder();
  try {
    await incoming.read((bytes) => {
      watch.touch();
      return reader.add(decoder.decode(bytes, { stream: true }));
    });
  } catch (thrown) {
    if (watch.reason() !== null) throw thrown;
    return { body: reader.body(), broken: true };
  }
  reader.add(decoder.decode());
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
  const errors = thrown instanceof AggregateError ? thrown.errors : [thrown];
  const codes = errors.map((error) => (error instanceof Error && 'code' in error ? String(error.code) : ''));
  const words = quoted([...new Set(errors.map(messageOf))].join(' '), apiKey);
  return new ModelError(
    'network',
    `The model's server cannot be reached: ${words || 'the connection failed'}.`,
    'Check model.base_url and the network; the next run tries again.',
    { retries: codes.some((code) => lasting.test(code)) ? 0 : Number.POSITIVE_INFINITY },
  );
}

/** What is wrong with a certificate, or with the request itself, is so the next time too. */
const lasting = /CERT|SELF_SIGNED|ERR_TLS|ERR_SSL|ERR_INVALID/;
