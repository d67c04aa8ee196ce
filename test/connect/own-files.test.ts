import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { fileOf } from '../../scripts/connect/targets.ts';
import { schemas } from '../support/agent-schemas.ts';
import { aMachine, smallPrograms, snapshot } from '../support/connected.ts';
import { writeFiles } from '../support/repository.ts';

const others = 'export const Other = async () => ({});\n';

for (const [what, files] of [
  ['nothing at all', {}],
  ['an empty configuration folder', { '.config/other/a': 'a' }],
  ['a configuration', { '.config/opencode/opencode.json': '{ // mine\n}\n' }],
  ['another plugin', { '.config/opencode/plugin/other.js': others }],
  ['plugins in the other folder', { '.config/opencode/plugins/other.ts': others }],
  ['its own package file', { '.config/opencode/package.json': '{"type":"module"}' }],
  ['skills', { '.config/opencode/skill/a/SKILL.md': 'a' }],
  ['instructions', { '.config/opencode/AGENTS.md': '# Mine\r\n' }],
  ['a hidden file in the plugin folder', { '.config/opencode/plugin/.keep': '' }],
  ['a plugin of a similar name', { '.config/opencode/plugin/commit-to-memory.ts': others }],
] as const) {
  test(`OpenCode with ${what} gets one plugin file, twice is once, and comes back byte for byte`, async (t) => {
    const machine = aMachine(t);
    writeFiles(machine.home, files);
    const home = snapshot(machine.home);
    assert.equal((await machine.connect(['opencode'])).code, 0);
    const once = snapshot(machine.home);
    assert.equal(
      Object.keys(once).filter((path) => once[path]?.startsWith('file')).length,
      Object.keys(files).length + 1,
    );
    assert.match((await machine.connect(['opencode'])).stdout, /unchanged/);
    assert.deepEqual(snapshot(machine.home), once);
    assert.match((await machine.connect(['opencode'], { version: '0.2.0' })).stdout, /written/);
    assert.equal((await machine.connect(['opencode', '--remove'])).code, 0);
    assert.deepEqual(snapshot(machine.home), home);
  });
}

test('a plugin file that a person edited, or wrote, is neither overwritten nor removed', async (t) => {
  const machine = aMachine(t);
  await machine.connect(['opencode']);
  const path = fileOf('opencode', { scope: 'user' }, machine);
  const edited = `${readFileSync(path, 'utf8')}// mine\n`;
  writeFileSync(path, edited);
  const again = await machine.connect(['opencode'], { version: '0.2.0' });
  assert.equal(again.code, 1);
  assert.match(again.stderr, /edited since it was written, so it was left/);
  const removed = await machine.connect(['opencode', '--remove']);
  assert.equal(removed.code, 3);
  assert.match(removed.stdout, /edited since, so left/);
  assert.equal(readFileSync(path, 'utf8'), edited);
  writeFileSync(path, others);
  assert.match((await machine.connect(['opencode'])).stderr, /not of this command/);
  assert.equal((await machine.connect(['opencode', '--remove'])).code, 0);
  assert.equal(readFileSync(path, 'utf8'), others);
});

test('without our record an unedited plugin file is still known and removed', async (t) => {
  const machine = aMachine(t);
  await machine.connect(['opencode']);
  rmSync(join(machine.own, 'state'), { recursive: true });
  assert.equal((await machine.connect(['opencode', '--remove'])).code, 0);
  assert.ok(!existsSync(fileOf('opencode', { scope: 'user' }, machine)));
});

