import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rendered } from './api-answers.ts';
import { type Abilities, refuse, refuseKey } from './api-refusals.ts';
import type { ApiError, Behaviour, RecordedRequest, Wire } from './api-types.ts';
import type { ApiAnswer, BatchApi } from './batch-api.ts';
import { recordedFrom } from './recorded-request.ts';

export interface ApiServerOptions {
  /** Decides what each request gets; `index` counts from 0. By default a short text. */
  readonly behave?: (request: RecordedRequest, index: number) => Behaviour | Promise<Behaviour>;
  readonly abilities?: Abilities;
  /** When given, any other key is refused with 401. */
  readonly apiKey?: string;
  /** What `GET /models` lists; null: there is no such route. */
  readonly models?: readonly (string | ModelEntry)[] | null;
  /** What `GET /models` answers instead. */
  readonly modelsRefusal?: { readonly status: number; readonly error: ApiError };
  /** Keeps every request for assertions: true. The bench turns it off. */
  readonly record?: boolean;
  /** Files and batches; without it there are no such routes. */
  readonly batches?: BatchApi;
}

/** A model with when it is switched off. */
export interface ModelEntry {
  readonly id: string;
  readonly shutdown_date: number | string;
}

export interface ApiServer {
  /** `http://127.0.0.1:<port>/v1` */
  readonly baseUrl: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  close(): Promise<void>;
}

/** A server that speaks OpenAI's HTTP interface on a free local port: both wires, streamed or whole. */
export async function startApiServer(options: ApiServerOptions = {}): Promise<ApiServer> {
  const requests: RecordedRequest[] = [];
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listen(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    close: () => closeServer(server),
  };

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const bytes = await bodyOf(incoming);
    const [method = '', path = ''] = [incoming.method, incoming.url];
    const headers = new Headers({ 'content-type': incoming.headers['content-type'] ?? '' });
    const batched = (await options.batches?.serve(method, path, headers, bytes)) ?? null;
    if (batched !== null) return answerBatched(outgoing, batched);
    const request = recorded(incoming, bytes.toString('utf8'));
    if (options.record ?? true) requests.push(request);
    if (request.method === 'GET' && request.path === '/v1/models' && options.models !== null) {
      const refusal = options.modelsRefusal ?? refuseKey(request, options.apiKey);
      if (refusal !== null) return fail(outgoing, refusal.status, refusal.error);
      return json(outgoing, 200, modelList(options.models ?? []));
    }
    const wire = wireOf(request, options.abilities ?? {});
    if (wire === null)
      return fail(outgoing, 404, {
        message: `Invalid URL (${request.method} ${request.path})`,
        type: 'invalid_request_error',
      });
    const refusal = refuse(request, wire, options);
    if (refusal !== null) return fail(outgoing, refusal.status, refusal.error);
    const behaviour = options.behave === undefined ? { text: 'Hello.' } : await options.behave(request, count++);
    deliver(outgoing, request, wire, behaviour);
  }
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function recorded(incoming: IncomingMessage, text: string): RecordedRequest {
  const isJson = /json/.test(incoming.headers['content-type'] ?? '');
  const body: Record<string, unknown> = isJson && text !== '' ? JSON.parse(text) : {};
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]));
  return recordedFrom(incoming.method ?? '', incoming.url ?? '', headers, body);
}

/** A call that hangs keeps its connection. */
function answerBatched(outgoing: ServerResponse, answer: ApiAnswer): void {
  if (answer === 'hang') return;
  if (answer === 'drop') {
    outgoing.socket?.destroy();
    return;
  }
  outgoing.writeHead(answer.status, { 'content-type': answer.type });
  outgoing.end(answer.body);
}

function wireOf(request: RecordedRequest, abilities: Abilities): Wire | null {
  if (request.method !== 'POST') return null;
  if (request.path === '/v1/chat/completions') return 'chat';
  return request.path === '/v1/responses' && abilities.responses !== false ? 'responses' : null;
}

function deliver(outgoing: ServerResponse, request: RecordedRequest, wire: Wire, behaviour: Behaviour): void {
  if ('status' in behaviour) {
    const body =
      behaviour.body ??
      JSON.stringify({
        error: {
          type: null,
          param: null,
          code: null,
          ...(behaviour.error ?? { message: `status ${behaviour.status}` }),
        },
      });
    outgoing.writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers });
    outgoing.end(body);
  } else if ('raw' in behaviour) {
    outgoing.writeHead(200, { 'content-type': behaviour.contentType, ...behaviour.headers });
    outgoing.end(behaviour.raw);
  } else if ('drop' in behaviour) drop(outgoing, request, wire, behaviour.drop);
  else if ('stall' in behaviour) {
    const { body, contentType } = rendered(request, wire, { text: 'Never the whole of this.' });
    outgoing.writeHead(behaviour.code ?? 200, { 'content-type': contentType });
    outgoing.flushHeaders();
    if (behaviour.after) outgoing.write(body.slice(0, behaviour.after));
  } else if ('cut' in behaviour) {
    const { body, contentType } = rendered(request, wire, behaviour.answer);
    outgoing.writeHead(200, { 'content-type': contentType });
    outgoing.end(body.slice(0, Math.floor(body.length * behaviour.cut)));
  } else {
    const { body, contentType } = rendered(request, wire, behaviour);
    outgoing.writeHead(200, { 'content-type': contentType, 'x-request-id': 'req_1', ...behaviour.headers });
    outgoing.end(body);
  }
}

function drop(outgoing: ServerResponse, request: RecordedRequest, wire: Wire, when: 'before' | 'middle'): void {
  if (when === 'before') {
    outgoing.socket?.destroy();
    return;
  }
  const { body, contentType } = rendered(request, wire, { text: 'Never the whole of this.' });
  outgoing.writeHead(200, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) });
  outgoing.write(body.slice(0, Math.floor(body.length / 2)), () => outgoing.socket?.destroy());
}

function modelList(models: readonly (string | ModelEntry)[]) {
  const fields = { object: 'model', created: 1_790_000_000, owned_by: 'test' };
  return {
    object: 'list',
    data: models.map((model) => ({ ...fields, ...(typeof model === 'string' ? { id: model } : model) })),
  };
}

function fail(outgoing: ServerResponse, status: number, error: ApiError): void {
  json(outgoing, status, { error: { type: null, param: null, code: null, ...error } });
}

function json(outgoing: ServerResponse, status: number, value: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(value));
}
