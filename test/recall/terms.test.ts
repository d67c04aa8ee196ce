import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passagesOf } from '../../scripts/recall/search/passages.ts';
import { createRanking } from '../../scripts/recall/search/ranking.ts';
import { stem } from '../../scripts/recall/search/stem.ts';
import { questionTerms, termsIn } from '../../scripts/recall/search/terms.ts';

for (const forms of [
  ['retry', 'retries', 'retried'],
  ['deploy', 'deployed', 'deployment', 'deployments', 'deploying'],
  ['order', 'orders'],
  ['run', 'runs', 'running', 'runner'],
  ['configure', 'configuration'],
  ['migrate', 'migration', 'migrations'],
  ['class', 'classes'],
  ['test', 'tests', 'testing', 'tested'],
  ['datei', 'dateien'],
]) {
  test(`${forms.join(', ')} are one word`, () => {
    assert.deepEqual([...new Set(forms.map(stem))].length, 1, forms.map(stem).join(' '));
  });
}

test('short words and names stay as they are', () => {
  for (const word of ['bus', 'this', 'yes', 'api', 'rust', 'basis']) assert.equal(stem(word), word);
});

test('an identifier is found whole and by its parts', () => {
  assert.deepEqual(termsIn('loadSettingsFromFile()'), {
    words: ['loadsettingsfromfile'],
    parts: ['load', 'set', 'from', 'file'],
  });
  assert.deepEqual(termsIn('src/money.ts'), { words: ['src/money.ts'], parts: ['src', 'monei', 'ts'] });
  assert.deepEqual(termsIn('snake_case HTTPServer2').words, ['snake_case', 'httpserver2']);
});

test('words joined by a hyphen are words', () => {
  assert.deepEqual(termsIn('air-gapped').words, ['air-gapped', 'air', 'gap']);
});

test('accents, width and case count for nothing', () => {
  assert.deepEqual(termsIn('Größe ＡＰＩ').words, termsIn('grosse api').words);
});

test('what has no spaces between words is found by pairs', () => {
  assert.deepEqual(termsIn('数据库 UTC存储').words, ['数据', '据库', 'utc', '存储']);
  assert.deepEqual(termsIn('テスト').words, ['テス', 'スト']);
});

test('a question’s grammar asks for nothing, unless it is all that there is', () => {
  assert.deepEqual(questionTerms('What is the name of the branch?'), ['name', 'branch']);
  assert.deepEqual(questionTerms('时间应该怎么保存？'), ['时间', '保存']);
  assert.deepEqual(questionTerms('who are you'), ['who', 'are', 'you']);
});

test('an endless word is no term, and takes no time', () => {
  assert.deepEqual(termsIn('x'.repeat(1_000_000)), { words: [], parts: [] });
  assert.deepEqual(termsIn(`a${'/'.repeat(100_000)}`).words, ['a']);
});

const handbook = `# Task Group: shop
scope: s
applies_to: repo=h/acme/shop; cwd=.; reuse_rule=r

## Task 1: Speed up the build, success
### rollout_summary_files
- rollout_summaries/s.md (cwd=., thread_id=t)
### keywords
- vite, build

## User preferences
- never add packages
  without asking [abcdefgh@1]

## Reusable knowledge
- changed here: \`vite.config.ts\` [abcdefgh@2]

Written by a person.
`;

test('a passage knows its lines, its repository and what it stands under', () => {
  const passages = passagesOf('MEMORY.md', handbook);
  assert.deepEqual(
    passages.map(({ from, to, body, scope }) => [from, to, body, scope]),
    [
      [4, 8, 'Speed up the build, success', 'h/acme/shop'],
      [11, 12, 'never add packages without asking', 'h/acme/shop'],
      [15, 15, 'changed here: `vite.config.ts`', 'h/acme/shop'],
      [17, 17, 'Written by a person.', 'h/acme/shop'],
    ],
  );
});

test('a synonym, another form and a misspelt word still find it', () => {
  const ranking = createRanking(passagesOf('MEMORY.md', handbook));
  for (const question of ['new dependency?', 'adding a package', 'pakcages without aksing'])
    assert.equal(ranking.search(question, null).shown[0]?.passage.from, 11, question);
  assert.deepEqual(ranking.search('zeppelin', null), { shown: [], leftOut: 0 });
});

test('the same question gives the same order', () => {
  const order = () =>
    createRanking(passagesOf('MEMORY.md', handbook))
      .search('build', null)
      .shown.map(({ passage, score }) => [passage.from, score]);
  assert.deepEqual(order(), order());
});
