import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleRecall } from '../../scripts/connect/bundle.ts';
import { sourceOf } from '../../scripts/recall/source.ts';
import { aGitServer } from '../support/git-server.ts';
import { aHandbook, aSummary } from '../support/handbooks.ts';
import { aRepository, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const payloads = join(root, 'test/fixtures/hooks');
const scratch = mkdtempSync(join(tmpdir(), 'memory-hook-'));
after(() => rmSync(scratch, { recursive: true, force: true }));
/** As `connect` installs it: one file. */
const hook = join(scratch, 'recall.cjs');
const source = await bundleRecall(root);
writeFileSync(hook, source);

const app = 'git.example.test/acme/app';
const memory = join(scratch, 'memory');
writeFiles(memory, {
  'memories/MEMORY.md': aHandbook(
    { repo: app, preferences: ['use pnpm'] },
    { repo: `${app}2`, preferences: ['OF ANOTHER'] },
    { repo: '*', title: 'All', preferences: ['say why'] },
  ),
  'memories/memory_summary.md': aSummary({ tips: ['read first'] }),
});

interface Answer {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function ask(args: readonly string[], input: string | null, home: string = scratch): Promise<Answer> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [hook, ...args], {
      cwd: scratch,
      env: { HOME: home, PATH: process.env.PATH },
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    child.stdin.on('error', () => undefined);
    if (input !== null) child.stdin.end(input);
    child.on('error', fail);
    child.on('close', (code) => done({ code, stdout, stderr }));
  });
}

/** A payload as it was recorded, of a session in a folder of this machine. */
function payload(name: string, cwd: string): string {
  return JSON.stringify({ ...JSON.parse(readFileSync(join(payloads, name), 'utf8')), cwd });
}

function aCheckout(t: TestContext): string {
  const dir = aRepository(t, { 'src/a.ts': 'x\n' });
  git(dir, 'remote', 'add', 'origin', `git@git.example.test:acme/app.git`);
  return join(dir, 'src');
}

/** The context in an answer that has exactly the fields that the agent's hook knows. */
function contextIn(agent: string, stdout: string): string {
  const answer: unknown = JSON.parse(stdout);
  const context =
    agent === 'copilot'
      ? (answer as { additionalContext: string }).additionalContext
      : (answer as { hookSpecificOutput: { additionalContext: string } }).hookSpecificOutput.additionalContext;
  assert.deepEqual(
    answer,
    agent === 'copilot'
      ? { additionalContext: context }
      : { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } },
  );
  assert.ok(context.length <= 9_500);
  return context;
}

for (const [agent, recorded] of [
  ['claude-code', 'claude-SessionStart.jsonl'],
  // None of Codex was recorded: its fields are Claude Code's.
  ['codex', 'claude-SessionStart.jsonl'],
  ['copilot', 'copilot-sessionStart.jsonl'],
  ['gemini', 'gemini-SessionStart.jsonl'],
] as const) {
  test(`${agent} is answered in its own form, with this repository’s lines and no other’s`, async (t) => {
    const { code, stdout, stderr } = await ask(['--agent', agent, '--memory', memory], payload(recorded, aCheckout(t)));
    assert.deepEqual([code, stderr], [0, '']);
    const context = contextIn(agent, stdout);
    for (const line of ['- read first', '- use pnpm', '- say why']) assert.ok(context.includes(`\n${line}\n`), line);
    assert.ok(context.includes(join(memory, 'memories/MEMORY.md')));
    assert.ok(!context.includes('OF ANOTHER'));
  });
}

test('a payload exactly as it was recorded, of a folder that is not here, gets what holds everywhere', async () => {
  const recorded = readFileSync(join(payloads, 'claude-SessionStart.jsonl'), 'utf8');
  const { stdout } = await ask(['--agent', 'claude-code', '--memory', memory], recorded);
  const context = contextIn('claude-code', stdout);
  assert.ok(context.includes('- say why') && !context.includes('use pnpm'));
});

test('--cwd goes before the payload’s folder; without either it is where the hook was started', async (t) => {
  const there = aCheckout(t);
  const elsewhere = JSON.stringify({ cwd: scratch });
  const named = await ask(['--agent', 'codex', '--memory', memory, '--cwd', there], elsewhere);
  assert.ok(contextIn('codex', named.stdout).includes('use pnpm'));
  const without = await ask(['--agent', 'codex', '--memory', memory], '{}');
  assert.ok(!contextIn('codex', without.stdout).includes('use pnpm'));
});

for (const [what, input] of [
  ['nothing', ''],
  ['no JSON', '{"cwd":'],
  ['a list', '[1]'],
  ['null', 'null'],
  ['far too much', `{"cwd":"/a","x":"${'x'.repeat(5 * 1024 * 1024)}"}`],
] as const) {
  test(`a payload of ${what} changes nothing in the session and leaves a notice`, async () => {
    const { code, stdout, stderr } = await ask(['--agent', 'gemini', '--memory', memory], input);
    assert.deepEqual([code, stdout], [0, '{}\n']);
    assert.match(stderr, /^commit-to-memory: [^\n]+\n$/);
  });
}

