import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { laptopOf } from '../../scripts/collect/laptop.ts';
import { aFix, uuid } from '../support/codex-session.ts';
import { aLaptop, appUrl, aTeam, type TestLaptop, threadsIn } from '../support/laptops.ts';
import { env as gitEnv, temporaryFolder } from '../support/repository.ts';

const here = dirname(fileURLToPath(import.meta.url));
const script = join(here, '../../scripts/collect/hook.mjs');
const payloads = join(here, '../fixtures/hooks');

interface Taken {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function hook(args: readonly string[], input: string | null, env: Readonly<Record<string, string>>): Promise<Taken> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [script, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
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

/** A home that allowed something; its hooks only note. */
function aHome(t: TestContext): { readonly env: Readonly<Record<string, string>>; readonly spooled: () => unknown[] } {
  const home = temporaryFolder(t);
  const env = { PATH: gitEnv.PATH ?? '', HOME: home, CTM_HOOK: 'spool' };
  const { consent, spool } = laptopOf(env, home);
  mkdirSync(dirname(consent), { recursive: true });
  writeFileSync(consent, 'version: 1\n');
  return {
    env,
    spooled: () =>
      existsSync(spool)
        ? readdirSync(spool)
            .sort()
            .map((name) => JSON.parse(readFileSync(join(spool, name), 'utf8')) as unknown)
        : [],
  };
}

for (const [agent, file, path] of [
  [
    'claude-code',
    'claude-SessionEnd.jsonl',
    '/home/dana/.claude/projects/-home-dana-src-orders-api/fb8ad0c4-d0bd-445f-95d9-1ba4d65b7013.jsonl',
  ],
  [
    'claude-code',
    'claude-Stop.jsonl',
    '/home/dana/.claude/projects/-home-dana-src-orders-api/fb8ad0c4-d0bd-445f-95d9-1ba4d65b7013.jsonl',
  ],
  [
    'claude-code',
    'claude-SubagentStop.jsonl',
    '/home/dana/.claude/projects/-home-dana-src-orders-api/fb8ad0c4-d0bd-445f-95d9-1ba4d65b7013.jsonl',
  ],
  [
    'claude-code',
    'claude-plugin-sessionend.json',
    '/home/dana/.claude/projects/-home-dana-src-ext-import/77ce92c0-de94-4916-aa4e-3f1f8fd5853c.jsonl',
  ],
  [
    'copilot',
    'copilot-agentStop.jsonl',
    '/home/dana-copilot/.copilot/session-state/b0383e95-2462-4442-8966-61c3ff7468ed/events.jsonl',
  ],
  [
    'gemini',
    'gemini-SessionEnd.jsonl',
    '/home/dana-gm/.gemini/tmp/multi-gm2/chats/session-2026-11-29T23-55-4781daaf.jsonl',
  ],
  [
    'gemini',
    'gemini-AfterAgent.jsonl',
    '/home/dana-gm/.gemini/tmp/multi-gm2/chats/session-2026-11-29T23-55-4781daaf.jsonl',
  ],
] as const) {
  test(`the recorded payload ${file} names its transcript`, async (t) => {
    const { env, spooled } = aHome(t);
    const taken = await hook([agent], readFileSync(join(payloads, file), 'utf8'), env);
    assert.deepEqual(taken, { code: 0, stdout: '', stderr: '' });
    assert.deepEqual(spooled(), [{ agent, path }]);
  });
}

test('Copilot’s end of a session names the session, and so its transcript', async (t) => {
  const { env, spooled } = aHome(t);
  await hook(['copilot'], readFileSync(join(payloads, 'copilot-sessionEnd.jsonl'), 'utf8'), env);
  const path = join(env.HOME ?? '', '.copilot/session-state/b0383e95-2462-4442-8966-61c3ff7468ed/events.jsonl');
  assert.deepEqual(spooled(), [{ agent: 'copilot', path }]);
});

for (const [what, input] of [
  ['nothing', ''],
  ['no JSON', '{"transcript_path":'],
  ['a list', '[1]'],
  ['no transcript', '{"session_id":"a"}'],
  ['a path that is no text', '{"transcript_path":{"a":1}}'],
  ['a relative path', '{"transcript_path":"../../etc/passwd"}'],
  ['a path with a NUL', '{"transcript_path":"/a\\u0000b"}'],
  ['far too much', `{"transcript_path":"/a.jsonl","x":"${'x'.repeat(5 * 1024 * 1024)}"}`],
] as const) {
  test(`a payload of ${what} is passed over with a notice and holds up nobody`, async (t) => {
    const { env, spooled } = aHome(t);
    const { code, stdout, stderr } = await hook(['codex'], input, env);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^commit-to-memory: [^\n]+\n$/);
    assert.deepEqual(spooled(), []);
  });
}

test('an agent that keeps standard input open is not waited for', async (t) => {
  const { env } = aHome(t);
  const { code, stderr } = await hook(['codex'], null, env);
  assert.deepEqual([code, stderr], [0, 'commit-to-memory: the payload did not end in time\n']);
});

test('without consent, or for an unknown agent, nothing is noted', async (t) => {
  const home = temporaryFolder(t);
  const input = '{"transcript_path":"/a/b.jsonl"}';
  const without = await hook(['codex'], input, { HOME: home });
  assert.equal(without.code, 0);
  assert.match(without.stderr, /collect -- --init/);
  const { env, spooled } = aHome(t);
  assert.match((await hook(['cursor'], input, env)).stderr, /there is no agent “cursor”/);
  assert.deepEqual(spooled(), []);
});

test('one transcript is noted once, readable by its owner only', async (t) => {
  const { env, spooled } = aHome(t);
  for (const _ of [1, 2, 3]) await hook(['codex'], '{"transcript_path":"/a/b.jsonl"}', env);
  assert.equal(spooled().length, 1);
  const { spool } = laptopOf(env, env.HOME ?? '');
  assert.equal(statSync(spool).mode & 0o777, 0o700);
  for (const name of readdirSync(spool)) assert.equal(statSync(join(spool, name)).mode & 0o777, 0o600);
});

/** Notes paths as a hook would. */
async function announce(laptop: TestLaptop, agent: string, ...paths: readonly string[]): Promise<void> {
  for (const path of paths)
    await hook([agent], JSON.stringify({ transcript_path: path }), { ...laptop.env, CTM_HOOK: 'spool' });
}

test('only what was announced is read, and only once', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const paths = [1, 2].map((n) => laptop.codex(aFix(n, [], { remote: appUrl })));
  await announce(laptop, 'codex', paths[1] ?? '');
  await laptop.collect(['--spooled']);
  assert.deepEqual(threadsIn(team), [uuid(2)]);
  assert.deepEqual(readdirSync(join(laptop.env.CTM_HOME ?? '', 'state/spool')), []);
  assert.equal((await laptop.collect(['--spooled'])).stdout, 'Sent 0 sessions.\n');
  await announce(laptop, 'codex', paths[0] ?? '');
  assert.match((await laptop.collect()).stdout, /^Sent 1 session.*\n1 file unchanged/);
  assert.deepEqual(readdirSync(join(laptop.env.CTM_HOME ?? '', 'state/spool')), []);
});

