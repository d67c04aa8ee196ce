import assert from 'node:assert/strict';
import test from 'node:test';
import type { State } from '../../scripts/state/database.ts';
import { heartbeat, jobOf } from '../../scripts/state/jobs.ts';
import {
  dueScopes,
  enqueueConsolidation,
  recordConsolidated,
  recordConsolidationFailure,
  releaseConsolidation,
} from '../../scripts/state/scopes.ts';
import { selectionOf } from '../../scripts/state/selection.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import type { SelectionRow } from '../../scripts/state/types.ts';
import { aThread, claimScope, dayAt, mustClaimScope, scope, withOutput } from '../support/state-rows.ts';

const hour = 3600;

function success(given: { now?: number; threads?: readonly string[]; keepsFailures?: boolean } = {}) {
  const now = given.now ?? dayAt(101);
  const selected = (given.threads ?? ['a']).map((threadId): Omit<SelectionRow, 'scope'> => {
    return { threadId, extractorClass: 'llm', sourceUpdatedAt: dayAt(100), selectedAt: now };
  });
  const keepsFailures = given.keepsFailures ?? false;
  return { selected, watermark: dayAt(100), consolidatorClass: 'llm', now, keepsFailures } as const;
}

function failure(inputHash: string | null, now = dayAt(101)) {
  return { label: 'failed_agent', inputHash, now, retrySeconds: hour };
}

function job(state: State) {
  return jobOf(state, 'memory_consolidate', scope);
}

test('a scope without a job is claimed, and its watermark is 0', async () => {
  const state = await emptyState();
  assert.equal(mustClaimScope(state).watermark, 0);
  assert.equal(job(state)?.status, 'running');
});

test('a scope has one consolidation at a time; an expired lease is taken over', async () => {
  const state = await emptyState();
  const first = mustClaimScope(state);
  assert.deepEqual(claimScope(state), { outcome: 'running', until: dayAt(101) + hour });
  const second = mustClaimScope(state, { now: dayAt(101) + hour });
  assert.equal(heartbeat(state, first, dayAt(101) + hour, hour), false);
  assert.equal(recordConsolidated(state, first, success()), false);
  assert.equal(recordConsolidated(state, second, success()), true);
});

test('scopes do not block each other', async () => {
  const state = await emptyState();
  mustClaimScope(state);
  assert.equal(claimScope(state, { scope: 'github.com/acme/other' }).outcome, 'claimed');
});

test('after a clean success a scope rests; new material does not wake it sooner, --now does', async () => {
  const state = await emptyState();
  recordConsolidated(state, mustClaimScope(state), success());
  enqueueConsolidation(state, scope, dayAt(101));
  assert.equal(job(state)?.status, 'pending');
  const soon = dayAt(101) + 6 * hour - 1;
  assert.deepEqual(claimScope(state, { now: soon }), { outcome: 'cooldown', until: dayAt(101) + 6 * hour });
  assert.equal(claimScope(state, { now: soon, ignoreCooldown: true }).outcome, 'claimed');
});

test('a rested scope is claimed again', async () => {
  const state = await emptyState();
  recordConsolidated(state, mustClaimScope(state), success());
  assert.equal(claimScope(state, { now: dayAt(101) + 6 * hour }).outcome, 'claimed');
});

test('a failure waits an hour and rests no longer; spent retries do not block a scope', async () => {
  const state = await emptyState();
  for (let night = 101; night < 106; night += 1) {
    const claim = mustClaimScope(state, { now: dayAt(night) });
    assert.ok(recordConsolidationFailure(state, claim, failure('input', dayAt(night))));
    const waits = claimScope(state, { now: dayAt(night) + 1, ignoreCooldown: true });
    assert.deepEqual(waits, { outcome: 'backoff', until: dayAt(night) + hour });
  }
  assert.equal(job(state)?.retryRemaining, 0);
  assert.equal(claimScope(state, { now: dayAt(106) }).outcome, 'claimed');
});

test('new material cancels a failure’s wait', async () => {
  const state = await emptyState();
  recordConsolidationFailure(state, mustClaimScope(state), failure('input'));
  enqueueConsolidation(state, scope, dayAt(101));
  assert.equal(claimScope(state, { now: dayAt(101) + 1 }).outcome, 'claimed');
});

test('what comes in while a scope runs leaves it running, and its watermark always grows', async () => {
  const state = await emptyState();
  enqueueConsolidation(state, scope, 10);
  const claim = mustClaimScope(state);
  assert.equal(claim.watermark, 10);
  enqueueConsolidation(state, scope, 5);
  assert.equal(job(state)?.status, 'running');
  assert.equal(job(state)?.inputWatermark, 11);
  enqueueConsolidation(state, scope, 50);
  assert.equal(job(state)?.inputWatermark, 50);
  assert.ok(recordConsolidated(state, claim, success()));
});

