import type { Readable, Writable } from 'node:stream';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { readFrames } from './frames.ts';
import type { Resource } from './resources.ts';
import type { ToolSpec } from './tools/specs.ts';
import { ToolError } from './tools/tool-error.ts';

/** What the server offers. */
export interface Offer {
  readonly version: string;
  /** What a client may tell its model of the whole. */
  readonly instructions: string;
  readonly tools: readonly ToolSpec[];
  /** @throws ToolError, which goes back to the model. */
  call(tool: ToolSpec['name'], given: unknown): Promise<object>;
  resources(): Promise<readonly Resource[]>;
  /** For a person: standard output belongs to the protocol. */
  warn(text: string): void;
}

/** Bytes of one message: far above what any call may hold. */
const frameBytes = 1_048_576;

/**
 * Speaks the Model Context Protocol over two streams until the input ends or `signal` says so; what was asked before the
 * end is answered. One call is carried out at a time.
 */
export async function serve(
  { input, output }: { readonly input: Readable; readonly output: Writable },
  offer: Offer,
  signal: AbortSignal,
): Promise<void> {
  const server = new Server(
    { name: 'commit-to-memory', version: offer.version },
    { capabilities: { tools: {}, resources: {} }, instructions: offer.instructions },
  );
  offerTools(server, offer);
  offerResources(server, offer);
  server.onerror = (error) => offer.warn(error.message);
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  await server.connect(overStreams(input, output, offer.warn));
  const stop = () => void server.close();
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  await closed;
  signal.removeEventListener('abort', stop);
}

function offerTools(server: Server, offer: Offer): void {
  let before: Promise<unknown> = Promise.resolve();
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: offer.tools.map(({ readOnly, inputSchema, outputSchema, ...tool }) => ({
      ...tool,
      inputSchema: { ...inputSchema, required: [...inputSchema.required] },
      outputSchema: { ...outputSchema, required: [...outputSchema.required] },
      annotations: { readOnlyHint: readOnly, destructiveHint: false, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) => {
    const tool = offer.tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool ${params.name.slice(0, 60)}`);
    const result = before.then(() => {
      signal.throwIfAborted();
      return answerOf(offer, tool.name, params.arguments);
    });
    before = result.catch(() => undefined);
    return result;
  });
}

async function answerOf(offer: Offer, tool: ToolSpec['name'], given: unknown): Promise<CallToolResult> {
  try {
    const answer = await offer.call(tool, given);
    return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: { ...answer } };
  } catch (error) {
    return { content: [{ type: 'text', text: refusalOf(error, tool, offer) }], isError: true };
  }
}

/** Paths of this machine and our own mistakes are no business of a model's: they go to the person. */
function refusalOf(error: unknown, tool: string, { warn }: Offer): string {
  if (error instanceof ToolError) return error.message;
  warn(`${tool}: ${messageOf(error)}${error instanceof MemoryError ? ` ${error.hint}` : ''}`);
  return 'The memory cannot be used now; the server’s log says why. Go on without it.';
}

function offerResources(server: Server, offer: Offer): void {
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: [] }));
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({
    resources: (await offer.resources()).map(({ text: _, ...resource }) => ({
      ...resource,
      mimeType: 'text/markdown',
    })),
  }));
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params }) => {
    const resource = (await offer.resources()).find(({ uri }) => uri === params.uri);
    if (resource === undefined) throw new McpError(-32002, 'There is no such resource: list them');
    return { contents: [{ uri: resource.uri, mimeType: 'text/markdown', text: resource.text }] };
  });
}

/** The SDK's own transport ends at a message that is too long, and at the end of the input without the last answers. */
function overStreams(input: Readable, output: Writable, warn: (text: string) => void): Transport {
  const pending = new Set<RequestId>();
  let isEnded = false;
  let stop = () => {};
  const transport: Transport = {
    async start() {
      stop = readFrames(input, frameBytes, {
        frame: (text) => receive(text),
        tooLong: (end) => void refuse(end),
        ended: () => {
          isEnded = true;
          closeWhenDone();
        },
      });
    },
    async send(message) {
      const isTaken = output.write(`${JSON.stringify(message)}\n`);
      if (!isTaken) await new Promise((resolve) => output.once('drain', resolve));
      if ('id' in message && message.id !== undefined && !('method' in message)) pending.delete(message.id);
      closeWhenDone();
    },
    async close() {
      stop();
      stop = () => {};
      transport.onclose?.();
    },
  };
  function receive(text: string): void {
    const message = parsed(text);
    if (message === null) {
      warn('A message is no JSON-RPC and was passed over.');
      return;
    }
    if (isRequest(message)) pending.add(message.id);
    if ('method' in message && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId;
      if (typeof id === 'string' || typeof id === 'number') pending.delete(id);
    }
    transport.onmessage?.(message);
    closeWhenDone();
  }
  async function refuse(end: string): Promise<void> {
    warn(`A message of more than ${frameBytes} bytes was refused.`);
    const id = /"id":\s?(?:(\d{1,15})|"([^"\\]{1,100})")\s?\}$/.exec(end);
    if (id === null) return;
    const error = { code: ErrorCode.InvalidRequest, message: `A message has at most ${frameBytes} bytes: send less` };
    await transport.send({ jsonrpc: '2.0', id: id[2] ?? Number(id[1]), error });
  }
  function closeWhenDone(): void {
    if (isEnded && pending.size === 0) void transport.close();
  }
  return transport;
}

function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return 'method' in message && 'id' in message;
}

function parsed(text: string): JSONRPCMessage | null {
  try {
    return JSONRPCMessageSchema.parse(JSON.parse(text));
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}
