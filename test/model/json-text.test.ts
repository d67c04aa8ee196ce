import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonTextOf, salvage, withoutThoughts } from '../../scripts/model/json-text.ts';

const whole: readonly [string, string][] = [
  ['bare', '{"a":"b"}'],
  ['in a fence', '```json\n{"a":"b"}\n```'],
  ['in a fence that never ends', '```\n{"a":"b"}'],
  ['with prose around', 'Sure! Here it is:\n{"a":"b"}\nAnything else?'],
  ['with braces in the prose', 'Use {place} or { nothing. Here: {"a":"b"} and {}'],
  ['after thoughts', '<think>maybe {"a":"wrong, and longer"}</think>\n{"a":"b"}'],
  ['after two thoughts', '<think>x</think><thinking>y</thinking>{"a":"b"}'],
  ['after thoughts whose beginning is missing', 'Let me see.\n</think>\n{"a":"b"}'],
  ['with a byte order mark', '\ufeff{"a":"b"}'],
  ['with a conversation after it', '{"a":"b"}\n\nHuman: and now?\n\nAssistant: {"c":1}'],
];

for (const [name, reply] of whole) {
  test(`the object of a reply is found: ${name}`, () => {
    assert.deepEqual(JSON.parse(jsonTextOf(reply) ?? 'null'), { a: 'b' });
  });
}

test('what stands inside strings is no structure', () => {
  const object = { a: '} { "quoted" \\ ```json <think>no</think>', b: '</think>' };
  assert.deepEqual(JSON.parse(jsonTextOf(`\`\`\`json\n${JSON.stringify(object)}\n\`\`\``) ?? ''), object);
});

test('raw line breaks inside strings are repaired', () => {
  assert.deepEqual(JSON.parse(jsonTextOf('{\n "a": "one\n\ttwo" }') ?? ''), { a: 'one\n\ttwo' });
});

test('a reply without a whole object has none, also when a part of it is one', () => {
  for (const reply of [
    '',
    'I cannot help.',
    '[1,2]',
    '"text"',
    '{',
    '<think>{"a":1}',
    '{"a":{"inner":1},"b":"cut',
    '{"a":"use {} here',
  ])
    assert.equal(jsonTextOf(reply), null);
});

test('a reply that was cut off keeps its complete fields', () => {
  const reply = '```json\n{"summary":"All of it.","slug" : "a-b",\n "memory":"half of i';
  assert.equal(jsonTextOf(reply), null);
  assert.deepEqual(salvage(reply), { summary: 'All of it.', slug: 'a-b' });
});

test('a field is complete only with its closing quote', () => {
  assert.deepEqual(salvage('{"a":"x\\"'), {});
  assert.deepEqual(salvage('{"a":"x","b'), { a: 'x' });
  assert.deepEqual(salvage('{"a":"x","b":'), { a: 'x' });
  assert.deepEqual(salvage('{'), {});
  assert.equal(salvage('no object'), null);
});

test('thoughts are taken from the beginning only', () => {
  assert.equal(withoutThoughts('  <think>a</think>\n b <think>c</think>'), 'b <think>c</think>');
  assert.equal(withoutThoughts('<think>never ends'), '');
  assert.equal(withoutThoughts('plain'), 'plain');
});

test('hostile replies of a megabyte are read in one go', () => {
  for (const piece of ['{', '{"', '{"a":', '<think>', '</think>', '"', '\\', '{}', '{x}']) {
    const reply = piece.repeat(Math.ceil(1_000_000 / piece.length));
    assert.ok(jsonTextOf(reply) === null || jsonTextOf(reply) === '{}');
    salvage(reply);
  }
});
