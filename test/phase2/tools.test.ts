import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDesk, toolSpecs } from '../../scripts/phase2/tools.ts';
import { isWritable } from '../../scripts/workspace/layout.ts';

const files = new Map([
  ['memories/MEMORY.md', 'one\ntwo\nthree\ntwo again\n'],
  ['memories/raw_memories.md', 'Raw Two\n'],
  ['memories/skills/deploy/SKILL.md', 'how\n'],
]);

function desk() {
  const opened = openDesk(files, (path) => isWritable(path, 'h/acme/shop'));
  let calls = 0;
  return {
    files: opened.files,
    use: (name: string, input: unknown) =>
      opened.use({ id: `c${calls++}`, name, arguments: typeof input === 'string' ? input : JSON.stringify(input) }),
  };
}

test('the agent has six tools and every schema is strict', () => {
  assert.deepEqual(
    toolSpecs.map((spec) => spec.name),
    ['list', 'search', 'read', 'write', 'edit', 'delete'],
  );
  for (const { parameters } of toolSpecs) {
    assert.equal(parameters.additionalProperties, false);
    assert.deepEqual(parameters.required, Object.keys(parameters.properties as object));
  }
});

test('it reads everything of its scope, with line numbers', () => {
  assert.match(desk().use('list', {}), /memories\/raw_memories\.md \(1 lines\)/);
  assert.equal(desk().use('read', { path: 'memories/MEMORY.md', from: 2, lines: 2 }), '2\ttwo\n3\tthree');
  assert.equal(
    desk().use('search', { text: 'TWO', path: '' }),
    'memories/MEMORY.md:2: two\nmemories/MEMORY.md:4: two again\nmemories/raw_memories.md:1: Raw Two',
  );
  assert.equal(
    desk().use('search', { text: 'two', path: 'memories/raw_memories.md' }),
    'memories/raw_memories.md:1: Raw Two',
  );
});

test('it writes the handbook and skills, and nothing else', () => {
  const { files: after, use } = desk();
  use('write', { path: 'memories/MEMORY.md', text: 'new' });
  use('write', { path: 'memories/skills/test-it/SKILL.md', text: 'x' });
  use('delete', { path: 'memories/skills/deploy/SKILL.md' });
  assert.equal(after.get('memories/MEMORY.md'), 'new\n');
  assert.deepEqual([...after.keys()].sort(), [
    'memories/MEMORY.md',
    'memories/raw_memories.md',
    'memories/skills/test-it/SKILL.md',
  ]);
  assert.deepEqual([...files.keys()].length, 3, 'the start is left as it was');
});

for (const path of [
  'memories/raw_memories.md',
  'memories/memory_summary.md',
  '../x',
  '/etc/passwd',
  'state.sqlite.json',
  'memories/skills/../MEMORY.md',
  '.github/workflows/x.yml',
  '',
]) {
  test(`“${path}” is refused`, () => {
    const { files: after, use } = desk();
    assert.match(use('write', { path, text: 'x' }), /not yours to write/);
    assert.deepEqual([...after], [...files]);
  });
}

test('an edit needs a passage that occurs exactly once', () => {
  const { files: after, use } = desk();
  assert.match(use('edit', { path: 'memories/MEMORY.md', old: 'two', new: '2' }), /more than once/);
  assert.match(use('edit', { path: 'memories/MEMORY.md', old: 'four', new: '4' }), /does not occur/);
  assert.match(use('edit', { path: 'memories/MEMORY.md', old: 'three\n', new: '' }), /^Wrote/);
  assert.equal(after.get('memories/MEMORY.md'), 'one\ntwo\ntwo again\n');
});

for (const [what, name, input, answer] of [
  ['arguments that are no JSON', 'read', '{"path":', /no JSON/],
  ['a list instead of an object', 'read', '[]', /JSON object/],
  ['a missing argument', 'read', { path: 'memories/MEMORY.md' }, /“from” must be a whole number/],
  ['an argument too many', 'delete', { path: 'x', force: 'yes' }, /no argument of delete/],
  ['a tool that is not there', 'shell', { command: 'rm -rf /' }, /no tool “shell”/],
  ['a file that is not there', 'read', { path: 'nope', from: 1, lines: 1 }, /no file/],
  ['a line beyond the end', 'read', { path: 'memories/MEMORY.md', from: 99, lines: 1 }, /has 4 lines/],
  ['the handbook as something to delete', 'delete', { path: 'memories/MEMORY.md' }, /Only a skill/],
  ['a file over the size limit', 'write', { path: 'memories/MEMORY.md', text: 'x'.repeat(262_145) }, /shorten it/],
] as const) {
  test(`${what} is answered, not thrown`, () => {
    assert.match(desk().use(name, input), answer);
  });
}
