import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, parseConfig } from '../../scripts/shared/config.ts';

test('without a file every key has its default', () => {
  const config = parseConfig(null);
  assert.equal(config.model.provider, undefined, 'the built-in one, but nothing leaves the repository');
  assert.equal(config.memory.max_unused_days, 30);
  assert.deepEqual(config.include, []);
  assert.deepEqual(parseConfig('# nothing but a remark\n'), config);
});

test('a file with CRLF and a byte order mark is read as any other', () => {
  assert.equal(parseConfig('\ufeffversion: 1\r\nmemory:\r\n  max_unused_days: 7\r\n').memory.max_unused_days, 7);
});

test('every kind of mistake is named at once, each with its line', () => {
  const text = [
    'version: 2',
    'enabeld: true',
    'audience: everyone',
    'include: [github.com, "https://github.com/acme/shop"]',
    'sources:',
    '  - agent: emacs',
    '    path: ""',
    'model:',
    '  provider: openai',
    '  base_url: not-a-url',
    '  key_env: "1 KEY"',
    'budget:',
    '  minutes: 0',
    '  usd_per_month: -3',
    'memory:',
    '  max_unused_days: many',
    'git:',
    '  author: nobody',
  ].join('\n');
  assert.throws(
    () => parseConfig(text),
    (error: ConfigError) => {
      assert.equal(error.exitCode, 2);
      for (const part of [
        'line 1: version',
        'line 2: enabeld is no key',
        'line 3: audience',
        'line 4: include[0]',
        'line 4: include[1]',
        'line 6: sources[0].agent',
        'line 7: sources[0].path',
        'line 10: model.base_url',
        'line 11: model.key_env',
        'model.extract_model is missing',
        'model.consolidation_model is missing',
        'model.prices.extract is missing: budget.usd_per_month counts with it',
        'model.prices.consolidation is missing',
        'line 13: budget.minutes',
        'line 14: budget.usd_per_month',
        'line 16: memory.max_unused_days',
        'line 18: git.author',
      ]) {
        assert.ok(error.message.includes(part), `“${part}” is missing in:\n${error.message}`);
      }
      return true;
    },
  );
});

for (const [what, text] of [
  ['a tab for indentation', 'model:\n\tprovider: builtin\n'],
  ['a key given twice', 'enabled: true\nenabled: false\n'],
  ['an alias', 'include: &a [x/y]\nexclude: *a\n'],
  ['conflict markers', '<<<<<<< ours\nenabled: true\n=======\nenabled: false\n>>>>>>> theirs\n'],
  ['a list where a mapping belongs', '- enabled\n'],
  ['a bare word', 'enabled\n'],
] as const) {
  test(`${what} is refused as a mistake of the file`, () => {
    assert.throws(() => parseConfig(text), ConfigError);
  });
}

test('batches are off by default, and need a model that is asked', () => {
  assert.deepEqual([parseConfig('').model.batch, parseConfig('').model.batch_price], [false, 0.5]);
  const models = '  provider: openai\n  extract_model: a\n  consolidation_model: b\n';
  assert.equal(parseConfig(`model:\n${models}  batch: true\n`).model.batch, true);
  for (const text of ['model: {batch: true}\n', 'model: {provider: builtin, batch: true}\n'])
    assert.throws(() => parseConfig(text), /model\.batch needs provider “openai”/);
  for (const value of ['1.5', '-0.1', 'half'])
    assert.throws(() => parseConfig(`model:\n${models}  batch_price: ${value}\n`), /model\.batch_price/);
});
