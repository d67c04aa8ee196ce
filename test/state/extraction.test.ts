import assert from 'node:assert/strict';
import test from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import type { State } from '../../scripts/state/database.ts';
import { evidenceByShortId, evidenceOf } from '../../scripts/state/evidence.ts';
import {
  recordExhausted,
  recordFailure,
  recordNothing,
  recordOutput,
  releaseClaim,
} from '../../scripts/state/extraction.ts';
import { heartbeat, jobOf } from '../../scripts/state/jobs.ts';
import { outputOf } from '../../scripts/state/outputs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { anItem, anOutput, aThread, claimOf, dayAt, mustClaim, scope, withOutput } from '../support/state-rows.ts';

const hour = 3600;
const nothing = { stem: 's', generatedAt: dayAt(101), promptHash: 'a1b2', runId: 'run-1' };

async function aState(): Promise<State> {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  return state;
}

/** The thread goes on: it is newer than what was extracted. */
function goesOn(state: State, updatedAt = dayAt(101)): void {
  upsertThread(state, aThread('a', { updatedAt }));
}

function scopeJob(state: State) {
  return jobOf(state, 'memory_consolidate', scope);
}

test('a thread whose present text gave an output is up to date, until it goes on', async () => {
  const state = await aState();
  withOutput(state, 'a');
  assert.equal(claimOf(state, 'a').outcome, 'up_to_date');
  goesOn(state);
  assert.equal(claimOf(state, 'a').outcome, 'claimed');
});

test('"nothing worth keeping" is an output too: the thread is not asked again', async () => {
  const state = await aState();
  assert.ok(recordNothing(state, mustClaim(state, 'a'), nothing));
  assert.equal(outputOf(state, 'a')?.rolloutSummary, '');
  assert.equal(claimOf(state, 'a').outcome, 'up_to_date');
});

test('a better class may extract what a lesser one has, never the other way round', async () => {
  const state = await aState();
  withOutput(state, 'a', { extractorClass: 'builtin' });
  assert.equal(claimOf(state, 'a', { extractorClass: 'builtin' }).outcome, 'up_to_date');
  const better = mustClaim(state, 'a', { extractorClass: 'llm' });
  recordOutput(state, better, anOutput(), []);
  assert.equal(claimOf(state, 'a', { extractorClass: 'llm' }).outcome, 'up_to_date');
  assert.equal(claimOf(state, 'a', { extractorClass: 'builtin' }).outcome, 'up_to_date');
});

test('readers take the best class, also when a lesser one is newer', async () => {
  const state = await aState();
  withOutput(state, 'a', { extractorClass: 'llm', output: { rolloutSummary: 'by the model' } });
  goesOn(state);
  recordOutput(
    state,
    mustClaim(state, 'a', { extractorClass: 'builtin' }),
    anOutput({ rolloutSummary: 'by code' }),
    [],
  );
  assert.equal(outputOf(state, 'a')?.rolloutSummary, 'by the model');
  assert.equal(claimOf(state, 'a', { extractorClass: 'builtin' }).outcome, 'up_to_date');
  assert.equal(claimOf(state, 'a', { extractorClass: 'llm' }).outcome, 'claimed');
});

test('a pruned output is not made again unless its thread goes on', async () => {
  const state = await aState();
  withOutput(state, 'a', { extractorClass: 'builtin' });
  state.run('delete from stage1_outputs');
  assert.equal(claimOf(state, 'a', { extractorClass: 'builtin' }).outcome, 'up_to_date');
  assert.equal(claimOf(state, 'a', { extractorClass: 'llm' }).outcome, 'claimed');
});

test('two claims of one thread have one winner', async () => {
  const state = await aState();
  const outcomes = [claimOf(state, 'a'), claimOf(state, 'a')].map((claim) => claim.outcome);
  assert.deepEqual(outcomes, ['claimed', 'running']);
});

test('a fresh lease is respected, an expired one is taken over at no retry’s cost', async () => {
  const state = await aState();
  const first = mustClaim(state, 'a', { at: dayAt(101) });
  assert.deepEqual(claimOf(state, 'a', { at: dayAt(101) + hour - 1 }), {
    outcome: 'running',
    until: dayAt(101) + hour,
  });
  const second = mustClaim(state, 'a', { at: dayAt(101) + hour });
  assert.equal(jobOf(state, 'memory_stage1', 'a')?.retryRemaining, 3);
  assert.equal(recordOutput(state, first, anOutput(), []), false, 'the first owner has lost it');
  assert.equal(outputOf(state, 'a'), null);
  assert.equal(recordOutput(state, second, anOutput(), []), true);
});

test('a heartbeat keeps the lease, and only the owner’s does', async () => {
  const state = await aState();
  const first = mustClaim(state, 'a', { at: dayAt(101) });
  assert.ok(heartbeat(state, first, dayAt(101) + hour - 1, hour));
  assert.equal(claimOf(state, 'a', { at: dayAt(101) + hour + 1 }).outcome, 'running');
  mustClaim(state, 'a', { at: dayAt(102) });
  assert.equal(heartbeat(state, first, dayAt(102), hour), false);
});

test('a running thread is not claimed a second time when it goes on', async () => {
  const state = await aState();
  mustClaim(state, 'a');
  goesOn(state);
  assert.equal(claimOf(state, 'a').outcome, 'running');
});

test('a failure waits for its retry, unless told to ignore that', async () => {
  const state = await aState();
  assert.ok(recordFailure(state, mustClaim(state, 'a'), 'cut_off', dayAt(101), hour));
  assert.deepEqual(claimOf(state, 'a', { at: dayAt(101) + 1 }), { outcome: 'backoff', until: dayAt(101) + hour });
  assert.equal(claimOf(state, 'a', { at: dayAt(101) + 1, ignoreBackoff: true }).outcome, 'claimed');
  const job = jobOf(state, 'memory_stage1', 'a');
  assert.equal(job?.lastError, null, 'a new attempt starts clean');
  assert.equal(job?.retryRemaining, 2);
});

