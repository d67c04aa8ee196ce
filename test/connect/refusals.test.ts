import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readStanding, replaceStanding } from '../../scripts/connect/file.ts';
import { fileOf } from '../../scripts/connect/targets.ts';
import { aMachine, snapshot, type TestMachine } from '../support/connected.ts';
import { temporaryFolder, writeFiles } from '../support/repository.ts';
import { jsonIn, place } from '../support/settings-states.ts';

for (const [what, text, where, reason] of [
  ['half-written', '{\n  "model": "big",\n  "hooks": {', 'line 3, column 13', /no JSON \(CloseBraceExpected\)/],
  ['a missing comma', '{\n  "a": 1\n  "b": 2\n}\n', 'line 3, column 3', /no JSON \(CommaExpected\)/],
  ['a list', '[1]\n', 'line 1, column 1', /no JSON object/],
  ['a text', 'hello\n', 'line 1, column 1', /no JSON/],
  ['hooks that are a list', '{\r\n  "hooks": []\r\n}\r\n', 'line 2, column 12', /“hooks” is no object/],
  ['an event that is an object', '{\n  "hooks": { "SessionStart": {} }\n}', 'line 2, column 30', /no list/],
  ['hooks twice', '{\n  "hooks": {},\n  "hooks": {}\n}', 'line 3, column 3', /“hooks” is here twice/],
  ['an event twice', '{"hooks":{"SessionStart":[],\n"SessionStart":[]}}', 'line 2, column 1', /here twice/],
] as const) {
  test(`settings with ${what} are refused by place and left byte for byte`, async (t) => {
    const machine = aMachine(t);
    const path = place(machine, 'claude-code', text);
    const { code, stdout, stderr } = await machine.connect(['claude-code']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(stderr.includes(`${path}, ${where}:`), stderr);
    assert.match(stderr, reason);
    assert.match(stderr, /Correct it, then run the same command again/);
    assert.equal(readFileSync(path, 'utf8'), text);
  });
}

test('settings that are no UTF-8 are refused', async (t) => {
  const machine = aMachine(t);
  const path = place(machine, 'gemini', '{}');
  const utf16 = Buffer.from('\ufeff{"a":"ü"}', 'utf16le');
  writeFileSync(path, utf16);
  const { code, stderr } = await machine.connect(['gemini']);
  assert.equal(code, 1);
  assert.match(stderr, /is no UTF-8 text, so it was left as it is/);
  assert.deepEqual(readFileSync(path), utf16);
});

test('a read-only file is refused, and what it may do stays as it was after a change', async (t) => {
  const machine = aMachine(t);
  const path = place(machine, 'codex', '{}\n');
  chmodSync(path, 0o444);
  const { code, stderr } = await machine.connect(['codex']);
  assert.equal(code, 1);
  assert.match(stderr, /is read-only, so it was left as it is/);
  assert.match(stderr, /chmod u\+w/);
  assert.equal(readFileSync(path, 'utf8'), '{}\n');
  chmodSync(path, 0o640);
  await machine.connect(['codex']);
  assert.equal(statSync(path).mode & 0o777, 0o640);
});

test('settings that are a link are written where it leads, and the link stays', async (t) => {
  const machine = aMachine(t);
  const real = join(temporaryFolder(t), 'dotfiles/claude.json');
  writeFiles(dirname(real), { 'claude.json': '{ "a": 1 }' });
  const path = fileOf('claude-code', { scope: 'user' }, machine);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(real, path);
  assert.equal((await machine.connect(['claude-code'])).code, 0);
  assert.equal(readlinkSync(path), real);
  assert.ok('SessionStart' in jsonIn(real).hooks);
  await machine.connect(['claude-code', '--remove']);
  assert.equal(readlinkSync(path), real);
  assert.equal(readFileSync(real, 'utf8'), '{ "a": 1 }');
});

test('a link that leads nowhere, a folder in the file’s place, and a project’s link out of it are refused', async (t) => {
  const machine = aMachine(t);
  const path = fileOf('claude-code', { scope: 'user' }, machine);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync('gone.json', path);
  assert.match((await machine.connect(['claude-code'])).stderr, /is a link that leads nowhere/);
  mkdirSync(join(machine.home, '.codex/hooks.json'), { recursive: true });
  assert.match((await machine.connect(['codex'])).stderr, /is no file/);

  const project = join(machine.home, 'shop');
  const outside = join(machine.home, 'outside');
  writeFiles(outside, { 'settings.json': '{}\n' });
  mkdirSync(join(project, '.gemini'), { recursive: true });
  symlinkSync(outside, join(project, '.claude'));
  symlinkSync(join(outside, 'settings.json'), join(project, '.gemini/settings.json'));
  symlinkSync(join(outside, 'new.md'), join(project, 'AGENTS.md'));
  for (const agent of ['claude-code', 'gemini', 'agents-md']) {
    const { code, stderr } = await machine.connect([agent, '--project', project]);
    assert.equal(code, 1, agent);
    assert.match(stderr, /is a link that leads out of/);
  }
  assert.deepEqual(Object.keys(snapshot(outside)), ['settings.json']);
  assert.equal(readFileSync(join(outside, 'settings.json'), 'utf8'), '{}\n');
});

test('a file that another program changed after it was read is left as that program wrote it', async (t) => {
  const path = join(temporaryFolder(t), 'settings.json');
  writeFileSync(path, '{"a":1}');
  const standing = await readStanding(path, null);
  writeFileSync(path, '{"a":2}');
  await assert.rejects(
    replaceStanding(path, standing, Buffer.from('{"ours":1}'), 'a-token'),
    /changed by another program/,
  );
  assert.equal(readFileSync(path, 'utf8'), '{"a":2}');
  assert.deepEqual(Object.keys(snapshot(dirname(path))), ['settings.json']);
  const none = await readStanding(join(dirname(path), 'new.json'), null);
  writeFileSync(join(dirname(path), 'new.json'), 'theirs');
  await assert.rejects(
    replaceStanding(join(dirname(path), 'new.json'), none, Buffer.from('ours'), 'a-token'),
    /another program/,
  );
  assert.equal(readFileSync(join(dirname(path), 'new.json'), 'utf8'), 'theirs');
});

test('a folder that cannot be made is an error with a way on, and nothing is left behind', async (t) => {
  const machine = aMachine(t);
  writeFiles(machine.home, { '.gemini': 'a file where the folder should be' });
  const { code, stderr } = await machine.connect(['gemini']);
  assert.equal(code, 1);
  assert.match(stderr, /cannot be (?:read|written) \((?:ENOTDIR|EEXIST)\)/);
  writeFiles(machine.own, { 'state/connect': 'in the way' });
  const { stderr: state } = await machine.connect(['claude-code']);
  assert.match(state, /CTM_HOME/);
  assert.ok(!existsSync(join(machine.home, '.claude')));
});

test('an agent that we do not know, and flags that do not fit, are named with what would', async (t) => {
  const machine = aMachine(t);
  const said = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await machine.connect(args);
    assert.equal(code, 2, args.join(' '));
    return stderr;
  };
  assert.match(await said(), /Which agent\?[\s\S]*claude-code, codex, copilot, gemini, opencode, agents-md/);
  assert.match(await said('cursor'), /“cursor” is no agent[\s\S]*agents-md --project <dir>/);
  assert.match(await said('codex', '--scope', 'local', '--project', 'x'), /--scope local is Claude Code’s/);
  assert.match(await said('codex', '--scope', 'project'), /Name its folder: --project <dir>/);
  assert.match(await said('agents-md'), /Name its folder/);
  assert.match(await said('agents-md', '--scope', 'user'), /AGENTS.md is a project’s file/);
  assert.match(await said('codex', '--scope', 'user', '--project', 'x'), /concerns no project/);
  assert.match(await said('codex', '--plugin', 'x'), /--plugin is Claude Code’s/);
  assert.match(await said('claude-code', '--plugin', 'x', '--project', 'y'), /nobody’s settings/);
  assert.match(await said('codex', '--print', '--remove'), /Use --remove without it/);
  assert.match(await said('codex', '--project', 'gone'), /gone is no folder/);
  assert.match(await said('codex', '--copy'), /Use it with --skills/);
  assert.match(await said('codex', 'gemini'), /one argument too many/);
  assert.deepEqual(snapshot(machine.home), {});
});

