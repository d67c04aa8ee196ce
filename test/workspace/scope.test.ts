import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { project, scopesOf, splice } from '../../scripts/workspace/scope.ts';
import { aBlock, aRow, aWorkspace, first, foreign, otherRepo, repo, second } from './samples.ts';

const skill = (scope: string, name = 'deploy') =>
  `---\nname: ${name}\ndescription: "Deploys: when asked"\nmetadata:\n  repo: "${scope}"\n---\n# Deploy\n`;

function aTree(handbook: string): Map<string, string> {
  const files = aWorkspace(handbook, [first, second, foreign]);
  files.set(memorySummaryPath, 'v1\n');
  files.set('memories/skills/deploy/SKILL.md', skill(repo));
  files.set('memories/skills/release/SKILL.md', skill('*', 'release'));
  return files;
}

const mixed = [
  'Read this first.\n\n',
  aBlock(),
  '\n# Our notes\n\nkept by people\n\n',
  `${aBlock({ title: 'The API', repo: otherRepo, thread: foreign })}\n`,
  `${aBlock({ title: 'Everywhere', repo: '*' })}\n\n\n`,
  aBlock({ title: 'Deploying', thread: second }),
].join('');

test('a scope sees its blocks, its inputs and its skills', () => {
  const own = project(aTree(mixed), repo);
  assert.deepEqual(
    [...own.keys()],
    [
      handbookPath,
      'memories/raw_memories.md',
      `memories/rollout_summaries/${aRow(first).stem}.md`,
      `memories/rollout_summaries/${aRow(second).stem}.md`,
      'memories/skills/deploy/SKILL.md',
    ],
  );
  const text = own.get(handbookPath) ?? '';
  assert.ok(text.includes('The build') && text.includes('Deploying'));
  assert.ok(!text.includes('The API') && !text.includes('Everywhere') && !text.includes('kept by people'));
});

test('* sees its blocks and the memory summary', () => {
  assert.deepEqual(
    [...project(aTree(mixed), '*').keys()],
    [handbookPath, memorySummaryPath, 'memories/raw_memories.md', 'memories/skills/release/SKILL.md'],
  );
  assert.deepEqual(scopesOf(aTree(mixed)), ['*', otherRepo, repo]);
});

test('an unchanged projection gives the same bytes', () => {
  for (const text of [mixed, mixed.trimEnd(), mixed.replace(/\n/g, '\r\n'), '', 'only words', `${aBlock()}\n\n\n`]) {
    const files = aTree(text);
    for (const scope of [repo, otherRepo, '*', 'nobody/here'])
      assert.deepEqual(new Map(splice(files, scope, project(files, scope))), new Map([...files].sort()), scope);
  }
});

test('a block of another scope that comes or goes leaves a projection as it is', () => {
  const alone = project(aTree(`${aBlock()}\n${aBlock({ title: 'Deploying', thread: second })}`), repo);
  assert.deepEqual(project(aTree(mixed), repo).get(handbookPath), alone.get(handbookPath));
});

test('a changed block stands where it stood, and nothing of others moves', () => {
  const files = aTree(mixed);
  const own = new Map(project(files, repo));
  own.set(handbookPath, (own.get(handbookPath) ?? '').replace('port 5432', 'port 5433'));
  assert.equal(splice(files, repo, own).get(handbookPath), mixed.replace('port 5432', 'port 5433'));
});

test('a new block follows the one it follows in the projection; a deleted one is gone', () => {
  const files = aTree(mixed);
  const own = new Map(project(files, repo));
  own.set(handbookPath, `${aBlock()}\n${aBlock({ title: 'Linting' })}`);
  const titles = [...(splice(files, repo, own).get(handbookPath) ?? '').matchAll(/^# (.*)$/gm)].map(
    ([, title]) => title,
  );
  assert.deepEqual(titles, [
    'Task Group: The build',
    'Task Group: Linting',
    'Our notes',
    'Task Group: The API',
    'Task Group: Everywhere',
  ]);
});

test('a new scope’s blocks come last', () => {
  const text = splice(
    aTree(aBlock()),
    otherRepo,
    new Map([[handbookPath, aBlock({ title: 'The API', repo: otherRepo })]]),
  );
  assert.equal(text.get(handbookPath), `${aBlock()}\n${aBlock({ title: 'The API', repo: otherRepo })}`);
});

test('a projection cannot bring a block of another scope, nor change its summary or inputs', () => {
  const files = aTree(mixed);
  const own = new Map(project(files, repo));
  own.set(handbookPath, `${own.get(handbookPath)}\n${aBlock({ title: 'Forged', repo: otherRepo })}`);
  own.set(memorySummaryPath, 'forged');
  own.set('memories/raw_memories.md', 'forged');
  own.set('memories/skills/release/SKILL.md', skill('*', 'forged'));
  const next = splice(files, repo, own);
  assert.ok(![...next.values()].some((text) => /forged/i.test(text)));
});

test('a skill whose name another scope has gets a suffix', () => {
  const files = aTree(mixed);
  const next = splice(files, otherRepo, new Map([['memories/skills/deploy/SKILL.md', skill(otherRepo)]]));
  assert.equal(next.get('memories/skills/deploy/SKILL.md'), skill(repo));
  assert.equal(next.get('memories/skills/deploy-2/SKILL.md'), skill(otherRepo, 'deploy-2'));
});

test('a deleted skill is gone, another scope’s stays', () => {
  const next = splice(aTree(mixed), repo, new Map());
  assert.ok(!next.has('memories/skills/deploy/SKILL.md'));
  assert.ok(next.has('memories/skills/release/SKILL.md'));
  assert.ok(!(next.get(handbookPath) ?? '').includes('Task Group: The build'));
});
