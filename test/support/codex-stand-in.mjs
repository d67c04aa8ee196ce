#!/usr/bin/env node
// Speaks as much of Codex' app server as the comparison needs: asks the model about all sessions of its home in the
// first turn, then to consolidate; about none in later turns.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const home = process.env.CODEX_HOME ?? '';
if (process.argv.includes('--version')) {
  process.stdout.write('codex-cli 0.171.0\n');
  process.exit(0);
}
const [, address] = /base_url = "([^"]+)"/.exec(readFileSync(join(home, 'config.toml'), 'utf8')) ?? [];
let read = false;

async function ask(headers, body) {
  const method = 'POST';
  await (await fetch(`${address}/responses`, { method, headers, body: JSON.stringify(body) })).text();
}

async function turn() {
  await ask({}, { input: [], tools: [] });
  if (read) return;
  read = true;
  const sessions = readdirSync(join(home, 'sessions'), { recursive: true }).filter((name) => name.endsWith('.jsonl'));
  for (const _ of sessions) await ask({}, { input: [], text: { format: { type: 'json_schema' } } });
  await ask({ 'x-openai-subagent': 'memory_consolidation' }, { input: [] });
}

createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'turn/start') turn();
  process.stdout.write(`${JSON.stringify({ id, result: { thread: { id: 'thread-1' } } })}\n`);
});
