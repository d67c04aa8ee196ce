import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

/** What goes out: bytes, or a form with a file in it. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null for none. */
  readonly body: string | FormData | null;
}

/** Of an answer; names in lower case. */
export interface HttpHeaders {
  /** null for one that is not there; of what came several times, all. */
  get(name: string): string | null;
}

export const noHeaders: HttpHeaders = { get: () => null };

/** What comes in, once its head is there. A redirect is an answer like any other: nothing follows it. */
export interface Incoming {
  readonly status: number;
  readonly headers: HttpHeaders;
  /**
   * Hands the body on as it comes, until `take` says false or it ends.
   * @throws what the connection broke with.
   */
  read(take: (bytes: Uint8Array) => boolean): Promise<void>;
}

/** Sends requests over connections that stay open for the next one. */
export interface Connections {
  /** @throws what the connection broke with, an AbortError where the signal was aborted. */
  send(outgoing: Outgoing, signal: AbortSignal | null): Promise<Incoming>;
}

/**
 * Node's own client, and not `fetch`: a night asks a thousand times, and streams of promises took more than the
 * requests. Connections that wait for the next request keep no process alive.
 */
export function openConnections(): Connections {
  const agents = { http: new HttpAgent({ keepAlive: true }), https: new HttpsAgent({ keepAlive: true }) };
  return {
    async send({ method, url, headers, body }, signal) {
      const address = new URL(url);
      const { type, length, bytes } = encoded(body);
      const options: RequestOptions = {
        method,
        ...(signal !== null && { signal }),
        headers: {
          ...headers,
          ...(type !== null && { 'content-type': type }),
          ...(length !== null && { 'content-length': length }),
        },
      };
      return new Promise((done, fail) => {
        const request =
          address.protocol === 'https:'
            ? httpsRequest(address, { ...options, agent: agents.https })
            : httpRequest(address, { ...options, agent: agents.http });
        request.on('error', fail);
        request.once('response', (message) => done(incoming(message)));
        if (bytes instanceof Readable) pipeline(bytes, request).catch(fail);
        else request.end(bytes);
      });
    },
  };
}

interface Encoded {
  readonly type: string | null;
  /** null where it is not known before all is sent. */
  readonly length: number | null;
  readonly bytes: Buffer | Readable | null;
}

function encoded(body: Outgoing['body']): Encoded {
  if (body === null) return { type: null, length: null, bytes: null };
  if (typeof body === 'string') {
    const bytes = Buffer.from(body, 'utf8');
    return { type: 'application/json', length: bytes.length, bytes };
  }
  const form = new Response(body);
  return { type: form.headers.get('content-type'), length: null, bytes: Readable.from(form.body ?? []) };
}

function incoming(message: IncomingMessage): Incoming {
  return {
    status: message.statusCode ?? 0,
    headers: {
      get(name) {
        const value = message.headers[name];
        return value === undefined ? null : String(value);
      },
    },
    read: (take) =>
      new Promise((done, fail) => {
        const body = plain(message, fail);
        body.on('data', (bytes: Buffer) => {
          if (take(bytes)) return;
          done();
          // What unpacks has its own store of what came already.
          body.destroy();
          message.destroy();
        });
        body.on('end', done);
        body.on('error', fail);
      }),
  };
}

/** We ask for no compression; what stands between may compress all the same. */
function plain(message: IncomingMessage, fail: (error: Error) => void): Readable {
  const coding = (message.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!['gzip', 'x-gzip', 'deflate', 'br'].includes(coding)) return message;
  const unpacked = coding === 'br' ? createBrotliDecompress() : createUnzip();
  message.on('error', fail);
  return message.pipe(unpacked);
}
