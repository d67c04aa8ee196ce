import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aMachine, type Ended, snapshot, type TestMachine } from '../support/connected.ts';
import { writeFiles } from '../support/repository.ts';

const memory = '<commit-to-memory v="1">\nUse npm.\n</commit-to-memory>\n';

function aShop(t: TestContext): { readonly machine: TestMachine; readonly shop: string } {
  const machine = aMachine(t);
  const shop = join(machine.home, 'shop');
  writeFiles(shop, { 'README.md': 'The shop.\n' });
  return { machine, shop };
}

async function refused(machine: TestMachine, args: readonly string[], names: readonly string[]): Promise<Ended> {
  const before = snapshot(machine.home);
  const ended = await machine.connect(args);
  assert.equal(ended.code, 2, ended.stdout);
  assert.match(ended.stderr, /the same memory twice/);
  for (const name of names) assert.ok(ended.stderr.includes(name), `${name} in ${ended.stderr}`);
  assert.deepEqual(snapshot(machine.home), before);
  return ended;
}

for (const agent of ['claude-code', 'codex', 'copilot', 'gemini', 'opencode']) {
  test(`${agent}: a person’s hook and a project’s would give the memory twice`, async (t) => {
    const { machine, shop } = aShop(t);
    await machine.connect([agent]);
    await refused(machine, [agent, '--project', shop], [`npm run connect -- ${agent} --remove`]);
    await machine.connect([agent, '--remove']);
    assert.equal((await machine.connect([agent, '--project', shop])).code, 0);
  });
}

for (const [agent, file] of [
  ['claude-code', 'CLAUDE.md'],
  ['claude-code', '.claude/rules/memory.md'],
  ['claude-code', 'AGENTS.md'],
  ['codex', 'AGENTS.md'],
  ['copilot', 'AGENTS.md'],
  ['copilot', 'CLAUDE.md'],
  ['copilot', 'GEMINI.md'],
  ['copilot', '.github/copilot-instructions.md'],
  ['copilot', '.github/instructions/a.instructions.md'],
  ['copilot', '.claude/rules/memory.md'],
  ['gemini', 'GEMINI.md'],
  ['opencode', 'AGENTS.md'],
  ['opencode', 'CLAUDE.md'],
] as const) {
  test(`${agent} reads a project’s ${file}, so a hook beside it is refused, unless forced`, async (t) => {
    const { machine, shop } = aShop(t);
    writeFiles(shop, { [file]: `# Shop\n${memory}` });
    await refused(machine, [agent, '--project', shop], [`${agent}: ${join(shop, file)}`, '--force']);
    const forced = await machine.connect([agent, '--project', shop, '--force']);
    assert.equal(forced.code, 0);
    assert.match(forced.stderr, /^warning: Sessions get the same memory twice/);
  });
}

test('a file that an agent does not read is no duplicate', async (t) => {
  const { machine, shop } = aShop(t);
  writeFiles(shop, { 'AGENTS.md': memory, 'CLAUDE.md': '# Shop\n', '.gemini/settings.json': '{}\n' });
  for (const agent of ['claude-code', 'gemini'])
    assert.equal((await machine.connect([agent, '--project', shop])).code, 0, agent);
  writeFiles(shop, { 'other/AGENTS.md': memory });
  assert.equal((await machine.connect(['copilot'])).code, 0);
});

test('CLAUDE.md that imports AGENTS.md, and Gemini’s own list of files, are followed', async (t) => {
  const { machine, shop } = aShop(t);
  writeFiles(shop, {
    'AGENTS.md': memory,
    'CLAUDE.md': '@AGENTS.md\n',
    '.gemini/settings.json': '{"context":{"fileName":["GEMINI.md","AGENTS.md"]}}',
  });
  for (const agent of ['claude-code', 'gemini']) await refused(machine, [agent, '--project', shop], ['AGENTS.md']);
});

test('AGENTS.md beside hooks is refused with every agent that would read both, and how to choose', async (t) => {
  const { machine, shop } = aShop(t);
  for (const agent of ['claude-code', 'codex', 'copilot', 'opencode', 'gemini']) await machine.connect([agent]);
  writeFiles(shop, { 'CLAUDE.md': '# Shop\n' });
  const { stderr } = await refused(machine, ['agents-md', '--project', shop], ['codex: ', 'copilot: ', 'opencode: ']);
  assert.ok(!stderr.includes('claude-code: ') && !stderr.includes('gemini: '), stderr);
  assert.equal((await machine.connect(['agents-md', '--project', shop, '--force'])).code, 0);
});

test('a person’s own instructions that import the memory are named', async (t) => {
  const { machine } = aShop(t);
  writeFiles(machine.home, { '.claude/CLAUDE.md': '@~/team-memory/memories/memory_summary.md\n' });
  await refused(machine, ['claude-code'], [join(machine.home, '.claude/CLAUDE.md')]);
});

test('connecting again is no duplicate of itself', async (t) => {
  const { machine, shop } = aShop(t);
  for (const args of [['copilot'], ['agents-md', '--project', join(shop)]]) {
    if (args[0] === 'agents-md') await machine.connect(['copilot', '--remove']);
    assert.equal((await machine.connect(args)).code, 0);
    assert.equal((await machine.connect(args)).code, 0);
  }
});
