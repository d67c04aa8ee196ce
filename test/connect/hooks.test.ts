import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { schemas } from '../support/agent-schemas.ts';
import { aMachine, snapshot } from '../support/connected.ts';
import { agents, assertHooks, assertKept, jsonIn, place, states } from '../support/settings-states.ts';

for (const agent of agents) {
  for (const [what, before] of Object.entries(states(agent))) {
    test(`${agent}: ${what} is connected as the agent takes it, twice is once, and comes back byte for byte`, async (t) => {
      const machine = aMachine(t);
      const path = place(machine, agent, before);
      const home = snapshot(machine.home);
      const first = await machine.connect([agent]);
      assert.equal(first.code, 0, first.stderr);
      const value = jsonIn(path);
      schemas[agent].parse(value);
      assertHooks(agent, value.hooks);
      assertKept(agent, before, value);
      const once = snapshot(machine.home);
      assert.match((await machine.connect([agent])).stdout, /unchanged/);
      assert.deepEqual(snapshot(machine.home), once);
      const removed = await machine.connect([agent, '--remove']);
      assert.equal(removed.code, 0, removed.stderr);
      assert.deepEqual(snapshot(machine.home), home);
      assert.deepEqual(
        Object.keys(snapshot(machine.own)).filter((name) => /\.(mjs|json)$/.test(name)),
        [],
      );
    });
  }
}

test('comments, indentation and line ends of the file are kept, and ours follow them', async (t) => {
  const machine = aMachine(t);
  const path = place(machine, 'claude-code', '{\r\n\t"a": 1, // one\r\n\t"hooks": {} // mine\r\n}\r\n');
  await machine.connect(['claude-code'], { place: { consented: false } });
  const text = readFileSync(path, 'utf8');
  assert.ok(text.startsWith('{\r\n\t"a": 1, // one\r\n\t"hooks": {\r\n\t\t"SessionStart": [\r\n\t\t\t{\r\n'), text);
  assert.ok(text.endsWith('\r\n\t} // mine\r\n}\r\n'), text);
  assert.equal(text.replaceAll('\r\n', '').includes('\n'), false);
});