test('a path outside the agent’s own folder, through a link, or of another kind is refused', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const path = laptop.codex(aFix(1, [], { remote: appUrl }));
  const outside = join(laptop.home, 'elsewhere.jsonl');
  writeFileSync(outside, readFileSync(path));
  const sessions = join(laptop.home, '.codex/sessions');
  symlinkSync(outside, join(sessions, 'link.jsonl'));
  symlinkSync(laptop.home, join(sessions, 'folder'));
  writeFileSync(join(sessions, 'auth.json'), '{}');
  mkdirSync(join(sessions, 'dir.jsonl'));
  const hostile = [
    outside,
    join(sessions, 'link.jsonl'),
    join(sessions, 'folder/elsewhere.jsonl'),
    `${sessions}/../../elsewhere.jsonl`,
    join(sessions, 'auth.json'),
    join(sessions, 'dir.jsonl'),
    join(sessions, 'gone.jsonl'),
  ];
  await announce(laptop, 'codex', ...hostile);
  await announce(laptop, 'claude-code', path);
  await announce(laptop, 'gemini', path);
  writeFileSync(join(laptop.env.CTM_HOME ?? '', 'state/spool/0.json'), '{"agent":7}');
  writeFileSync(join(laptop.env.CTM_HOME ?? '', 'state/spool/1.json'), JSON.stringify({ agent: 'cursor', path }));
  writeFileSync(join(laptop.env.CTM_HOME ?? '', 'state/spool/2.json'), JSON.stringify({ agent: 'opencode', path }));
  const { stdout, stderr, code } = await laptop.collect(['--spooled']);
  assert.deepEqual([code, stdout], [0, 'Sent 0 sessions.\n']);
  const whys = stderr
    .trimEnd()
    .split('\n')
    .map((line) => /, which (.*): not read\./.exec(line)?.[1] ?? line);
  assert.deepEqual([...new Set(whys)].sort(), [
    'cannot be read (ENOENT)',
    'is no .json file',
    'is no .jsonl file',
    'is no absolute path',
    'is no regular file',
    'is not below the agent’s own folder',
    'is of an agent that has no reader yet',
  ]);
  assert.deepEqual(threadsIn(team), []);
});

test('the end of a session is collected by a process that outlives the hook', async (t) => {
  const team = aTeam(t);
  const laptop = aLaptop(t, team);
  const path = laptop.codex(aFix(1, [], { remote: appUrl }));
  const payload = JSON.stringify({ session_id: uuid(1), transcript_path: path, hook_event_name: 'SessionEnd' });
  const { code, stderr } = await hook(['codex', laptop.clone], payload, laptop.env);
  assert.deepEqual([code, stderr], [0, '']);
  const state = join(laptop.env.CTM_HOME ?? '', 'state');
  const said = (): string => readFileSync(join(state, 'hook.log'), 'utf8');
  const isOver = (): boolean => /^(Sent|error)/m.test(said()) && !existsSync(join(state, 'collect.lock'));
  for (let look = 0; look < 600 && !isOver(); look += 1) await setTimeout(100);
  assert.match(said(), /^Sent 1 session/m);
  assert.deepEqual(threadsIn(team), [uuid(1)]);
});

test('collect --hook is the same hook', async (t) => {
  const laptop = aLaptop(t, aTeam(t));
  const { code, stderr } = await laptop.run(['--hook', 'codex'], { CTM_HOOK: 'spool' });
  assert.equal(code, 0);
  assert.match(stderr, /the payload/);
});