test('an agent that keeps standard input open is not waited for', async () => {
  const { code, stdout, stderr } = await ask(['--agent', 'codex', '--memory', memory], null);
  assert.deepEqual([code, stdout, stderr], [0, '{}\n', 'commit-to-memory: the payload did not end in time\n']);
});

for (const [what, args, said] of [
  ['an agent it does not know', ['--agent', 'cursor', '--memory', memory], /there is no agent “cursor”/],
  ['no memory named', ['--agent', 'codex'], /--memory names no/],
  ['a flag it does not know', ['--agent', 'codex', '--memory', memory, '--x'], /--x/],
  ['a memory that is not there', ['--agent', 'codex', '--memory', '/nonexistent'], /There is no memory there/],
] as const) {
  test(`with ${what} a session begins as if there were no memory`, async () => {
    const { code, stdout, stderr } = await ask(args, '{"cwd":"/"}');
    assert.deepEqual([code, stdout], [0, '{}\n']);
    assert.match(stderr, said);
  });
}

test('links, devices and files too large are not read; the other file still is', async (t) => {
  const folder = temporaryFolder(t);
  const secret = join(folder, 'secret');
  writeFileSync(secret, aSummary({ tips: ['SECRET'] }));
  mkdirSync(join(folder, 'a/memories'), { recursive: true });
  symlinkSync(secret, join(folder, 'a/memories/memory_summary.md'));
  writeFileSync(join(folder, 'a/memories/MEMORY.md'), aHandbook({ repo: '*', preferences: ['say why'] }));
  const linked = await ask(['--agent', 'codex', '--memory', join(folder, 'a')], '{"cwd":"/"}');
  const context = contextIn('codex', linked.stdout);
  assert.ok(context.includes('say why') && !context.includes('SECRET'));

  mkdirSync(join(folder, 'b'));
  symlinkSync(join(folder, 'a/memories'), join(folder, 'b/memories'));
  assert.equal((await ask(['--agent', 'codex', '--memory', join(folder, 'b')], '{"cwd":"/"}')).stdout, '{}\n');

  writeFileSync(join(folder, 'a/memories/MEMORY.md'), Buffer.alloc(5 * 1024 * 1024, 'x'));
  assert.equal((await ask(['--agent', 'codex', '--memory', join(folder, 'a')], '{"cwd":"/"}')).stdout, '{}\n');
});

test('a memory that its configuration switches off, or that is empty, gives a session nothing', async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    'memories/MEMORY.md': aHandbook({ repo: '*', preferences: ['say why'] }),
    '.github/memory.yml': 'version: 1\nenabled: false # for now\n',
  });
  const off = await ask(['--agent', 'codex', '--memory', folder], '{"cwd":"/"}');
  assert.deepEqual([off.code, off.stdout], [0, '{}\n']);
  assert.match(off.stderr, /switched off/);
  writeFiles(folder, { 'memories/MEMORY.md': '', '.github/memory.yml': 'enabled: true\n' });
  const empty = await ask(['--agent', 'codex', '--memory', folder], '{"cwd":"/"}');
  assert.deepEqual(empty, { code: 0, stdout: '{}\n', stderr: '' });
});

test('the first session of an address starts a fetch that outlives it, and asks no server itself', async (t) => {
  const server = await aGitServer(t, { tokens: {}, anonymous: 'read' });
  const bare = server.create('memory');
  const people = aRepository(t, { 'memories/memory_summary.md': aSummary({ tips: ['fetched'] }) });
  git(people, 'push', '--quiet', bare, 'HEAD:refs/heads/main');
  const home = temporaryFolder(t);
  const args = ['--agent', 'codex', '--memory', server.url('memory')];
  const first = await ask(args, '{"cwd":"/"}', home);
  assert.equal(first.code, 0);
  assert.match(contextIn('codex', first.stdout), /not on this machine yet/);
  const source = sourceOf(server.url('memory'), { env: {}, home, cwd: home });
  const cache = source.kind === 'remote' ? source.cache : '';
  const isOver = (): boolean => existsSync(join(cache, 'current.json')) && !existsSync(join(cache, 'refresh.lock'));
  for (let look = 0; look < 600 && !isOver(); look += 1) await setTimeout(50);
  const asked = server.requests.length;
  const next = await ask(args, '{"cwd":"/"}', home);
  assert.deepEqual([next.code, next.stderr], [0, '']);
  assert.ok(contextIn('codex', next.stdout).includes('\n- fetched\n'));
  assert.equal(server.requests.length, asked);
});

test('the one file holds no package, and works where nothing else of ours is', () => {
  assert.doesNotMatch(source, /^\/\/ node_modules\//m);
  assert.ok(source.length < 200_000);
});
