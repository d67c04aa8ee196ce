import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { bundle, bundleRecall } from '../../scripts/connect/bundle.ts';
import type { Programs } from '../../scripts/connect/pinned.ts';
import { fileOf, type HookAgent } from '../../scripts/connect/targets.ts';
import { aFix, uuid } from '../support/codex-session.ts';
import { aMachine, type TestMachine } from '../support/connected.ts';
import { appUrl, aTeam, laptopAt, threadsIn } from '../support/laptops.ts';
import { root } from '../support/nights.ts';
import { git, writeFiles } from '../support/repository.ts';
import { agents, jsonIn } from '../support/settings-states.ts';

/** A person's folder in which a shell, JSON, Gemini and OpenCode each could stumble. */
const hardName = ['o\'brien "q" $HOME $', '{PATH} `id` & ünï 日本'].join('');

const programs: Programs = new Map([
  ['recall.cjs', await bundleRecall(root)],
  ['collect.mjs', await bundle(root, 'scripts/collect/hook.mjs')],
  ['collector.mjs', await bundle(root, 'scripts/collect.ts')],
]);
const setup = { programs: () => Promise.resolve(programs) };

const starts: Readonly<Record<(typeof agents)[number], string>> = {
  'claude-code': payload('claude-SessionStart'),
  codex: JSON.stringify({ session_id: uuid(1), cwd: '/', hook_event_name: 'SessionStart', source: 'startup' }),
  copilot: payload('copilot-sessionStart'),
  gemini: payload('gemini-SessionStart'),
};

/** A machine whose memory holds one tip. */
function aMachineWithMemory(t: TestContext): TestMachine {
  const machine = aMachine(t, hardName);
  writeFiles(join(machine.home, 'memory'), {
    'memories/memory_summary.md': 'v1\n\n## General Tips\n- Only pnpm works here [k3f7x2ab@1]\n',
  });
  return machine;
}

for (const agent of agents) {
  test(`${agent}: the command that stands in its file runs in a shell and gives the memory`, async (t) => {
    const machine = aMachineWithMemory(t);
    const { code, stderr } = await machine.connect([agent], setup);
    assert.equal(code, 0, stderr);
    const command = commandAt(agent, machine, /recall\.cjs/);
    for (const shell of ['sh', 'bash']) {
      const ran = await run(shell, ['-c', command], starts[agent], machine.env);
      assert.deepEqual([ran.code, ran.stderr], [0, '']);
      const answer = JSON.parse(ran.stdout);
      const text: unknown =
        agent === 'copilot' ? answer.additionalContext : answer.hookSpecificOutput.additionalContext;
      if (agent !== 'copilot') assert.equal(answer.hookSpecificOutput.hookEventName, 'SessionStart');
      assert.match(String(text), /^<commit-to-memory v="1">[\s\S]*Only pnpm works here[\s\S]*<\/commit-to-memory>$/);
      assert.ok(String(text).length <= 10_000);
    }
  });
}

test('OpenCode’s plugin adds the memory to the system text of each session, and asks once a session', async (t) => {
  const machine = aMachineWithMemory(t);
  await machine.connect(['opencode'], setup);
  // OpenCode loads .js as a module; Node does where the name says so.
  const copy = join(machine.home, 'plugin.mjs');
  copyFileSync(fileOf('opencode', { scope: 'user' }, machine), copy);
  const exported: Record<
    string,
    (input: object) => Promise<Record<string, (input: object, output: object) => Promise<void>>>
  > = await import(pathToFileURL(copy).href);
  assert.deepEqual(Object.keys(exported), ['CommitToMemory']);
  const hooks = await exported.CommitToMemory?.({ directory: machine.home });
  const transform = hooks?.['experimental.chat.system.transform'];
  const system: string[] = ['the agent’s own'];
  await transform?.({ sessionID: 'ses_1' }, { system });
  assert.equal(system.length, 2);
  assert.match(system[1] ?? '', /Only pnpm works here/);
  writeFileSync(join(machine.home, 'memory/memories/memory_summary.md'), '');
  await transform?.({ sessionID: 'ses_1' }, { system });
  assert.equal(system[2], system[1]);
  await transform?.({ sessionID: 'ses_2' }, { system });
  assert.equal(system.length, 3);
});

