import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it arrived. `body` is parsed JSON. */
export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** All texts of its messages, in order, whatever the wire. */
  readonly texts: readonly string[];
}

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly id?: string;
}

/** What the model says, or what goes wrong instead. */
export type Behaviour =
  | Answer
  /** An answer with an error status; `error` in OpenAI's form unless `body` gives the whole body. */
  | {
      readonly status: number;
      readonly error?: {
        readonly message: string;
        readonly type?: string;
        readonly code?: string;
        readonly param?: string;
      };
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Success with a body of the caller's choice. */
  | { readonly raw: string; readonly contentType: string; readonly headers?: Readonly<Record<string, string>> }
  /** Headers (with status `code`, 200), then nothing more; with `after`, that many characters of the answer first. */
  | { readonly stall: true; readonly after?: number; readonly code?: number }
  /** The connection breaks: `before` any byte, or in the `middle` of the answer. */
  | { readonly drop: 'before' | 'middle' }
  /** The body ends properly, but after this share (0…1) of the answer. */
  | { readonly cut: number; readonly answer: Answer };

export interface Answer {
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly refusal?: string;
  readonly finish?: 'stop' | 'length' | 'content_filter';
  readonly usage?: { readonly input: number; readonly cached?: number; readonly output: number };
  readonly headers?: Readonly<Record<string, string>>;
  /** Leaves the token counts out, as some servers do. */
  readonly withoutUsage?: boolean;
}

/** What a server cannot do; it refuses as the servers do that cannot. */
export interface Abilities {
  readonly responses?: boolean;
  readonly jsonSchema?: boolean;
  readonly jsonObject?: boolean;
  readonly tools?: boolean;
  readonly maxCompletionTokens?: boolean;
  readonly reasoningEffort?: boolean;
  readonly stream?: boolean;
  readonly streamOptions?: boolean;
}

export interface ApiServerOptions {
  /** Decides what each request gets; `index` counts from 0. By default a short text. */
  readonly behave?: (request: RecordedRequest, index: number) => Behaviour | Promise<Behaviour>;
  readonly abilities?: Abilities;
  /** When given, any other key is refused with 401. */
  readonly apiKey?: string;
  readonly models?: readonly string[];
  /** Keeps every request for assertions: true. The bench turns it off. */
  readonly record?: boolean;
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
    const request = recorded(incoming, await bodyOf(incoming));
    if (options.record ?? true) requests.push(request);
    if (request.method === 'GET' && request.path === '/v1/models')
      return json(outgoing, 200, modelList(options.models ?? []));
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

type Wire = 'chat' | 'responses';

interface ApiError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  readonly param?: string;
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

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function recorded(incoming: IncomingMessage, text: string): RecordedRequest {
  const body: Record<string, unknown> = text === '' ? {} : JSON.parse(text);
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)])),
    body,
    texts: textsOf(body.messages ?? body.input),
  };
}

function textsOf(messages: unknown): string[] {
  if (typeof messages === 'string') return [messages];
  if (!Array.isArray(messages)) return [];
  return messages.map((message: Record<string, unknown>) =>
    String(message.content ?? message.output ?? message.arguments ?? ''),
  );
}

function wireOf(request: RecordedRequest, abilities: Abilities): Wire | null {
  if (request.method !== 'POST') return null;
  if (request.path === '/v1/chat/completions') return 'chat';
  return request.path === '/v1/responses' && abilities.responses !== false ? 'responses' : null;
}

