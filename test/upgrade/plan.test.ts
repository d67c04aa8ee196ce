import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTemplates, type Leaves, planUpgrade } from '../../scripts/upgrade/plan.ts';
import { newestTag, packageFacts } from '../../scripts/upgrade/version.ts';

/** `path: content` as leaves; a `!` behind it is a file that is to be run. */
function tree(files: Readonly<Record<string, string>>): Leaves {
  return new Map(
    Object.entries(files).map(([path, text]) => [
      path,
      { oid: text.replace('!', ''), isExecutable: text.endsWith('!') },
    ]),
  );
}

test('what the template changed is taken where nobody here changed it; the rest stays as it is', () => {
  const base = tree({
    same: '1',
    theirs: '1',
    ours: '1',
    both: '1',
    alike: '1',
    gone: '1',
    goneHere: '1',
    goneButEdited: '1',
  });
  const ours = tree({
    same: '1',
    theirs: '1',
    ours: '2',
    both: '2',
    alike: '2',
    gone: '1',
    goneButEdited: '2',
    added: '2',
    addedBoth: '2',
  });
  const theirs = tree({
    same: '1',
    theirs: '3',
    ours: '1',
    both: '3',
    alike: '2',
    goneHere: '3',
    fresh: '3',
    addedBoth: '3',
  });
  const { take, conflicts, kept } = planUpgrade(base, ours, theirs);
  assert.deepEqual(
    [...take].map(([path, leaf]) => [path, leaf?.oid ?? null]),
    [
      ['fresh', '3'],
      ['gone', null],
      ['theirs', '3'],
    ],
  );
  assert.deepEqual(conflicts, ['addedBoth', 'both', 'goneButEdited', 'goneHere']);
  assert.deepEqual(kept, ['added', 'ours']);
});

test('a file’s mode counts as its content does', () => {
  const { take, conflicts, kept } = planUpgrade(
    tree({ run: '1', mine: '1', both: '1' }),
    tree({ run: '1', mine: '1!', both: '1!' }),
    tree({ run: '1!', mine: '1', both: '3' }),
  );
  assert.deepEqual([...take], [['run', { oid: '1', isExecutable: true }]]);
  assert.deepEqual([conflicts, kept], [['both'], ['mine']]);
});

test('the memory, its state and what a team has set are never the template’s', () => {
  const own = ['memories/MEMORY.md', 'state.sqlite.json', '.github/memory.yml', '.github/CODEOWNERS'];
  const its = [
    'scripts/nightly.ts',
    'prompts/phase1-system.md',
    '.github/workflows/nightly.yml',
    'package.json',
    'README.md',
  ];
  assert.deepEqual([...own, ...its].filter(isTemplates), its);
});

test('the newest release is found by number, and nothing else counts as one', () => {
  assert.equal(newestTag(['v0.9.0', 'v0.10.0', 'v0.2.11', 'v1.0.0-rc.1', 'latest', 'v2']), 'v0.10.0');
  assert.equal(newestTag(['latest']), null);
});

test('package.json says version and repository, in either form, or nothing', () => {
  assert.deepEqual(packageFacts('{"version":"1.2.3","repository":"git+https://git.example.test/a/b.git"}'), {
    version: '1.2.3',
    repository: 'https://git.example.test/a/b.git',
  });
  assert.equal(packageFacts('{"repository":{"type":"git","url":"ssh://git@h/a"}}').repository, 'ssh://git@h/a');
  for (const text of [null, '', '{', '[]', '{"version":1,"repository":{}}'])
    assert.deepEqual(packageFacts(text), { version: null, repository: null });
});