test('without this laptop’s consent, or with an address, only recall is connected, and the next step is said', async (t) => {
  const machine = aMachine(t);
  const { stdout } = await machine.connect(['claude-code'], { place: { consented: false } });
  assert.match(stdout, /^claude-code: recall of /);
  assert.match(stdout, /npm run collect -- --init, then the same command again/);
  assert.deepEqual(Object.keys(jsonIn(fileOf('claude-code', { scope: 'user' }, machine)).hooks), ['SessionStart']);
  const later = await machine.connect(['claude-code']);
  assert.match(later.stdout, /^claude-code: recall and collect of /);
  assert.deepEqual(Object.keys(jsonIn(fileOf('claude-code', { scope: 'user' }, machine)).hooks).sort(), [
    'SessionEnd',
    'SessionStart',
    'Stop',
  ]);
  const url = 'https://git.example.test/acme/memory';
  const address = await machine.connect(['codex'], { place: { named: url, clone: null, consented: false } });
  assert.match(address.stdout, /^codex: recall of https:[\s\S]*collected from a clone only/);
  assert.match(address.stdout, /Codex runs a hook only once you trusted it/);
});

test('hooks that are switched off, and a hook of one’s own, are said', async (t) => {
  const machine = aMachine(t);
  const note = async (agent: 'claude-code' | 'codex' | 'gemini', text: string): Promise<string> => {
    place(machine, agent, text);
    return (await machine.connect([agent])).stdout;
  };
  assert.match(await note('claude-code', '{"disableAllHooks": true}'), /disableAllHooks is true/);
  assert.match(await note('gemini', '{"hooksConfig":{"enabled":false}}'), /hooksConfig\.enabled is false/);
  const byHand = {
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'node ~/m/scripts/collect/hook.mjs codex' }] }] },
  };
  writeFiles(machine.home, { '.codex/config.toml': '[features]\nhooks = false\n' });
  const said = await note('codex', JSON.stringify(byHand));
  assert.match(said, /features\.hooks is false/);
  assert.match(said, /announces sessions too; once is enough/);
});

