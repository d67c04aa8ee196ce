import assert from 'node:assert/strict';
import test from 'node:test';
import { day } from '../../scripts/shared/clock.ts';
import { citationsOf, recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { evidenceOf } from '../../scripts/state/evidence.ts';
import { jobOf } from '../../scripts/state/jobs.ts';
import { outputOf } from '../../scripts/state/outputs.ts';
import { horizonOf, type PrunePolicy, prune, pruneBatch } from '../../scripts/state/prune.ts';
import { recordConsolidated } from '../../scripts/state/scopes.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { getThread, listThreads, upsertThread } from '../../scripts/state/threads.ts';
import { aCitation, aThread, claimOf, dayAt, mustClaimScope, withOutput } from '../support/state-rows.ts';

/** On day 140, with 30 days: the horizon is day 110. Runs reached the default branch at once. */
function aPolicy(given: Partial<PrunePolicy> = {}): PrunePolicy {
  const reachedAt = new Map([['run-1', dayAt(101)]]);
  return { now: dayAt(140), maxUnusedDays: 30, reachedAt, namedThreads: new Set(), ...given };
}

function withOldOutput(state: State, threadId: string, number = 100): void {
  withOutput(state, threadId, { thread: { updatedAt: dayAt(number), firstSeenAt: dayAt(number) } });
}

function select(state: State, threadId: string): void {
  const row = { threadId, extractorClass: 'llm', sourceUpdatedAt: dayAt(100), selectedAt: dayAt(101) } as const;
  const result = { selected: [row], watermark: dayAt(100), consolidatorClass: 'llm', now: dayAt(101) } as const;
  recordConsolidated(state, mustClaimScope(state), result);
}

test('an output that nobody used for the window is let go of, with its thread', async () => {
  const state = await emptyState();
  withOldOutput(state, 'old', 109);
  withOldOutput(state, 'young', 110);
  const pruned = prune(state, aPolicy());
  assert.deepEqual([pruned.outputs, pruned.threads, pruned.horizon], [1, 1, dayAt(110)]);
  assert.deepEqual(
    listThreads(state).map((thread) => thread.threadId),
    ['young'],
  );
  assert.deepEqual(evidenceOf(state, 'old'), []);
  assert.equal(jobOf(state, 'memory_stage1', 'old'), null);
});

test('an output that a scope selected stays', async () => {
  const state = await emptyState();
  withOldOutput(state, 'a');
  select(state, 'a');
  assert.equal(prune(state, aPolicy()).outputs, 0);
  assert.ok(outputOf(state, 'a'));
});

test('an output that was cited within the window stays; a citation of before it does not help', async () => {
  const state = await emptyState();
  withOldOutput(state, 'a');
  withOldOutput(state, 'b');
  withOldOutput(state, 'c');
  const rows = [
    aCitation('1', 'a', { at: dayAt(110) }),
    aCitation('2', 'b', { at: dayAt(109) }),
    aCitation('3', 'c', { at: dayAt(139), kind: 'read' }),
  ];
  recordCitations(state, rows, { now: dayAt(139), horizon: null });
  const pruned = prune(state, aPolicy());
  assert.deepEqual([pruned.outputs, pruned.citations], [2, 1]);
  assert.ok(outputOf(state, 'a'));
  assert.deepEqual(citationsOf(state, 'b'), []);
});

test('what was never used ages from when it reached the default branch, else from a window after it was made', async () => {
  const state = await emptyState();
  withOldOutput(state, 'late');
  assert.equal(prune(state, aPolicy({ reachedAt: new Map([['run-1', dayAt(110)]]) })).outputs, 0);
  const unreached = { reachedAt: new Map<string, number>() };
  assert.equal(prune(state, aPolicy({ ...unreached, now: dayAt(101 + 60) })).outputs, 0);
  assert.equal(prune(state, aPolicy({ ...unreached, now: dayAt(101 + 60) + 1 })).outputs, 1);
});

test('where every night commits to the branch that people read, what was never used ages from when it was made', async () => {
  const state = await emptyState();
  withOldOutput(state, 'made');
  assert.equal(prune(state, aPolicy({ reachedAt: null, now: dayAt(101 + 30) })).outputs, 0);
  assert.equal(prune(state, aPolicy({ reachedAt: null, now: dayAt(101 + 30) + 1 })).outputs, 1);
});

test('one pass lets go of a batch at most, the longest unused first, then by source time and id', async () => {
  const state = await emptyState();
  for (let index = 0; index < pruneBatch + 3; index += 1)
    withOldOutput(state, `t${String(index).padStart(3, '0')}`, index === pruneBatch + 2 ? 90 : 100);
  const reachedAt = new Map([['run-1', 0]]);
  assert.equal(prune(state, aPolicy({ reachedAt })).outputs, pruneBatch);
  assert.deepEqual(
    listThreads(state).map((thread) => thread.threadId),
    ['t199', 't200', 't201'].slice(0, 3),
  );
  assert.equal(prune(state, aPolicy({ reachedAt })).outputs, 3);
});

test('a thread stays while a line of a person names it, and its evidence with it', async () => {
  const state = await emptyState();
  withOldOutput(state, 'a');
  prune(state, aPolicy({ namedThreads: new Set(['a']) }));
  assert.equal(outputOf(state, 'a'), null);
  assert.ok(getThread(state, 'a'));
  assert.equal(evidenceOf(state, 'a').length, 1);
  assert.equal(claimOf(state, 'a').outcome, 'up_to_date', 'its job is kept: it is not extracted again');
  prune(state, aPolicy());
  assert.equal(getThread(state, 'a'), null);
});

test('a thread that waits to be read stays for the window after it was first seen', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a', { updatedAt: dayAt(50), firstSeenAt: dayAt(112) }));
  assert.equal(prune(state, aPolicy()).threads, 0);
  assert.equal(prune(state, aPolicy({ now: dayAt(143) })).threads, 1);
});

test('a thread whose extraction runs stays', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  claimOf(state, 'a');
  assert.equal(prune(state, aPolicy()).threads, 0);
});

test('a citation that went does not come back with a clock that is behind', async () => {
  const state = await emptyState();
  const cited = () => {
    const horizon = Math.max(dayAt(138) - 30 * day, horizonOf(state) ?? 0);
    return recordCitations(state, [aCitation('1', 'a', { at: dayAt(109) })], { now: dayAt(138), horizon });
  };
  assert.equal(cited(), 1);
  assert.equal(prune(state, aPolicy()).citations, 1);
  assert.equal(cited(), 0);
});

test('the horizon moves when something went, and never back', async () => {
  const state = await emptyState();
  prune(state, aPolicy());
  assert.equal(horizonOf(state), null, 'a pass that lets go of nothing leaves the state as it was');
  withOldOutput(state, 'old', 60);
  prune(state, aPolicy());
  assert.equal(horizonOf(state), dayAt(110));
  withOldOutput(state, 'older', 50);
  prune(state, aPolicy({ now: dayAt(120) }));
  assert.equal(horizonOf(state), dayAt(110));
});
