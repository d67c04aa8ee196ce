import assert from 'node:assert/strict';
import { test } from 'node:test';
import { median, medianMs, parseSpeed, rate, seeded } from '../../scripts/bench/statistics.ts';

test('the median is the middle, of an even number the mean of the two in the middle, whatever the order', () => {
  assert.equal(median([9, 1, 5]), 5);
  assert.equal(median([10, 2, 4, 8]), 6);
  assert.equal(median([100, 20, 3]), 20);
  assert.throws(() => median([]), RangeError);
});

test('a seed gives the same numbers each time, another seed others, all in [0, 1) and spread over it', () => {
  const numbers = (seed: number) => {
    const draw = seeded(seed);
    return Array.from({ length: 1_000 }, () => draw());
  };
  assert.deepEqual(numbers(85), numbers(85));
  assert.notDeepEqual(numbers(85), numbers(86));
  assert.ok(numbers(1).every((number) => number >= 0 && number < 1));
  const tenths = new Set(numbers(1).map((number) => Math.floor(number * 10)));
  assert.equal(tenths.size, 10);
});

test('the first round warms up and does not count; time that the processor did not work is not taken', async () => {
  const spent = [1_000, 4, 2, 6].map((ms) => ms / 2 ** 20);
  let rounds = 0;
  let clock = 0;
  const work = async () => {
    clock += spent[rounds] ?? 0;
    rounds += 1;
  };
  assert.equal(await medianMs({ cpuTime: () => clock }, 3, work), 4 / 2 ** 20);
  assert.equal(rounds, 4);
});

test('a rate is in millions of bytes a second', () => {
  assert.equal(rate(3_000_000, 1_500), 2);
});

test('the calibration refuses lines that are no JSON', async () => {
  await assert.rejects(parseSpeed({ cpuTime: () => 0 }, ['{"a":1}', '{"a":']), SyntaxError);
});