test('--print shows what would be written, --json says it to a program, and neither prints the rest of a file', async (t) => {
  const machine = aMachine(t);
  const path = place(machine, 'gemini', '{"apiKey":"very-private"}');
  const before = [snapshot(machine.home), snapshot(machine.own)];
  const { code, stdout } = await machine.connect(['gemini', '--print']);
  assert.equal(code, 0);
  assert.ok(stdout.startsWith(`# ${path}\n{\n  "hooks": {\n    "SessionStart": [`), stdout);
  assert.ok(!stdout.includes('very-private'));
  assert.deepEqual([snapshot(machine.home), snapshot(machine.own)], before);
  const { files, collect, ...rest } = JSON.parse((await machine.connect(['gemini', '--json'])).stdout);
  assert.deepEqual(
    [files, collect, rest.action, rest.scope],
    [[{ path, outcome: 'written' }], true, 'connected', 'user'],
  );
  assert.deepEqual(JSON.parse((await machine.connect(['gemini', '--remove', '--json'])).stdout).files, [
    { path, outcome: 'removed' },
  ]);
});

test('removing what was never connected changes nothing, and neither does removing twice', async (t) => {
  const machine = aMachine(t);
  const { code, stdout } = await machine.connect(['claude-code', '--remove']);
  assert.deepEqual([code, snapshot(machine.home)], [0, {}]);
  assert.match(stdout, /nothing of ours in/);
  const path = place(machine, 'codex', '{ "hooks": { "Stop": [] } }\n');
  await machine.connect(['codex', '--remove']);
  assert.equal(readFileSync(path, 'utf8'), '{ "hooks": { "Stop": [] } }\n');
});

test('each agent’s own variable says where its files are', async (t) => {
  const machine: TestMachine = aMachine(t);
  const at = (name: string): string => join(machine.home, name);
  const env = {
    CLAUDE_CONFIG_DIR: at('a'),
    CODEX_HOME: at('b'),
    COPILOT_HOME: at('c'),
    GEMINI_CLI_HOME: at('d'),
    OPENCODE_CONFIG_DIR: at('e'),
  };
  const elsewhere = { home: machine.home, env };
  const user = { scope: 'user' } as const;
  assert.deepEqual(
    (['claude-code', 'codex', 'copilot', 'gemini', 'opencode'] as const).map((agent) => fileOf(agent, user, elsewhere)),
    [
      'a/settings.json',
      'b/hooks.json',
      'c/hooks/commit-to-memory.json',
      'd/.gemini/settings.json',
      'e/plugin/commit-to-memory.js',
    ].map(at),
  );
});
