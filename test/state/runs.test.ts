import assert from 'node:assert/strict';
import test from 'node:test';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { listRuns, recordRun, usageThisMonth } from '../../scripts/state/runs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import type { RunRow } from '../../scripts/state/types.ts';

function at(iso: string): number {
  return parseIsoTime(iso) ?? Number.NaN;
}

function aRun(runId: string, startedAt: number, given: Partial<RunRow> = {}): RunRow {
  const usage = { phase1: { requests: 2, input: 100 }, phase2: { requests: 1, input: 10 } };
  const common = {
    outcome: 'done',
    counts: { extracted: 2, failed: 0 },
    usage,
    models: 'm',
    promptsHash: 'p',
  } as const;
  return { runId, startedAt, finishedAt: startedAt + 60, ...common, ...given };
}

test('the month’s use is the sum of its nights by phase, from its first second to now', async () => {
  const state = await emptyState();
  recordRun(state, aRun('before', at('2026-10-31T23:59:59Z')));
  recordRun(state, aRun('first', at('2026-11-01T00:00:00Z')));
  recordRun(state, aRun('second', at('2026-11-15T03:00:00Z'), { usage: { phase1: { requests: 5 } } }));
  recordRun(state, aRun('later', at('2026-11-30T23:00:00Z')));
  assert.deepEqual(usageThisMonth(state, at('2026-11-20T00:00:00Z')), {
    phase1: { requests: 7, input: 100 },
    phase2: { requests: 1, input: 10 },
  });
  assert.deepEqual(usageThisMonth(state, at('2027-01-02T00:00:00Z')), {});
});

test('a night that is continued has one line in the ledger, the latest stands first', async () => {
  const state = await emptyState();
  recordRun(state, aRun('one', 100, { outcome: 'failed' }));
  recordRun(state, aRun('two', 200));
  recordRun(state, aRun('one', 100));
  assert.deepEqual(listRuns(state, 10), [aRun('two', 200), aRun('one', 100)]);
  assert.equal(listRuns(state, 1).length, 1);
});

test('equal runs give equal text in whatever order they were counted', async () => {
  const [one, other] = [await emptyState(), await emptyState()];
  recordRun(one, aRun('run', 100, { counts: { a: 1, b: 2 } }));
  recordRun(other, aRun('run', 100, { counts: { b: 2, a: 1 } }));
  assert.equal(snapshotOf(one), snapshotOf(other));
});

test('the ledger counts in integers', async () => {
  const state = await emptyState();
  assert.throws(() => recordRun(state, aRun('run', 100, { usage: { phase1: { micro_usd: 0.5 } } })), RangeError);
});