test('failures count as long as the input is the same', async () => {
  const state = await emptyState();
  const failWith = (night: number, input: string | null) =>
    recordConsolidationFailure(state, mustClaimScope(state, { now: dayAt(night) }), failure(input, dayAt(night)));
  failWith(101, 'one');
  failWith(102, 'one');
  assert.deepEqual([job(state)?.failures, job(state)?.failedInput], [2, 'one']);
  failWith(103, null);
  assert.equal(job(state)?.failures, 2, 'it failed before there was an input');
  failWith(104, 'other');
  assert.deepEqual([job(state)?.failures, job(state)?.failedInput], [1, 'other']);
});

test('a success forgets the failures, except the one that code stood in for', async () => {
  const state = await emptyState();
  recordConsolidationFailure(state, mustClaimScope(state), failure('one'));
  recordConsolidated(
    state,
    mustClaimScope(state, { now: dayAt(102) }),
    success({ now: dayAt(102), keepsFailures: true }),
  );
  assert.deepEqual([job(state)?.failures, job(state)?.failedInput], [1, 'one']);
  recordConsolidated(state, mustClaimScope(state, { now: dayAt(103) }), success({ now: dayAt(103) }));
  assert.deepEqual([job(state)?.failures, job(state)?.failedInput], [0, null]);
});

test('a running row without an owner can be failed, somebody else’s cannot', async () => {
  const state = await emptyState();
  const claim = mustClaimScope(state);
  state.run('update jobs set ownership_token = null');
  assert.equal(recordConsolidated(state, claim, success()), false);
  assert.equal(recordConsolidationFailure(state, claim, failure('one')), true);

  const lost = mustClaimScope(state, { now: dayAt(102) });
  mustClaimScope(state, { now: dayAt(103) });
  assert.equal(recordConsolidationFailure(state, lost, failure('one')), false);
  assert.equal(job(state)?.status, 'running');
});

test('a success leaves exactly the snapshots that it read as the scope’s selection', async () => {
  const state = await emptyState();
  recordConsolidated(state, mustClaimScope(state), success({ threads: ['a', 'b'] }));
  const elsewhere = mustClaimScope(state, { scope: 'github.com/acme/other' });
  recordConsolidated(state, elsewhere, success({ threads: ['z'] }));
  recordConsolidated(
    state,
    mustClaimScope(state, { now: dayAt(102) }),
    success({ threads: ['c', 'b'], now: dayAt(102) }),
  );
  assert.deepEqual(
    selectionOf(state, scope).map((row) => [row.threadId, row.sourceUpdatedAt, row.selectedAt]),
    [
      ['b', dayAt(100), dayAt(102)],
      ['c', dayAt(100), dayAt(102)],
    ],
  );
  assert.deepEqual(
    selectionOf(state, 'github.com/acme/other').map((row) => row.threadId),
    ['z'],
  );
});

test('the success watermark never goes back, and the class is the last consolidator’s', async () => {
  const state = await emptyState();
  recordConsolidated(state, mustClaimScope(state), success());
  const later = { ...success({ now: dayAt(102) }), watermark: 7, consolidatorClass: 'builtin' } as const;
  recordConsolidated(state, mustClaimScope(state, { now: dayAt(102) }), later);
  assert.equal(job(state)?.lastSuccessWatermark, dayAt(100));
  assert.equal(job(state)?.lastSuccessClass, 'builtin');
});

test('a claim that cost nothing is undone, but what came in meanwhile stays', async () => {
  const state = await emptyState();
  const untouched = snapshotOf(state);
  assert.ok(releaseConsolidation(state, mustClaimScope(state)));
  assert.equal(snapshotOf(state), untouched);

  recordConsolidationFailure(state, mustClaimScope(state), failure('one'));
  const waiting = snapshotOf(state);
  assert.ok(releaseConsolidation(state, mustClaimScope(state, { now: dayAt(102) })));
  assert.equal(snapshotOf(state), waiting);

  const claim = mustClaimScope(state, { now: dayAt(102) });
  enqueueConsolidation(state, scope, dayAt(102));
  assert.ok(releaseConsolidation(state, claim));
  assert.deepEqual([job(state)?.status, job(state)?.inputWatermark], ['pending', dayAt(102)]);
  assert.equal(releaseConsolidation(state, claim), false);
});

test('due are scopes with words, with a selection, or with a job that is not done', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('bare', { repo: 'host/without-output' }));
  withOutput(state, 'a', { thread: { repo: 'host/words' } });
  withOutput(state, 'e', { thread: { repo: 'host/empty' }, output: { rawMemory: '', rolloutSummary: '' } });
  recordConsolidated(state, mustClaimScope(state, { scope: 'host/empty' }), success({ threads: [] }));
  recordConsolidated(state, mustClaimScope(state, { scope: 'host/selected' }), success());
  recordConsolidated(state, mustClaimScope(state, { scope: 'host/done' }), success({ threads: [] }));
  enqueueConsolidation(state, 'host/woken', 1);
  enqueueConsolidation(state, '*', 1);
  assert.deepEqual(dueScopes(state), ['host/selected', 'host/woken', 'host/words']);
});