/** What OpenAI or a lesser server answers before its model sees the request. */
function refuse(
  request: RecordedRequest,
  wire: Wire,
  options: ApiServerOptions,
): { status: number; error: ApiError } | null {
  const { abilities = {}, apiKey } = options;
  const { body } = request;
  if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`) {
    const given = (request.headers.authorization ?? '').replace('Bearer ', '');
    return {
      status: 401,
      error: {
        message: `Incorrect API key provided: ${given}.`,
        type: 'invalid_request_error',
        code: 'invalid_api_key',
      },
    };
  }
  if (typeof body.model !== 'string') return bad('you must provide a model parameter', 'model');
  const turns = wire === 'chat' ? body.messages : body.input;
  if (!Array.isArray(turns) || turns.length === 0)
    return bad(`Missing required parameter: '${wire === 'chat' ? 'messages' : 'input'}'.`, 'messages');
  const orphan = orphanedResult(turns, wire);
  if (orphan !== null) return bad(orphan, wire === 'chat' ? 'messages' : 'input');
  const format = formatOf(body, wire);
  const formatName = wire === 'chat' ? 'response_format' : 'text.format';
  if (format === 'json_schema' && abilities.jsonSchema === false)
    return bad(
      `Invalid parameter: '${formatName}' of type 'json_schema' is not supported with this model.`,
      formatName,
    );
  if (format === 'json_object' && abilities.jsonObject === false)
    return bad(`'${formatName}' of type 'json_object' is not supported.`, formatName);
  if (format === 'json_object' && !request.texts.some((text) => /json/i.test(text)))
    return bad(
      `'messages' must contain the word 'json' in some form, to use '${formatName}' of type 'json_object'.`,
      'messages',
    );
  const loose = looseSchema(body, wire);
  if (loose !== null) return bad(`Invalid schema for ${formatName}: In context=(), ${loose}.`, formatName);
  if (body.tools !== undefined && abilities.tools === false) return bad(`${body.model} does not support tools`, '');
  if (body.max_completion_tokens !== undefined && abilities.maxCompletionTokens === false)
    return {
      status: 422,
      error: {
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
      },
    };
  if ((body.reasoning_effort ?? body.reasoning) !== undefined && abilities.reasoningEffort === false)
    return bad("Unsupported parameter: 'reasoning_effort' is not supported with this model.", 'reasoning_effort');
  if (body.stream_options !== undefined && abilities.streamOptions === false)
    return bad('Unknown parameter: stream_options', 'stream_options');
  if (body.stream === true && abilities.stream === false)
    return bad('Your organization must be verified to stream this model.', 'stream');
  return null;
}

function bad(message: string, param: string): { status: number; error: ApiError } {
  return { status: 400, error: { message, type: 'invalid_request_error', param } };
}

function formatOf(body: RecordedRequest['body'], wire: Wire): string | null {
  const format = wire === 'chat' ? body.response_format : (body.text as { format?: unknown } | undefined)?.format;
  return (format as { type?: string } | undefined)?.type ?? null;
}

/** A tool's result whose call was never made: refused, as OpenAI does. */
function orphanedResult(turns: readonly Record<string, unknown>[], wire: Wire): string | null {
  const known = new Set<unknown>();
  for (const turn of turns) {
    if (turn.type === 'function_call') known.add(turn.call_id);
    for (const call of (turn.tool_calls as { id: string }[] | undefined) ?? []) known.add(call.id);
    const answered =
      wire === 'chat'
        ? turn.role === 'tool'
          ? turn.tool_call_id
          : undefined
        : turn.type === 'function_call_output'
          ? turn.call_id
          : undefined;
    if (answered !== undefined && !known.has(answered))
      return `No tool call found for tool output with call_id ${String(answered)}.`;
  }
  return null;
}

/** Strict mode wants every property required and none additional. */
function looseSchema(body: RecordedRequest['body'], wire: Wire): string | null {
  const holder = (
    wire === 'chat'
      ? (body.response_format as { json_schema?: unknown } | undefined)?.json_schema
      : (body.text as { format?: unknown } | undefined)?.format
  ) as
    | { strict?: boolean; schema?: { properties?: object; required?: string[]; additionalProperties?: boolean } }
    | undefined;
  const schema = holder?.schema;
  if (schema === undefined || holder?.strict !== true) return null;
  if (schema.additionalProperties !== false) return "'additionalProperties' is required to be supplied and to be false";
  const missing = Object.keys(schema.properties ?? {}).filter((name) => !(schema.required ?? []).includes(name));
  return missing.length === 0
    ? null
    : `'required' is required to include every key in properties, missing '${missing[0]}'`;
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

function rendered(request: RecordedRequest, wire: Wire, answer: Answer): { body: string; contentType: string } {
  const isStream = request.body.stream === true;
  const includeUsage = (request.body.stream_options as { include_usage?: boolean } | undefined)?.include_usage === true;
  const model = String(request.body.model);
  const full = answer.withoutUsage ? answer : { ...answer, usage: answer.usage ?? countedUsage(request, answer) };
  if (!isStream)
    return {
      body: JSON.stringify(wire === 'chat' ? completion(full, model) : response(full, model)),
      contentType: 'application/json',
    };
  return {
    body: wire === 'chat' ? chatStream(full, model, includeUsage) : responsesStream(full, model),
    contentType: 'text/event-stream; charset=utf-8',
  };
}

/** Four characters a token: nobody asserts more than that it is there. */
function countedUsage(request: RecordedRequest, answer: Answer) {
  const input = request.texts.reduce((sum, text) => sum + text.length, 0);
  return {
    input: Math.ceil(input / 4),
    cached: 0,
    output: Math.ceil((answer.text ?? answer.refusal ?? '').length / 4),
  };
}

function chatFinish(answer: Answer): string {
  return answer.finish ?? ((answer.calls?.length ?? 0) > 0 ? 'tool_calls' : 'stop');
}

function chatCalls(answer: Answer) {
  return answer.calls?.map((call, index) => ({
    id: call.id ?? `call_${index + 1}`,
    type: 'function',
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
}

function argumentsOf(call: ScriptedCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function chatUsage(answer: Answer) {
  if (answer.usage === undefined) return undefined;
  const { input, cached = 0, output } = answer.usage;
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function completion(answer: Answer, model: string) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.refusal === undefined ? (answer.text ?? (answer.calls ? null : '')) : null,
          refusal: answer.refusal ?? null,
          tool_calls: chatCalls(answer),
        },
        logprobs: null,
        finish_reason: chatFinish(answer),
      },
    ],
    usage: chatUsage(answer),
  };
}

function chatStream(answer: Answer, model: string, includeUsage: boolean): string {
  const chunk = (choices: unknown[], usage?: unknown) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model,
    choices,
    ...(usage === undefined ? {} : { usage }),
  });
  const delta = (content: object, finish: string | null = null) =>
    chunk([{ index: 0, delta: content, finish_reason: finish }]);
  const chunks = [
    delta({ role: 'assistant', content: '' }),
    ...pieces(answer.text ?? '').map((content) => delta({ content })),
    ...pieces(answer.refusal ?? '').map((refusal) => delta({ refusal })),
    ...(chatCalls(answer) ?? []).flatMap((call, index) => [
      delta({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }],
      }),
      ...pieces(call.function.arguments).map((part) =>
        delta({ tool_calls: [{ index, function: { arguments: part } }] }),
      ),
    ]),
    delta({}, chatFinish(answer)),
    ...(includeUsage && answer.usage !== undefined ? [chunk([], chatUsage(answer))] : []),
  ];
  return `${chunks.map((value) => `data: ${JSON.stringify(value)}\n\n`).join('')}data: [DONE]\n\n`;
}

function response(answer: Answer, model: string) {
  const incomplete =
    answer.finish === 'length' ? 'max_output_tokens' : answer.finish === 'content_filter' ? 'content_filter' : null;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: incomplete === null ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: incomplete === null ? null : { reason: incomplete },
    model,
    output: outputItems(answer),
    usage: responsesUsage(answer),
  };
}

function outputItems(answer: Answer) {
  const content =
    answer.refusal === undefined
      ? [{ type: 'output_text', text: answer.text ?? '', annotations: [] }]
      : [{ type: 'refusal', refusal: answer.refusal }];
  const hasMessage = answer.text !== undefined || answer.refusal !== undefined || answer.calls === undefined;
  return [
    ...(hasMessage ? [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }] : []),
    ...(chatCalls(answer) ?? []).map((call, index) => ({
      id: `fc_${index + 1}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id,
      name: call.function.name,
      arguments: call.function.arguments,
    })),
  ];
}

function responsesUsage(answer: Answer) {
  if (answer.usage === undefined) return undefined;
  const { input, cached = 0, output } = answer.usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

function responsesStream(answer: Answer, model: string): string {
  const whole = response(answer, model);
  const started = { ...whole, status: 'in_progress', output: [], usage: null };
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: started },
    { type: 'response.in_progress', response: started },
    ...pieces(answer.text ?? '').map((delta) => ({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
    })),
    ...whole.output.map((item, index) => ({ type: 'response.output_item.done', output_index: index, item })),
    { type: whole.status === 'completed' ? 'response.completed' : 'response.incomplete', response: whole },
  ];
  return events
    .map(
      (event, index) =>
        `event: ${String(event.type)}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
    )
    .join('');
}

function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,20}/gu) ?? [];
}

function modelList(ids: readonly string[]) {
  return { object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1_790_000_000, owned_by: 'test' })) };
}

function fail(outgoing: ServerResponse, status: number, error: ApiError): void {
  json(outgoing, status, { error: { type: null, param: null, code: null, ...error } });
}

function json(outgoing: ServerResponse, status: number, value: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify(value));
}
