import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseYaml } from '../../scripts/shared/yaml.ts';

test('a value comes with the line of each key and list item', () => {
  const yaml = parseYaml('model:\n  provider: openai\nsources:\n  - agent: codex\n  - agent: claude-code\n');
  assert.deepEqual(yaml.errors, []);
  assert.deepEqual(yaml.value, {
    model: { provider: 'openai' },
    sources: [{ agent: 'codex' }, { agent: 'claude-code' }],
  });
  assert.equal(yaml.lineOf(['model', 'provider']), 2);
  assert.equal(yaml.lineOf(['sources', 1]), 5);
  assert.equal(yaml.lineOf(['sources', 1, 'agent']), 5);
  assert.equal(yaml.lineOf(['model', 'missing']), null);
  assert.equal(yaml.lineOf(['model', 'provider', 'deeper']), null);
});

test('dates, sexagesimals and merge keys stay plain', () => {
  assert.deepEqual(parseYaml('a: 2026-11-30\nb: 12:30\nc: yes\nd: 1_000').value, {
    a: '2026-11-30',
    b: '12:30',
    c: 'yes',
    d: '1_000',
  });
  assert.deepEqual(parseYaml('<<: {a: 1}').value, { '<<': { a: 1 } });
});

test('a key that stands twice is a mistake with its line', () => {
  const { value, errors } = parseYaml('a: 1\nb: 2\na: 3\n');
  assert.equal(value, null);
  assert.equal(errors[0]?.line, 3);
});

test('aliases are refused, so that a small text cannot grow without bound', () => {
  const laughs = ['a: &a [x,x,x,x,x,x,x,x,x]'];
  for (let i = 1; i < 9; i += 1) {
    const [from, to] = [String.fromCharCode(96 + i), String.fromCharCode(97 + i)];
    laughs.push(`${to}: &${to} [${Array(9).fill(`*${from}`).join(',')}]`);
  }
  const { value, errors } = parseYaml(laughs.join('\n'));
  assert.equal(value, null);
  assert.equal(errors[0]?.line, 2);
  assert.match(errors[0]?.message ?? '', /alias \*a is not allowed/);
});

test('CRLF and a BOM change no value and no line', () => {
  const yaml = parseYaml('\uFEFFa: 1\r\nb: two\r\n');
  assert.deepEqual(yaml.value, { a: 1, b: 'two' });
  assert.equal(yaml.lineOf(['b']), 2);
});

test('bad input is a mistake, never an exception', () => {
  for (const text of [
    'a: [1',
    'a: b: c',
    '!!js/function x',
    'a: 1\n---\nb: 2',
    '['.repeat(20_000),
    '\u0001: [',
    '@a',
  ]) {
    const { value, errors } = parseYaml(text);
    assert.equal(value, null, JSON.stringify(text.slice(0, 20)));
    assert.ok(errors.length > 0 && errors.every(({ line }) => line >= 1), JSON.stringify(text.slice(0, 20)));
  }
});

test('a key named __proto__ reaches no prototype', () => {
  const { value } = parseYaml('__proto__: {polluted: true}\n');
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.deepEqual(Object.keys(value as object), ['__proto__']);
});
