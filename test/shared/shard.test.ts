import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../../scripts/shared/errors.ts';
import { isInShard, mostShards, parseShard, parseShardCount, shardText } from '../../scripts/shared/shard.ts';
import { threadId } from '../support/written-sessions.ts';

/** As written down once: machines of any version have to agree. */
const partsInFive = [3, 1, 2, 5, 1, 1, 1, 1, 1, 3, 4, 5];

const ids = Array.from({ length: 400 }, (_, n) => threadId(n));

function partsOf(count: number): string[][] {
  return Array.from({ length: count }, (_, at) => ids.filter((id) => isInShard(id, { index: at + 1, count })));
}

test('the parts together are all sessions, and no session is in two', () => {
  for (const count of [1, 2, 3, 5, 64, mostShards]) assert.deepEqual(partsOf(count).flat().sort(), [...ids].sort());
});

test('parts are of about one size', () => {
  for (const part of partsOf(4)) assert.ok(part.length > 70 && part.length < 130, `${part.length} of 100`);
});

test('which part a session is in depends on its id alone, and stays', () => {
  assert.deepEqual(
    ids.slice(0, 12).map((id) => [1, 2, 3, 4, 5].find((index) => isInShard(id, { index, count: 5 }))),
    partsInFive,
  );
});

test('a part is written as which of how many', () => {
  assert.deepEqual(parseShard('2/5'), { index: 2, count: 5 });
  assert.deepEqual(parseShard(`${mostShards}/${mostShards}`), { index: mostShards, count: mostShards });
  assert.equal(shardText({ index: 2, count: 5 }), '2/5');
  assert.equal(parseShardCount('12'), 12);
});

for (const text of [
  '0/3',
  '4/3',
  'x',
  '',
  '1/',
  '/3',
  '1/257',
  '1/1000',
  '-1/3',
  '1.5/3',
  '1/3/5',
  ' 1/3',
  '1/0',
  '0/0',
])
  test(`“${text}” is no part, and the error says how one is written`, () => {
    assert.throws(
      () => parseShard(text),
      (error) => error instanceof UsageError && error.exitCode === 2 && /such as 2\/5/.test(error.hint),
    );
  });

for (const text of ['0', '257', 'x', '', '2/5', '2; touch pwned'])
  test(`“${text}” is no number of parts`, () => {
    assert.throws(
      () => parseShardCount(text),
      (error) => error instanceof UsageError && /from 1 to 256/.test(error.hint),
    );
  });
