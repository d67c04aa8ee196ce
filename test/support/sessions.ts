import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import type { Reading, Session } from '../../scripts/rollout/reader.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { openRollouts, type Rollouts, type Source } from '../../scripts/rollout/source.ts';
import type { Agent, Item } from '../../scripts/rollout/types.ts';

/** The recorded sessions. */
export const samples = join(dirname(fileURLToPath(import.meta.url)), '../fixtures/rollouts');

export const codexId = '01a229b0-0000-7000-8000-000000000001';
export const claudeId = '5d2ce5b0-0000-4000-8000-000000000001';
export const piId = '01a229b5-0000-7000-8000-000000000001';

/** What each agent calls the file of a session. */
const fileNames: Readonly<Record<Agent, string>> = {
  codex: `rollout-2026-11-29T10-00-00-${codexId}.jsonl`,
  'claude-code': `${claudeId}.jsonl`,
  copilot: 'events.jsonl',
  gemini: 'session-2026-11-29T10-00-5d2ce5b0.jsonl',
  opencode: 'session.json',
  pi: `2026-11-29T10-00-00-000Z_${piId}.jsonl`,
};

/** The recorded sessions that newer readers were built from: one of each, beside a second one of Copilot CLI. */
export const furtherSamples = [
  { agent: 'copilot', path: join(samples, 'copilot/ff2e5fd5-d029-4eec-b9b6-0a77c6f74065/events.jsonl') },
  { agent: 'copilot', path: join(samples, 'copilot/b0383e95-2462-4442-8966-61c3ff7468ed/events.jsonl') },
  { agent: 'gemini', path: join(samples, 'gemini/tmp/multi-gm/chats/session-2026-11-29T23-48-bceb1b1d.jsonl') },
  { agent: 'opencode', path: join(samples, 'opencode/ses_dd64baf82ffejwkbVSQ0wkClD1.export.json') },
  {
    agent: 'pi',
    path: join(
      samples,
      'pi/--home-dana-src-multi-pi--/2026-11-29T23-47-44-414Z_01a229b5-1a9c-76d3-aaac-f76d841a2efb.jsonl',
    ),
  },
] as const satisfies readonly Source[];

/** A session written from the format's description, not recorded: one JSON text or raw line each. */
export async function readSpec(
  t: TestContext,
  agent: Agent,
  lines: readonly (object | string | Buffer)[],
  name = fileNames[agent],
): Promise<Reading> {
  const folder = mkdtempSync(join(tmpdir(), 'spec-session-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, Buffer.concat(lines.map(bytesOf)));
  return readers[agent].read(path, { home: '/home/dana' });
}

/** The session that a reading must have found. */
export function sessionOf(reading: Reading): Session {
  if (reading.outcome === 'session') return reading.session;
  throw new Error(`ignored: ${reading.reason}`);
}

/** `n who/kind exit text`: the parts of an item that readers must get right, on one line each. */
export function brief(items: readonly Item[], characters = 40): string[] {
  return items.map(({ n, who, kind, exit, text }) => {
    const words = text.slice(0, 1000).replace(/\s+/g, ' ').trim().slice(0, characters);
    return `${n} ${who}/${kind}${exit === undefined ? '' : ` ${exit}`} ${words}`.trimEnd();
  });
}

/** What joins calls and outputs: number, tool, what it does, call. */
export function joints(items: readonly Item[]): string[] {
  return items.flatMap(({ n, tool, does, call }) => (call === undefined ? [] : [`${n} ${tool} ${does} ${call}`]));
}

export function openSamples(sources: readonly Source[] = allSamples): Rollouts {
  return openRollouts(sources, {
    include: [],
    checkouts: checkoutsFrom({
      '/home/dana/src/orders-api': { remotes: ['git@git.example.test:acme/orders-api.git'], rootCommit: null },
      '/home/dana/src/scratch': { remotes: [], rootCommit: '0123456789abcdef0123456789abcdef01234567' },
    }),
    home: '/root',
  });
}

export const allSamples: readonly Source[] = [
  { agent: 'codex', path: join(samples, 'codex') },
  { agent: 'claude-code', path: join(samples, 'claude-code') },
  { agent: 'claude-code', path: join(samples, 'claude-code-real') },
];

/** Codex: the header of a session. */
export function codexMeta(fields: object = {}): object {
  return {
    timestamp: '2026-11-29T10:00:00.000Z',
    type: 'session_meta',
    payload: {
      id: codexId,
      timestamp: '2026-11-29T10:00:00.000Z',
      cwd: '/home/dana/src/app',
      source: 'cli',
      ...fields,
    },
  };
}

/** Codex: a message, with the kinds of its parts where they are given. */
export function codexMessage(
  role: string,
  texts: readonly string[],
  fields: object = {},
  kinds?: readonly string[],
): object {
  return {
    timestamp: '2026-11-29T10:00:01.000Z',
    type: 'response_item',
    payload: {
      type: 'message',
      role,
      content: texts.map((text) => ({ type: role === 'assistant' ? 'output_text' : 'input_text', text })),
      ...(kinds === undefined ? {} : { internal_chat_message_metadata_passthrough: { content_item_kinds: kinds } }),
      ...fields,
    },
  };
}

export function codexItem(payload: object): object {
  return { timestamp: '2026-11-29T10:00:02.000Z', type: 'response_item', payload };
}

/** Claude Code: a line of the main conversation. */
export function claudeLine(
  type: 'user' | 'assistant',
  content: unknown,
  fields: object = {},
  message: object = {},
): object {
  return {
    parentUuid: null,
    isSidechain: false,
    type,
    message: { role: type, content, ...message },
    uuid: `${type}-${JSON.stringify(content).length}`,
    timestamp: '2026-11-29T10:00:01.000Z',
    cwd: '/home/dana/src/app',
    sessionId: claudeId,
    version: '2.1.332',
    gitBranch: 'main',
    ...fields,
  };
}

function bytesOf(line: object | string | Buffer): Buffer {
  if (Buffer.isBuffer(line)) return line;
  return Buffer.from(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
}