const manifest = z.strictObject({
  name: z.string().regex(/^[a-z0-9-]+$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string().min(1),
  author: z.strictObject({ name: z.string() }),
});

test('a plugin of Claude Code stands alone, runs from wherever it lies, and is removed whole', async (t) => {
  const machine = aMachine(t, 'a $HOME "b"');
  const dir = join(machine.home, 'team plugin');
  const home = snapshot(machine.home);
  const args = ['claude-code', '--plugin', dir];
  assert.equal(
    (
      await machine.connect(args, {
        place: { named: 'https://git.example.test/acme/memory', clone: null, consented: false },
      })
    ).code,
    0,
  );
  assert.deepEqual(Object.keys(snapshot(dir)).sort(), [
    '.claude-plugin',
    '.claude-plugin/plugin.json',
    'hooks',
    'hooks/hooks.json',
    'recall.cjs',
  ]);
  manifest.parse(JSON.parse(readFileSync(join(dir, '.claude-plugin/plugin.json'), 'utf8')));
  const hooks = JSON.parse(readFileSync(join(dir, 'hooks/hooks.json'), 'utf8'));
  schemas['claude-code'].parse(hooks);
  const env = { ...machine.env, CLAUDE_PLUGIN_ROOT: dir };
  const ran = execFileSync('sh', ['-c', hooks.hooks.SessionStart[0].hooks[0].command], { env, encoding: 'utf8' });
  assert.deepEqual(JSON.parse(ran).args, [
    '--agent',
    'claude-code',
    '--memory',
    'https://git.example.test/acme/memory',
  ]);
  assert.equal((await machine.connect(args)).code, 0);
  assert.ok(existsSync(join(dir, 'collector.mjs')));
  const own = JSON.parse(readFileSync(join(dir, 'hooks/hooks.json'), 'utf8'));
  assert.deepEqual(Object.keys(own.hooks).sort(), ['SessionEnd', 'SessionStart', 'Stop']);
  const collected = execFileSync('sh', ['-c', own.hooks.Stop[0].hooks[0].command], { env, encoding: 'utf8' });
  assert.deepEqual(JSON.parse(collected).args, [
    'claude-code',
    join(machine.home, 'memory'),
    join(dir, 'collector.mjs'),
  ]);
  assert.equal((await machine.connect([...args, '--remove'])).code, 0);
  assert.deepEqual(snapshot(machine.home), home);
});

test('a folder that holds something else is no place for a plugin', async (t) => {
  const machine = aMachine(t);
  writeFiles(machine.home, { 'mine/hooks/hooks.json': '{}' });
  const { code, stderr } = await machine.connect(['claude-code', '--plugin', join(machine.home, 'mine')]);
  assert.equal(code, 1);
  assert.match(stderr, /hooks\.json is there already and is/);
  assert.equal(readFileSync(join(machine.home, 'mine/hooks/hooks.json'), 'utf8'), '{}');
});

test('--mcp shows each client’s configuration of the server, in its own form, and writes nothing', async (t) => {
  const machine = aMachine(t, 'home of o\'brien "q"');
  const clone = join(machine.home, 'memory');
  const args = ['--import', 'file:///opt/tsx/loader.mjs', '/opt/scripts/mcp.ts', '--memory', clone];
  const shown = async (client: string): Promise<string> => {
    const { code, stdout, stderr } = await machine.connect([client, '--mcp']);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const json = async (client: string): Promise<unknown> => JSON.parse((await shown(client)).replace(/^\/\/.*\n/, ''));
  const server = { command: 'node', args };
  assert.deepEqual(await json('gemini'), { mcpServers: { 'commit-to-memory': server } });
  assert.deepEqual(await json('any'), { mcpServers: { 'commit-to-memory': server } });
  assert.deepEqual(await json('copilot'), {
    mcpServers: { 'commit-to-memory': { type: 'local', ...server, tools: ['*'] } },
  });
  assert.deepEqual(await json('opencode'), {
    mcp: { 'commit-to-memory': { type: 'local', command: ['node', ...args], enabled: true } },
  });
  const toml = await shown('codex');
  assert.match(toml, /^# .*\/\.codex\/config\.toml\n\[mcp_servers\.commit-to-memory\]\ncommand = "node"\nargs = \[/);
  assert.deepEqual(JSON.parse(/^args = (.*)$/m.exec(toml)?.[1] ?? ''), args);
  const words = execFileSync(
    'sh',
    ['-c', `claude() { for word; do printf '%s\\n' "$word"; done; }; ${await shown('claude-code')}`],
    { encoding: 'utf8' },
  );
  assert.deepEqual(words.trimEnd().split('\n'), [
    'mcp',
    'add',
    '--scope',
    'user',
    'commit-to-memory',
    '--',
    'node',
    ...args,
  ]);
  assert.deepEqual([snapshot(machine.home), snapshot(machine.own)], [{}, {}]);
  assert.equal((await machine.connect(['cursor', '--mcp'])).code, 2);
  assert.equal((await machine.connect(['any'])).code, 2);
});

test('a half-made connection is finished by running it again', async (t) => {
  const machine = aMachine(t);
  writeFiles(machine.home, { 'team/recall.cjs': 'in the way' });
  const args = ['claude-code', '--plugin', join(machine.home, 'team')];
  assert.equal((await machine.connect(args)).code, 1);
  rmSync(join(machine.home, 'team/recall.cjs'));
  assert.equal((await machine.connect(args)).code, 0);
  assert.equal(readFileSync(join(machine.home, 'team/recall.cjs'), 'utf8'), smallPrograms.get('recall.cjs'));
});
