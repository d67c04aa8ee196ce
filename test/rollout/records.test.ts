import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordsOf } from '../../scripts/rollout/records.ts';

const user = '{"timestamp":"2026-11-29T10:00:00Z","type":"user","text":"a } { \\" b"}';
const other = '{"timestamp":"2026-11-29T10:00:01Z","type":"other","list":[{"a":1}]}';

test('two objects on one line are two records', () => {
  const { records, bad } = recordsOf(Buffer.from(`${user} ${other}${user}`));
  assert.deepEqual([types(records), bad], [['user', 'other', 'user'], false]);
});

test('a half-written object before a whole one costs only itself', () => {
  for (const cut of [5, 30, 50, user.length - 1]) {
    const { records, bad } = recordsOf(Buffer.from(user.slice(0, cut) + other));
    assert.deepEqual([types(records), bad], [['other'], true], `cut at ${cut}`);
  }
});

test('a whole object before a half-written one is kept', () => {
  const { records, bad } = recordsOf(Buffer.from(user + other.slice(0, 40)));
  assert.deepEqual([types(records), bad], [['user'], true]);
});

test('a nested object of a half-written line is no record', () => {
  const cut = '{"type":"user","message":{"content":[{"type":"text","text":"hello"}],"stop';
  assert.deepEqual(recordsOf(Buffer.from(cut)).records, []);
});

test('what is no JSON object is bad and gives nothing', () => {
  for (const text of ['nonsense', '[1,2]', '"text"', 'null', '12', '{', '{]}', '{"a":1}}'])
    assert.equal(recordsOf(Buffer.from(text)).bad, true, text);
});

test('bytes that are no UTF-8 become U+FFFD, and that is told', () => {
  const { records, badText } = recordsOf(Buffer.from('{"text":"caf\xe9"}', 'latin1'));
  assert.deepEqual([records, badText], [[{ text: 'caf\uFFFD' }], true]);
  assert.equal(recordsOf(Buffer.from('{"text":"café 日本"}')).badText, false);
});

test('a hostile line of open objects ends', () => {
  const { bad } = recordsOf(Buffer.from('{"timestamp":'.repeat(200_000)));
  assert.equal(bad, true);
});

function types(records: readonly Readonly<Record<string, unknown>>[]): unknown[] {
  return records.map((record) => record.type);
}
