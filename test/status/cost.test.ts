import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { costOf, usdOf } from '../../scripts/status/cost.ts';
import { costJson, costText } from '../../scripts/status/cost-text.ts';

const at = (text: string) => parseIsoTime(text) ?? assert.fail(text);

function spend(state: State, time: string, usage: Record<string, Record<string, number>>): void {
  const startedAt = at(time);
  const run = { runId: `run ${time}`, startedAt, finishedAt: startedAt + 60, models: 'small', promptsHash: 'p' };
  recordRun(state, { ...run, outcome: 'done', counts: {}, usage });
}

const one = { requests: 10, input: 100_000, cached: 60_000, output: 5_000, micro_usd: 100_000 };
const two = { requests: 3, input: 20_000, cached: 15_000, output: 1_000, micro_usd: 50_000 };

/** A night a day from the 1st to the 10th, and one in the month before. */
async function tenNights(): Promise<State> {
  const state = await emptyState();
  spend(state, '2026-10-30T03:17:00Z', { phase1: one });
  for (let day = 1; day <= 10; day += 1)
    spend(state, `2026-11-${String(day).padStart(2, '0')}T03:17:00Z`, { phase1: one, phase2: two });
  spend(state, '2026-11-10T05:00:00Z', {
    phase1: { ...one, requests: 0, input: 0, cached: 0, output: 0, micro_usd: 0 },
  });
  return state;
}

const now = at('2026-11-10T12:00:00Z');

test('spending is told by night, by month and by phase, with the share that a server had cached', async () => {
  const { nights, months, now: month } = costOf(await tenNights(), null, now);
  assert.equal(nights.length, 11, 'a run that asked nobody is none');
  assert.deepEqual(
    months.map((each) => [each.month, each.nights, usdOf(each.total).toFixed(2)]),
    [
      ['2026-11', 10, '1.50'],
      ['2026-10', 1, '0.10'],
    ],
  );
  assert.deepEqual([...month.phases.keys()], ['phase1', 'phase2']);
  assert.deepEqual([month.total.input, month.total.cached, month.total.output], [1_200_000, 750_000, 60_000]);
  const text = costText(costOf(await tenNights(), null, now));
  assert.match(text, /^2026-11 +phase 1 +100 +1 M +60 % +50 k +\$1\.00$/m);
  assert.match(text, /^ +all +130 +1\.2 M +63 % +60 k +\$1\.50$/m);
  assert.match(text, /^2026-11-10T03:17:00Z +phase 1 +10 +100 k +60 % +5 k +\$0\.1000$/m);
  assert.match(text, /no limit is set/);
});

test('the forecast is this month so far and the days left at the mean of the recent ones, and says so', async () => {
  const { forecast } = costOf(await tenNights(), 4, now);
  // From 30 October to today are 12 days; what they cost is $1.60; 20 days of November are left.
  assert.equal(forecast?.days, 12);
  assert.equal(forecast?.nights, 11);
  assert.equal(forecast?.daysLeft, 20);
  assert.equal(forecast?.usd.toFixed(4), (1.5 + (1.6 / 12) * 20).toFixed(4));
  assert.equal(forecast?.reachedOn, '2026-11-28', '$2.50 are left, at 13.3 cents a day');
  const text = costText(costOf(await tenNights(), 4, now));
  assert.match(text, /of \$4, so \$2\.50 are left$/m);
  assert.match(text, /if the 20 days left cost what a day did on the mean of 11 nights of the last 12 days/);
  assert.match(text, /the limit is reached on 2026-11-28$/m);
});

test('a limit that is not reached has no day, and one that is passed has today', async () => {
  assert.equal(costOf(await tenNights(), 100, now).forecast?.reachedOn, null);
  assert.equal(costOf(await tenNights(), 1, now).forecast?.reachedOn, '2026-11-10');
  assert.match(costText(costOf(await tenNights(), 1, now)), /so \$0\.00 are left/);
});

test('the month’s last day, a year’s end and a leap February have the days left that they have', async () => {
  for (const [time, left] of [
    ['2026-11-30T23:59:59Z', 0],
    ['2026-12-31T00:00:00Z', 0],
    ['2026-12-01T00:00:00Z', 30],
    ['2028-02-01T12:00:00Z', 28],
  ] as const) {
    const state = await emptyState();
    spend(state, time, { phase1: one });
    assert.equal(costOf(state, null, at(time)).forecast?.daysLeft, left, time);
  }
});

test('what was long ago is no ground for a forecast, and what is to come is not counted', async () => {
  const state = await emptyState();
  spend(state, '2026-09-01T03:17:00Z', { phase1: one });
  spend(state, '2026-11-20T03:17:00Z', { phase1: one });
  const cost = costOf(state, 5, now);
  assert.deepEqual([cost.nights.length, cost.forecast, cost.now.total.microUsd], [1, null, 0]);
  assert.match(costText(cost), /forecast +none: the last two weeks cost nothing/);
});

test('tokens without a price are told as such, never as free', async () => {
  const state = await emptyState();
  spend(state, '2026-11-09T03:17:00Z', { phase1: { ...one, micro_usd: 0 } });
  const text = costText(costOf(state, null, now));
  assert.match(text, /no price/);
  assert.match(text, /105 k tokens have no price: write model\.prices/);
  assert.doesNotMatch(text, /\$/);
});

test('a run that was lost counts its whole allowance, and is called so', async () => {
  const state = await emptyState();
  spend(state, '2026-11-09T03:17:00Z', { unfinished: { input: 30_000_000, micro_usd: 7_000_000 } });
  assert.match(costText(costOf(state, 10, now)), /lost \(at most\) +0 +30 M +0 % +0 +\$7\.00/);
});

test('before the first night with a model there is nothing to tell', async () => {
  const cost = costOf(await emptyState(), 5, now);
  assert.match(costText(cost), /^Nothing was spent/);
  assert.deepEqual(costJson(cost), {
    month: {
      requests: 0,
      input: 0,
      cached: 0,
      output: 0,
      cached_share: null,
      usd: 0,
      unpriced_tokens: 0,
      phases: {},
      usd_per_month: 5,
      usd_left: 5,
    },
    forecast: null,
    months: [],
    nights: [],
  });
});
