import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { measureGrowth } from '../../../scripts/bench/growth/measure.ts';
import { growthFaults, growthText, packedBound } from '../../../scripts/bench/growth/report.ts';
import { env, temporaryFolder } from '../../support/repository.ts';

const plan = { load: { repositories: 3, people: 3, sessionsADay: 4 }, nights: 32, citationsADay: 2, committed: 3 };

test('a small team’s nights are played, committed and packed; their rows and bytes are told', async (t) => {
  const nights: number[] = [];
  const growth = await measureGrowth(plan, join(temporaryFolder(t), 'repository'), { env }, (n) => nights.push(n));
  assert.equal(nights.length, 32);
  assert.deepEqual(
    growth.months.map(({ night, outputs }) => [night, outputs]),
    [
      [30, 120],
      [32, 126],
    ],
    'what taught nothing goes after a month',
  );
  const [first, last] = growth.months;
  assert.ok((first?.stateBytes ?? 0) > 100_000 && (last?.stateBytes ?? 0) > (first?.stateBytes ?? 0));
  assert.deepEqual([growth.packed?.from, growth.packed?.to], [30, 32]);
  assert.ok((growth.packed?.last ?? 0) > (growth.packed?.first ?? Number.NaN));
  assert.deepEqual(growthFaults(growth), []);
  assert.match(growthText(growth), /^night +state +rows +outputs +selected\n30 /);
});

test('a state or a month of packs over its bound is said, and a missing git program too', () => {
  const month = { night: 365, stateBytes: 31_000_000, rows: 1, outputs: 1, selected: 1 };
  const packed = { from: 1, to: 31, first: 0, last: packedBound + 1_000_000 };
  const [state = '', git = ''] = growthFaults({ months: [month], packed });
  assert.match(state, /31\.0 MB/);
  assert.match(git, /added 41\.0 MB/);
  assert.match(growthText({ months: [month], packed: null }), /git program is not installed/);
});
