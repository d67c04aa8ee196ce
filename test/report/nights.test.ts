import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barChart } from '../../scripts/report/chart.ts';
import { byDay, type Night, nightsOf } from '../../scripts/report/nights.ts';
import { day, parseIsoTime } from '../../scripts/shared/clock.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { setTombstone } from '../../scripts/state/tombstones.ts';

const first = parseIsoTime('2026-11-01T03:17:00Z') ?? 0;

function aNight(at: number, given: Partial<Night> = {}): Night {
  return {
    runId: `run-${at}`,
    at,
    seconds: 60,
    outcome: 'done',
    learned: 1,
    forgotten: 0,
    failed: 0,
    input: 10,
    output: 5,
    usd: 0.5,
    models: 'm',
    ...given,
  };
}

test('a night is what its line in the ledger says, with what people had forgotten in it', async () => {
  const state = await emptyState();
  const usage = {
    phase1: { requests: 2, input: 100, cached: 0, output: 10, micro_usd: 1_500 },
    phase2: { requests: 1, input: 50, cached: 0, output: 5, micro_usd: 500 },
  };
  const counts = { extracted: 4, forgotten: 2, failed: 1 };
  const run = { startedAt: first, finishedAt: first + 90, outcome: 'partly' as const, counts, usage };
  recordRun(state, { ...run, runId: 'run-1', models: 'small', promptsHash: 'p' });
  const stone = { reason: 'r', runId: 'run-1', pullRequest: null, setAt: first };
  setTombstone(state, { kind: 'evidence', key: 'a 1 r', ...stone });
  setTombstone(state, { kind: 'evidence', key: 'a 2 r', ...stone, runId: 'another' });
  const [night] = nightsOf(state);
  assert.deepEqual(
    [night?.learned, night?.forgotten, night?.failed, night?.input, night?.output, night?.usd, night?.seconds],
    [4, 3, 1, 150, 15, 0.002, 90],
  );
});

test('a night of before forgetting was counted has forgotten nothing that is known', async () => {
  const state = await emptyState();
  const times = { startedAt: first, finishedAt: first, outcome: 'quiet' as const };
  recordRun(state, { ...times, runId: 'old', counts: {}, usage: {}, models: '', promptsHash: '' });
  assert.deepEqual([nightsOf(state)[0]?.learned, nightsOf(state)[0]?.forgotten], [0, 0]);
});

test('nights of one day add up, and a day without a night stands between with zeros', () => {
  const days = byDay([aNight(first + 2 * day), aNight(first + 60, { learned: 4 }), aNight(first)], 60);
  assert.deepEqual(
    days.map(({ learned, input }) => [learned, input]),
    [
      [5, 20],
      [0, 0],
      [1, 10],
    ],
  );
});

test('the time line holds the latest days only, and none without a night', () => {
  assert.deepEqual(
    byDay([aNight(first + 40 * day), aNight(first)], 10).map(({ learned }) => learned),
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
  );
  assert.deepEqual(byDay([], 10), []);
});

test('a chart draws what is learned upwards and what is forgotten downwards, within its frame', () => {
  const bars = Array.from({ length: 60 }, (_, n) => ({ day: first - 11_820 + n * day, up: n % 7, down: n % 3 }));
  const svg = barChart(bars, { width: 340, height: 160 }, 'hatch', String).toString();
  const numbers = (name: string) =>
    [...svg.matchAll(new RegExp(` ${name}="([^"]+)"`, 'g'))].map((match) => Number(match[1]));
  assert.equal(svg.match(/class="up"/g)?.length, bars.filter(({ up }) => up > 0).length);
  assert.equal(svg.match(/class="down"/g)?.length, bars.filter(({ down }) => down > 0).length);
  assert.ok([...numbers('x'), ...numbers('x1'), ...numbers('x2')].every((x) => x >= 0 && x <= 340));
  assert.ok(
    [...numbers('y'), ...numbers('y1'), ...numbers('y2'), ...numbers('height')].every((y) => y >= 0 && y <= 160),
  );
  assert.ok((svg.match(/text-anchor="middle"/g)?.length ?? 0) <= 5);
  assert.doesNotMatch(svg, /NaN|Infinity|style=/);
});

test('one day, and days of nothing, are charts too', () => {
  for (const bars of [
    [{ day: 0, up: 3 }],
    [
      { day: 0, up: 0, down: 0 },
      { day, up: 0 },
    ],
    [],
  ])
    assert.doesNotMatch(barChart(bars, { width: 860, height: 170 }, 'hatch', String).toString(), /NaN|Infinity/);
});
