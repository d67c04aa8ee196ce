import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aMachine, snapshot, type TestMachine } from '../support/connected.ts';

const states: Readonly<Record<string, string | null>> = {
  'no file': null,
  'an empty file': '',
  'one line': '# Shop\n',
  'no newline at the end': '# Shop\n\nUse make.',
  'blank lines at the end': '# Shop\n\n\n\n',
  'CRLF line ends': '# Shop\r\n\r\nUse make.\r\n',
  'a byte order mark': '\ufeff# Shop\n',
  'another generator’s block': '# Shop\n\n<!-- BEGIN: rules v2 -->\nUse make.\n<!-- END: rules v2 -->\n',
  'another generator’s block without an end': '# Shop\n<!-- ruler:begin -->\nUse make.\n',
  'a front matter': '---\ntitle: Shop\n---\n# Größe 日本\n',
  'only blanks': '\n \n',
  'a long text': `${'Use make.\n'.repeat(3_000)}`,
};

function aProject(
  t: TestContext,
  before: string | null,
): { readonly machine: TestMachine; readonly project: string; readonly path: string } {
  const machine = aMachine(t);
  const project = join(machine.home, 'shop');
  mkdirSync(project, { recursive: true });
  const path = join(project, 'AGENTS.md');
  if (before !== null) writeFileSync(path, before);
  return { machine, project, path };
}

for (const [what, before] of Object.entries(states)) {
  test(`AGENTS.md with ${what} gets one block, twice is once, and comes back byte for byte`, async (t) => {
    const { machine, project, path } = aProject(t, before);
    const home = snapshot(machine.home);
    const args = ['agents-md', '--project', project];
    const { code, stderr } = await machine.connect(args);
    assert.equal(code, 0, stderr);
    const text = readFileSync(path, 'utf8');
    assert.ok(text.startsWith(before ?? ''));
    assert.match(text, /<!-- commit-to-memory:begin [^\n]*-->\r?\n<commit-to-memory v="1">\r?\nUse npm\.\r?\n/);
    if (before?.includes('\r\n')) assert.equal(text.replaceAll('\r\n', '').includes('\n'), false);
    await machine.connect(args);
    assert.equal(readFileSync(path, 'utf8'), text);
    assert.equal((await machine.connect([...args, '--remove'])).code, 0);
    assert.deepEqual(snapshot(machine.home), home);
  });

  test(`AGENTS.md with ${what}: what is written around the block later stays, and a new memory takes the old one’s place`, async (t) => {
    const { machine, project, path } = aProject(t, before);
    const args = ['agents-md', '--project', project];
    await machine.connect(args);
    writeFileSync(path, `Above.\n${readFileSync(path, 'utf8')}Below.\n`);
    const newer = { recalled: () => Promise.resolve('Use pnpm. <!-- commit-to-memory:end --> and more') };
    await machine.connect(args, newer);
    const text = readFileSync(path, 'utf8');
    assert.equal(text.match(/commit-to-memory:begin/g)?.length, 1);
    assert.equal(text.match(/commit-to-memory:end/g)?.length, 1);
    assert.match(text, /Use pnpm\./);
    assert.ok(!text.includes('Use npm.'));
    await machine.connect([...args, '--remove']);
    const rest = readFileSync(path, 'utf8');
    assert.ok(!rest.includes('commit-to-memory'));
    assert.ok(rest.startsWith(`Above.\n${before ?? ''}`), rest);
    assert.ok(rest.endsWith('Below.\n'), rest);
    assert.equal(
      rest
        .replace(/^Above\.\n/, '')
        .replace(/(?:\r?\n)*Below\.\n$/, '')
        .trimEnd(),
      (before ?? '').trimEnd(),
    );
  });
}

test('half a block, or two, are refused by line, and nothing is lost', async (t) => {
  const block = '<!-- commit-to-memory:begin (x) -->\nA\n<!-- commit-to-memory:end -->\n';
  for (const [text, lines] of [
    ['# Shop\n<!-- commit-to-memory:begin (x) -->\nA\n', 'line 2'],
    ['# Shop\n<!-- commit-to-memory:end -->\n', 'line 2'],
    [`${block}${block}`, 'line 1, 3, 4, 6'],
    ['<!-- commit-to-memory:end -->\n<!-- commit-to-memory:begin (x) -->\n', 'line 1, 2'],
  ] as const) {
    const { machine, project, path } = aProject(t, text);
    for (const more of [[], ['--remove']]) {
      const { code, stderr } = await machine.connect(['agents-md', '--project', project, ...more]);
      assert.equal(code, 1);
      assert.ok(stderr.includes(`(${lines})`), stderr);
      assert.equal(readFileSync(path, 'utf8'), text);
    }
  }
});

test('a memory that holds nothing yet writes nothing and says what to do', async (t) => {
  const { machine, project } = aProject(t, null);
  const { code, stderr } = await machine.connect(['agents-md', '--project', project], {
    recalled: () => Promise.resolve(''),
  });
  assert.equal(code, 1);
  assert.match(stderr, /holds nothing for [\s\S]*npm run nightly/);
  assert.deepEqual(snapshot(project), {});
});

test('a file that a team commits names no folder of this machine', async (t) => {
  const { machine, project, path } = aProject(t, null);
  await machine.connect(['agents-md', '--project', project], {
    recalled: () => Promise.resolve('For more, search `/home/dana/team/memories/MEMORY.md` for keywords.'),
  });
  assert.match(readFileSync(path, 'utf8'), /search `memories\/MEMORY\.md` of git\.example\.test\/acme\/memory for/);
  assert.ok(!readFileSync(path, 'utf8').includes('dana'));
});