test('the pinned programs are the same bytes each time, and only their owner can change them', async (t) => {
  const again = await bundleRecall(root);
  assert.equal(again, programs.get('recall.cjs'));
  assert.ok(!again.includes(root));
  const machine = aMachine(t);
  await machine.connect(['codex'], setup);
  const cache = join(machine.own, 'cache/commit-to-memory');
  const folder = join(cache, ...readdirSync(cache));
  assert.match(folder, /0\.1\.0-[0-9a-f]{8}$/);
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  for (const [name, text] of programs) {
    assert.equal(readFileSync(join(folder, name), 'utf8'), text);
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o644);
  }
  writeFileSync(join(folder, 'recall.cjs'), 'tampered');
  await machine.connect(['codex'], setup);
  assert.equal(readFileSync(join(folder, 'recall.cjs'), 'utf8'), programs.get('recall.cjs'));
});

test('a session’s end is collected by the pinned collector, whatever the clone’s scripts are by then', async (t) => {
  const team = aTeam(t);
  const machine = aMachine(t, hardName);
  mkdirSync(machine.home, { recursive: true });
  git(machine.home, 'clone', '--quiet', team, 'memory');
  const laptop = laptopAt(machine.home, team);
  laptop.allow({});
  writeFiles(laptop.clone, {
    'scripts/collect.ts': 'throw new Error("later code")',
    'package.json': '{"type":"module"}',
  });
  const transcript = laptop.codex(aFix(1, [], { remote: appUrl }));
  const env = { ...machine.env, ...laptop.env, CTM_HOME: join(machine.home, 'ctm') };
  await machine.connect(['codex'], setup);
  const command = commandAt('codex', machine, /collect\.mjs/);
  const end = JSON.stringify({ session_id: uuid(1), transcript_path: transcript, hook_event_name: 'SessionEnd' });
  assert.deepEqual(await run('sh', ['-c', command], end, env), { code: 0, stdout: '', stderr: '' });
  const state = join(env.CTM_HOME, 'state');
  const said = (): string => readFileSync(join(state, 'hook.log'), 'utf8');
  const isOver = (): boolean => /^(Sent|error)/m.test(said()) && !existsSync(join(state, 'collect.lock'));
  for (let look = 0; look < 600 && !isOver(); look += 1) await setTimeout(100);
  assert.match(said(), /^Sent 1 session/m);
  assert.deepEqual(threadsIn(team), [uuid(1)]);
});

test('a hook whose memory is gone holds up nobody', async (t) => {
  const machine = aMachine(t, hardName);
  await machine.connect(['gemini'], setup);
  const ran = await run('sh', ['-c', commandAt('gemini', machine, /recall/)], starts.gemini, machine.env);
  assert.equal(ran.code, 0);
  assert.doesNotThrow(() => JSON.parse(ran.stdout));
});

/** The command as the agent runs it. */
function commandAt(agent: Exclude<HookAgent, 'opencode'>, machine: TestMachine, which: RegExp): string {
  const { hooks } = jsonIn(fileOf(agent, { scope: 'user' }, machine));
  const commands = [...JSON.stringify(hooks).matchAll(/"(?:command|bash)":("(?:[^"\\]|\\.)*")/g)]
    .map((match): unknown => JSON.parse(match[1] ?? '""'))
    .filter((text) => typeof text === 'string' && text.startsWith('node '));
  const command = String(commands.find((text) => which.test(String(text))));
  return agent === 'gemini' ? resolved(command, machine.env) : command;
}

/** What Gemini CLI 0.61 does to every text of its settings. */
function resolved(text: string, env: Readonly<Record<string, string>>): string {
  return text.replace(
    /\$(?:(\w+)|{([^}]+?)(?::-([^}]*))?})/g,
    (whole, a?: string, b?: string, otherwise?: string) => env[a ?? b ?? ''] ?? otherwise ?? whole,
  );
}

function payload(name: string): string {
  return readFileSync(join(root, `test/fixtures/hooks/${name}.jsonl`), 'utf8');
}

function run(
  program: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { env, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] });
    const texts = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        texts[name] += text;
      });
    child.on('error', fail);
    child.on('close', (code) => done({ code, ...texts }));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}