test('three failures exhaust a thread, and newer activity lifts that', async () => {
  const state = await aState();
  for (const attempt of [0, 1, 2])
    recordFailure(state, mustClaim(state, 'a', { at: dayAt(101 + attempt) }), 'refusal', dayAt(101 + attempt), hour);
  assert.equal(claimOf(state, 'a', { at: dayAt(110) }).outcome, 'exhausted');
  assert.equal(claimOf(state, 'a', { at: dayAt(110), ignoreBackoff: true }).outcome, 'exhausted');
  goesOn(state, dayAt(109));
  mustClaim(state, 'a', { at: dayAt(110) });
  assert.equal(jobOf(state, 'memory_stage1', 'a')?.retryRemaining, 3);
});

test('newer activity lifts a backoff', async () => {
  const state = await aState();
  recordFailure(state, mustClaim(state, 'a'), 'stalled', dayAt(101), hour);
  goesOn(state);
  assert.equal(claimOf(state, 'a', { at: dayAt(101) + 1 }).outcome, 'claimed');
});

test('a rollout that killed its attempts is given up at once', async () => {
  const state = await aState();
  assert.ok(recordExhausted(state, mustClaim(state, 'a'), 'three attempts died', dayAt(101)));
  assert.equal(claimOf(state, 'a', { at: dayAt(130) }).outcome, 'exhausted');
  assert.equal(jobOf(state, 'memory_stage1', 'a')?.lastError, 'three attempts died');
});

test('a claim that cost nothing is undone without a trace', async () => {
  const state = await aState();
  const untouched = snapshotOf(state);
  assert.ok(releaseClaim(state, mustClaim(state, 'a')));
  assert.equal(snapshotOf(state), untouched);

  recordFailure(state, mustClaim(state, 'a'), 'server', dayAt(101), hour);
  const waiting = snapshotOf(state);
  assert.ok(releaseClaim(state, mustClaim(state, 'a', { at: dayAt(102) })));
  assert.equal(snapshotOf(state), waiting);
});

test('what is not ours is never recorded', async () => {
  const state = await aState();
  const claim = mustClaim(state, 'a');
  recordOutput(state, claim, anOutput(), []);
  const done = snapshotOf(state);
  assert.equal(recordOutput(state, claim, anOutput({ rolloutSummary: 'again' }), []), false);
  assert.equal(recordNothing(state, claim, nothing), false);
  assert.equal(recordFailure(state, claim, 'late', dayAt(102), hour), false);
  assert.equal(recordExhausted(state, claim, 'late', dayAt(102)), false);
  assert.equal(releaseClaim(state, claim), false);
  assert.equal(snapshotOf(state), done);
});

test('an output wakes its scope; the same thread again makes the watermark grow all the same', async () => {
  const state = await aState();
  withOutput(state, 'a');
  assert.equal(scopeJob(state)?.status, 'pending');
  assert.equal(scopeJob(state)?.inputWatermark, dayAt(100));
  withOutput(state, 'b');
  assert.equal(scopeJob(state)?.inputWatermark, dayAt(100) + 1);
});

test('nothing worth keeping wakes the scope only when words disappear', async () => {
  const state = await aState();
  recordNothing(state, mustClaim(state, 'a'), nothing);
  assert.equal(scopeJob(state), null, 'there was nothing before');

  withOutput(state, 'b');
  const before = scopeJob(state)?.inputWatermark ?? 0;
  upsertThread(state, aThread('b', { updatedAt: dayAt(101) }));
  recordNothing(state, mustClaim(state, 'b', { extractorClass: 'builtin' }), nothing);
  assert.equal(scopeJob(state)?.inputWatermark, before, 'the better class still has its words');
  recordNothing(state, mustClaim(state, 'b', { extractorClass: 'llm' }), nothing);
  assert.ok((scopeJob(state)?.inputWatermark ?? 0) > before);
  assert.equal(outputOf(state, 'b')?.rawMemory, '');
});

test('a thread keeps the stem of its first extraction, whatever class comes later', async () => {
  const state = await aState();
  withOutput(state, 'a', { extractorClass: 'builtin', output: { stem: 'first' } });
  withOutput(state, 'a', { extractorClass: 'llm', output: { stem: 'second' } });
  assert.equal(outputOf(state, 'a')?.stem, 'first');
});

test('evidence is found by thread and by short id, and stays when a later output cites other items', async () => {
  const state = await aState();
  recordOutput(state, mustClaim(state, 'a'), anOutput(), [anItem('a', '3', { hedged: true }), anItem('a', '12.2')]);
  goesOn(state);
  const rewritten = anItem('a', '3', { hash: '1'.repeat(32), at: null, who: 'tool' });
  recordOutput(state, mustClaim(state, 'a'), anOutput(), [rewritten, anItem('a', '2:7')]);
  assert.deepEqual(evidenceOf(state, 'a'), [anItem('a', '12.2'), anItem('a', '2:7'), rewritten]);
  assert.deepEqual(evidenceByShortId(state, shortThreadId('a')), evidenceOf(state, 'a'));
  assert.deepEqual(evidenceByShortId(state, 'aaaaaaaa'), []);
});

test('a failure in the middle of recording leaves nothing behind', async () => {
  const state = await aState();
  const claim = mustClaim(state, 'a');
  const before = snapshotOf(state);
  assert.throws(() => recordOutput(state, claim, anOutput(), [anItem('a', '3', { line: 1.5 })]), RangeError);
  assert.equal(snapshotOf(state), before);
});
