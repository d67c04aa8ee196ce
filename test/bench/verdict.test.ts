import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseReading, readingText } from '../../scripts/bench/reading.ts';
import { table } from '../../scripts/bench/report.ts';
import type { Limit, Measure, Reading } from '../../scripts/bench/types.ts';
import { judge, ratioOf } from '../../scripts/bench/verdict.ts';

const atMost7: Limit = { on: 'value', bound: 'at most', than: 7 };
const aQuarter: Limit = { on: 'ratio', bound: 'at least', than: 0.25 };

test('a measure that holds is taken once', async () => {
  const taken = inTurn([6.9]);
  const result = await judge(aMeasure({ limit: atMost7 }), taken.take);
  assert.deepEqual([result.verdict, result.attempts, taken.count()], ['held', 1, 1]);
});

test('a miss is measured again until it holds', async () => {
  const taken = inTurn([9, 6, 1]);
  const result = await judge(aMeasure({ limit: atMost7 }), taken.take);
  assert.deepEqual([result.verdict, result.value, result.attempts, taken.count()], ['held', 6, 2, 2]);
});

test('after three attempts the best is shown and the measure is missed', async () => {
  const taken = inTurn([9, 7.5, 8, 1]);
  const result = await judge(aMeasure({ limit: atMost7 }), taken.take);
  assert.deepEqual([result.verdict, result.value, result.attempts, taken.count()], ['missed', 7.5, 3, 3]);
});

test('the limit itself is held, from either side', async () => {
  assert.equal((await judge(aMeasure({ limit: atMost7 }), inTurn([7]).take)).verdict, 'held');
  const atLeast: Limit = { ...atMost7, bound: 'at least' };
  assert.equal((await judge(aMeasure({ limit: atLeast }), inTurn([7]).take)).verdict, 'held');
  assert.equal((await judge(aMeasure({ limit: atLeast }), inTurn([6, 6, 6]).take)).verdict, 'missed');
});

test('a limit on the ratio looks at the calibration of the same run, and the best is the best ratio', async () => {
  const readings = [
    aReading(100, { calibration: 1_000 }),
    aReading(50, { calibration: 210 }),
    aReading(90, { calibration: 900 }),
  ];
  const result = await judge(aMeasure({ unit: 'MB/s', limit: aQuarter }), async () => readings.shift() ?? aReading(0));
  assert.deepEqual([result.verdict, result.value, result.attempts], ['missed', 50, 3]);
  const held = await judge(aMeasure({ unit: 'MB/s', limit: aQuarter }), async () => aReading(50, { calibration: 200 }));
  assert.deepEqual([held.verdict, held.ratio], ['held', 0.25]);
});

test('a limit on the ratio is missed where nothing was calibrated', async () => {
  const result = await judge(aMeasure({ unit: 'MB/s', limit: aQuarter }), async () =>
    aReading(50, { calibration: null }),
  );
  assert.equal(result.verdict, 'missed');
});

test('what lost something is missed however fast it was, and never the best', async () => {
  const lost = aReading(1, { faults: ['3 rollouts gave no memory'] });
  assert.equal((await judge(aMeasure({ limit: atMost7 }), async () => lost)).verdict, 'missed');
  assert.equal((await judge(aMeasure({ limit: null }), async () => lost)).verdict, 'missed');
  const readings = [lost, aReading(9), lost];
  const result = await judge(aMeasure({ limit: atMost7 }), async () => readings.shift() ?? lost);
  assert.deepEqual([result.verdict, result.value], ['missed', 9]);
});

test('without a limit the value is reported', async () => {
  assert.equal((await judge(aMeasure({ limit: null }), inTurn([9]).take)).verdict, 'reported');
});

test('a rate is a share of the calibration, a duration the megabytes parsed meanwhile', () => {
  assert.equal(ratioOf('MB/s', 100, 400), 0.25);
  assert.equal(ratioOf('ms', 500, 400), 200);
  assert.equal(ratioOf('rollouts/min', 1_200, 400), 20);
  assert.equal(ratioOf('MB', 200, 400), null);
  assert.equal(ratioOf('ms', 500, null), null);
});

test('a reading survives the way from one process to the other, and anything else is refused', () => {
  const reading = aReading(1.5, { note: '“9 items”\n', faults: ['a'] });
  assert.deepEqual(parseReading(readingText(reading)), reading);
  assert.deepEqual(parseReading(readingText(aReading(2, { calibration: null }))), aReading(2, { calibration: null }));
  for (const text of ['', 'Killed', 'null', '[]', '{}', '{"value":"1","calibration":1,"note":"","faults":[]}'])
    assert.throws(() => parseReading(text), /no reading/);
  for (const change of [{ calibration: 0 }, { note: null }, { faults: 'none' }, { faults: [1] }, { value: null }])
    assert.throws(() => parseReading(JSON.stringify({ ...reading, ...change })), /no reading/);
});

test('the table shows value, ratio, limit and verdict, and says what was missed and how often it was tried', async () => {
  const results = [
    await judge(aMeasure({ name: 'reading', unit: 'MB/s', limit: aQuarter }), async () =>
      aReading(123.4, { calibration: 246.8 }),
    ),
    await judge(aMeasure({ name: 'slow', limit: atMost7 }), async () =>
      aReading(12.34, { faults: ['2 rollouts were lost'] }),
    ),
    await judge(aMeasure({ name: 'told', limit: null }), async () =>
      aReading(0.5, { calibration: null, note: '33 sessions' }),
    ),
  ];
  const lines = table(results).split('\n');
  assert.match(lines[1] ?? '', /^reading +123 MB\/s +0\.50 × +≥ 0\.25 × +held +/);
  assert.match(lines[2] ?? '', /^slow +12\.3 ms +1\.23 MB +≤ 7 ms +missed +/);
  assert.match(lines[3] ?? '', /^told +0\.50 ms +something: 33 sessions$/);
  assert.ok(lines.includes('slow: 2 rollouts were lost.'));
  assert.ok(lines.includes('slow: missed at first; the best of 3 attempts, 3 allowed.'));
});

function aMeasure(change: Partial<Measure>) {
  return { name: 'a measure', what: 'something', unit: 'ms' as const, limit: null, ...change };
}

function aReading(value: number, change: Partial<Reading> = {}): Reading {
  return { value, calibration: 100, note: '', faults: [], ...change };
}

function inTurn(values: readonly number[]) {
  let count = 0;
  return {
    count: () => count,
    take: async () => {
      count += 1;
      return aReading(values[count - 1] ?? Number.NaN);
    },
  };
}
