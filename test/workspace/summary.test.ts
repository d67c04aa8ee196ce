import assert from 'node:assert/strict';
import { test } from 'node:test';
import { digestOfScopes } from '../../scripts/workspace/digest.ts';
import { handbookPath, memorySummaryPath } from '../../scripts/workspace/layout.ts';
import { violations } from '../../scripts/workspace/rules.ts';
import { buildSummary } from '../../scripts/workspace/summary.ts';
import { a, aBlock, aContext, aWorkspace, foreign, otherRepo, repo } from './samples.ts';

const everywhere = (bullets: readonly string[]) =>
  `# Task Group: All\nscope: all\napplies_to: repo=*; cwd=.; reuse_rule=always\n\n## User preferences\n${bullets.map((bullet) => `- ${bullet} [${a}@1]`).join('\n')}\n\n## Reusable knowledge\n- the proxy is slow [${a}@1]\n`;

const handbook = `${aBlock()}\n${aBlock({ title: 'The API', repo: otherRepo, thread: foreign, preferences: [], knowledge: [], failures: [] })}\n${everywhere(['answer in short sentences'])}`;

test('what holds everywhere comes first, then one line a repository', () => {
  assert.equal(
    buildSummary(new Map([[handbookPath, handbook]]), aContext()),
    `v1

## User Profile

## User preferences
- answer in short sentences

## General Tips
- the proxy is slow

## What's in Memory
- ${otherRepo}: The API (build, tests)
- ${repo}: The build (build, tests)
`,
  );
});

test('what code makes breaks no rule', () => {
  const files = aWorkspace(handbook, ['01980000-0000-7000-8000-000000000001', foreign]);
  files.set(memorySummaryPath, buildSummary(files, aContext()));
  assert.deepEqual(violations(files, { ...aContext(), scope: null }), []);
});

test('nothing to say is said in the same shape', () => {
  const text = buildSummary(new Map(), aContext());
  assert.deepEqual(violations(new Map([[memorySummaryPath, text]]), { ...aContext(), scope: null }), []);
});

test('it never exceeds its bound, and cuts no entry', () => {
  const bullets = Array.from({ length: 300 }, (_, at) => `习惯 ${at}: ${'字'.repeat(60)}`);
  const scopes = Array.from({ length: 200 }, (_, at) =>
    aBlock({ title: `Topic ${at}`, repo: `github.com/acme/r${at}` }),
  );
  for (const count of [1, 40, 200]) {
    const text = buildSummary(
      new Map([[handbookPath, `${scopes.slice(0, count).join('\n')}\n${everywhere(bullets)}`]]),
      aContext(),
    );
    assert.ok(text.length <= 5_500 && text.length > 2_500, String(text.length));
    for (const line of text.split('\n').filter((each) => each.startsWith('- 习惯')))
      assert.equal(line.length, bullets[0]?.length === undefined ? 0 : line.indexOf('字') + 60);
  }
  const forty = buildSummary(
    new Map([[handbookPath, `${scopes.slice(0, 40).join('\n')}\n${everywhere(bullets)}`]]),
    aContext(),
  );
  assert.equal(forty.match(/^- github\.com\/acme\/r\d+: Topic/gm)?.length, 40);
});

test('every topic and keyword can be searched for in the handbook', () => {
  const contents =
    buildSummary(new Map([[handbookPath, handbook]]), aContext()).split("## What's in Memory\n")[1] ?? '';
  for (const word of contents
    .split(/[:;,()\n]+|^- /gm)
    .map((each) => each.trim().replace(/^- /, ''))
    .filter((each) => each !== ''))
    assert.ok(handbook.includes(word), word);
});

test('persons’ lines of the standing summary stay, a profile only for a person', () => {
  const files = new Map([
    [handbookPath, handbook],
    [
      memorySummaryPath,
      `v1\n\n## User Profile\nKim codes.\n\n## User preferences\n- ask Kim\n- stale\n\n## General Tips\n\n## What's in Memory\n- ${repo}: Kim’s words\n`,
    ],
  ]);
  const persons = ['Kim codes.', '- ask Kim', `- ${repo}: Kim’s words`];
  const team = buildSummary(files, aContext({ persons }));
  assert.ok(team.includes('## User preferences\n- ask Kim\n- answer') && team.includes(`\n- ${repo}: Kim’s words\n`));
  assert.ok(!team.includes('Kim codes.') && !team.includes('stale'));
  assert.ok(buildSummary(files, aContext({ persons, audience: 'person' })).includes('## User Profile\nKim codes.\n'));
});

test('the digest of scopes holds heads and preferences, nothing of *', () => {
  const text = digestOfScopes(new Map([[handbookPath, handbook]]));
  assert.ok(
    text.includes('# Task Group: The build') && text.includes('show the log first') && text.includes('The API'),
  );
  assert.ok(!text.includes('5432') && !text.includes('short sentences'));
});
