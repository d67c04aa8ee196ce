import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { schemas } from '../support/agent-schemas.ts';
import { aMachine, snapshot, type TestMachine } from '../support/connected.ts';
import { agents, assertHooks, events, jsonIn, place, settingsIn, states, theirs } from '../support/settings-states.ts';

// One of each shape: how files are undone does not depend on the agent.
for (const agent of ['claude-code', 'copilot'] as const) {
  test(`${agent}: what a person wrote since stays, and only ours goes`, async (t) => {
    for (const [what, before] of Object.entries(states(agent))) {
      const machine = aMachine(t);
      const path = place(machine, agent, before);
      await machine.connect([agent]);
      const { start } = events[agent];
      const { hooks, ...more } = jsonIn(path);
      const edited = { ...hooks, [start]: [...(hooks[start] ?? []), theirs(agent)], Later: [theirs(agent)] };
      writeFileSync(path, `// by hand\n${JSON.stringify({ ...more, later: 'yes', hooks: edited }, null, 3)}\n`);
      assert.equal((await machine.connect([agent, '--remove'])).code, 0, what);
      const old = settingsIn(before ?? '');
      const version = agent === 'copilot' ? { version: 1 } : {};
      assert.deepEqual(
        jsonIn(path),
        {
          ...version,
          ...old,
          later: 'yes',
          hooks: { ...old.hooks, [start]: [...(old.hooks?.[start] ?? []), theirs(agent)], Later: [theirs(agent)] },
        },
        what,
      );
      assert.ok(readFileSync(path, 'utf8').startsWith('// by hand\n{\n   "'), what);
      assert.ok(!readFileSync(path, 'utf8').includes('commit-to-memory'), what);
    }
  });

  test(`${agent}: without our own record, removing leaves the same settings and nothing of ours`, async (t) => {
    for (const [what, text] of Object.entries(states(agent))) {
      const machine = aMachine(t);
      const path = place(machine, agent, text);
      await machine.connect([agent]);
      rmSync(join(machine.own, 'state'), { recursive: true });
      assert.equal((await machine.connect([agent, '--remove'])).code, 0);
      const { hooks: before, ...old } = settingsIn(text ?? '');
      const { hooks, ...rest } = jsonIn(path);
      assert.deepEqual(rest, { ...(agent === 'copilot' ? { version: 1 } : {}), ...old }, what);
      const filled = Object.entries(before ?? {}).filter(([, list]) => list.length > 0);
      assert.deepEqual(hooks ?? {}, Object.fromEntries(filled), what);
      assert.deepEqual(commentsIn(readFileSync(path, 'utf8')), commentsIn(text ?? ''), what);
    }
  });
}

for (const agent of agents) {
  test(`${agent}: connecting after an upgrade puts the new program in the old one's place`, async (t) => {
    const machine = aMachine(t);
    const path = place(machine, agent, states(agent).comments ?? null);
    const home = snapshot(machine.home);
    await machine.connect([agent]);
    const old = pinnedFolders(machine);
    const upgraded = await machine.connect([agent], { version: '0.2.0' });
    assert.match(upgraded.stdout, /written/);
    schemas[agent].parse(jsonIn(path));
    assertHooks(agent, JSON.parse(JSON.stringify(jsonIn(path).hooks).replaceAll('/0.2.0-', '/0.1.0-')));
    assert.ok(!readFileSync(path, 'utf8').includes('/0.1.0-'));
    assert.equal(pinnedFolders(machine).length, 2);
    assert.ok(old.every((name) => pinnedFolders(machine).includes(name)));
    await machine.connect([agent, '--remove']);
    assert.deepEqual(snapshot(machine.home), home);
    assert.deepEqual(pinnedFolders(machine), []);
  });
}

test('programs that another agent still runs stay until it is disconnected too', async (t) => {
  const machine = aMachine(t);
  for (const agent of ['claude-code', 'gemini', 'opencode'])
    await machine.connect([agent], { place: { consented: false } });
  await machine.connect(['claude-code', '--remove']);
  rmSync(join(machine.own, 'state'), { recursive: true });
  assert.equal(pinnedFolders(machine).length, 1);
  await machine.connect(['gemini', '--remove']);
  assert.equal(pinnedFolders(machine).length, 1);
  await machine.connect(['opencode', '--remove']);
  assert.deepEqual(pinnedFolders(machine), []);
});

function pinnedFolders({ own }: TestMachine): readonly string[] {
  const cache = join(own, 'cache/commit-to-memory');
  return existsSync(cache) ? readdirSync(cache) : [];
}

function commentsIn(text: string): readonly string[] {
  return text.match(/\/\/ [a-z0-9 ,]+|\/\* [a-z]+ \*\//g) ?? [];
}

test('what was killed between its record and the file is made whole by running it again, and still comes back byte for byte', async (t) => {
  for (const before of ['{\r\n  "a": 1 // one\r\n}\r\n', null]) {
    const machine = aMachine(t);
    const path = place(machine, 'claude-code', before);
    const home = snapshot(machine.home);
    await machine.connect(['claude-code']);
    if (before === null) rmSync(path);
    else writeFileSync(path, before);
    assert.match((await machine.connect(['claude-code'])).stdout, /written/);
    assert.equal((await machine.connect(['claude-code', '--remove'])).code, 0);
    assert.deepEqual(snapshot(machine.home), home);
    await machine.connect(['claude-code']);
    for (const name of readdirSync(join(machine.own, 'state/connect')))
      writeFileSync(join(machine.own, 'state/connect', name), '{"path":');
    assert.equal((await machine.connect(['claude-code', '--remove'])).code, 0);
    assert.deepEqual(settingsIn(readFileSync(path, 'utf8')), settingsIn(before ?? ''));
  }
});
