import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exponentOf, growthMeasure } from '../../scripts/bench/growth.ts';
import { parseReading, readingText } from '../../scripts/bench/reading.ts';
import { table } from '../../scripts/bench/report.ts';
import { scalingMeasures } from '../../scripts/bench/scaling.ts';
import type { Bench } from '../../scripts/bench/types.ts';
import { judge } from '../../scripts/bench/verdict.ts';

const pointsOf = (time: (size: number) => number) => [10, 100, 1_000].map((size) => ({ size, ms: time(size) }));

test('the exponent is 1 for linear time, 2 for quadratic, 0 for none, whatever a unit of work takes', () => {
  const rounded = (time: (size: number) => number) => Number(exponentOf(pointsOf(time)).toFixed(6));
  assert.equal(
    rounded((size) => 7 * size),
    1,
  );
  assert.equal(
    rounded((size) => 0.001 * size * size),
    2,
  );
  assert.equal(
    rounded(() => 5),
    0,
  );
  assert.equal(rounded((size) => size * Math.log2(size)) > 1.15, true);
  assert.equal(rounded((size) => size * Math.log2(size)) < 1.3, true);
});

test('one size alone tells no growth', () => {
  assert.throws(() => exponentOf([{ size: 10, ms: 1 }]), RangeError);
  assert.throws(() => exponentOf([]), RangeError);
});

test('work that is quadratic misses the limit, and what it took at each size is told', async () => {
  const measure = growthMeasure({
    name: 'pairs',
    what: 'compare all with all',
    of: 'things',
    base: 10,
    prepare: async (_bench, size) => () => {
      clock += (size * size) / 2 ** 40;
    },
  });
  let clock = 0;
  const bench = { world: { cpuTime: () => clock }, folder: '' } as unknown as Bench;
  const result = await judge(measure, () => measure.take(bench));
  assert.equal(result.verdict, 'missed');
  assert.equal(result.value.toFixed(3), '2.000');
  assert.deepEqual(
    result.points?.map(({ size }) => size),
    [10, 100, 1_000],
  );
  assert.match(result.note, /; the last step alone 2\.00$/);
  assert.match(table([result]), /pairs {4}2\.00 +≤ 1\.15 +missed +how the time to compare all with all grows/);
});

test('the points of a reading survive the way from the measuring process; others are left out', () => {
  const reading = { value: 1, calibration: null, note: '', faults: [], points: [{ size: 10, ms: 2.5 }] };
  assert.deepEqual(parseReading(readingText(reading)), reading);
  const { points: _points, ...without } = reading;
  assert.deepEqual(parseReading(JSON.stringify({ ...reading, points: [{ size: '10' }] })), without);
});

test('all that grows is held to the same limit', () => {
  assert.deepEqual(
    scalingMeasures.map(({ name, limit }) => [name, limit?.than]),
    ['scaling-request', 'scaling-record', 'scaling-snapshot', 'scaling-selection'].map((name) => [name, 1.15]),
  );
});
