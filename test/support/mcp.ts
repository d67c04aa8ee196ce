import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { root, theNight } from './nights.ts';
import { writeFiles } from './repository.ts';

/** A server in a process of its own, spoken to by the official client. */
export interface Served {
  readonly client: Client;
  /** A call's result as the output schema says. @throws where the tool refuses. */
  call<T = Record<string, unknown>>(tool: string, args?: Record<string, unknown>): Promise<T>;
  /** What the tool says to a call that it refuses. */
  refusal(tool: string, args: Record<string, unknown>): Promise<string>;
  stderr(): string;
}

/** A folder for the tests of a whole file. */
export function scratchFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memory-mcp-')));
  after(() => rmSync(folder, { recursive: true, force: true }));
  writeFiles(folder, files);
  return folder;
}

/** How `npm run mcp -- …` is started. @param home where notes are kept. */
export function mcpCommand(args: readonly string[], home: string) {
  return {
    command: process.execPath,
    args: ['--import', import.meta.resolve('tsx'), join(root, 'scripts/mcp.ts'), ...args],
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/nowhere',
      CTM_HOME: home,
      CTM_CLOCK: theNight,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
    },
  };
}

/** Starts one; it ends with the tests of the file. */
export async function startMcp(args: readonly string[], home = '/nowhere'): Promise<Served> {
  const transport = new StdioClientTransport({ ...mcpCommand(args, home), stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString('utf8');
  });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  await client.listTools();
  clients.push(client);
  return {
    client,
    async call<T>(name: string, args: Record<string, unknown> = {}) {
      const result = await client.callTool({ name, arguments: args });
      const text = textOf(result);
      assert.notEqual(result.isError, true, text);
      assert.deepEqual(JSON.parse(text), result.structuredContent, 'both forms of a result say the same');
      return result.structuredContent as T;
    },
    async refusal(name, args) {
      const result = await client.callTool({ name, arguments: args });
      assert.equal(result.isError, true, textOf(result));
      return textOf(result);
    },
    stderr: () => stderr,
  };
}

const clients: Client[] = [];

after(async () => {
  for (const client of clients) await client.close();
});

/** The bare process: for what no proper client does. */
export function startRaw(args: readonly string[]) {
  const { command, args: all, env } = mcpCommand(args, '/nowhere');
  const child = spawn(command, all, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    for (const listener of listeners) listener();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal }));
  });
  const messages = () =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as RawMessage);
  return {
    send: (text: string) => child.stdin.write(text),
    end: () => child.stdin.end(),
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    messages,
    stderr: () => stderr,
    ended,
    /** Resolves with the answer to a request. */
    answerTo: (id: number) =>
      new Promise<RawMessage>((resolve) => {
        const look = () => {
          const found = messages().find((message) => message.id === id);
          if (found === undefined) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
  };
}

export interface RawMessage {
  readonly jsonrpc: string;
  readonly id?: number | string;
  readonly result?: { readonly isError?: boolean; readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

/** The first message of every session. */
export const initialize = `${JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})}\n`;

export function request(id: number, method: string, params: object = {}): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
}

function textOf(result: object): string {
  const { content } = result as { readonly content?: readonly { readonly text?: string }[] };
  return content?.[0]?.text ?? '';
}
