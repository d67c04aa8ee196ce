import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aSession, nightAt, startBatchNights } from '../support/batch-nights.ts';
import { sound } from '../support/model-nights.ts';
import { handbook } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

const ids = [1, 2, 3].map(threadId);

test('what one night asks as a batch, the next one reads: half the price, and nothing is asked twice', async (t) => {
  const nights = await startBatchNights(t);
  const first = await nights.night(nightAt(1));
  assert.equal(first.report.outcome, 'done');
  assert.deepEqual(first.report.phase1.deferred.toSorted(), ids);
  assert.deepEqual(first.report.phase1.left, []);
  assert.equal(first.requests.length, 1, 'a few words in the same form show what the server takes');
  assert.ok((first.requests[0]?.texts.join('').length ?? 0) < 100);
  const [batch] = nights.api.batches;
  assert.equal(batch?.endpoint, '/v1/chat/completions');
  assert.equal(nights.api.inputOf(batch?.id ?? '').length, 3);
  const [record] = await nights.recorded();
  assert.deepEqual([record?.id, record?.status, record?.requests.length], [batch?.id, 'validating', 3]);
  assert.doesNotMatch(JSON.stringify(record), /Task|seen/);

  nights.api.begin(batch?.id ?? '');
  const between = await nights.night(nightAt(2));
  assert.deepEqual([between.requests.length, nights.api.batches.length], [0, 1]);
  for (const id of ids) assert.equal(between.report.skipped.get(id), 'waits_for_batch');
  assert.equal((await nights.recorded())[0]?.status, 'in_progress');
  const tip = nights.git('rev-parse', 'refs/memory/state');
  const again = await nights.night(nightAt(2));
  assert.equal(again.report.outcome, 'quiet');
  assert.equal(nights.git('rev-parse', 'refs/memory/state'), tip);

  await nights.api.endAll({ behave: sound });
  const third = await nights.night(nightAt(3));
  assert.equal(third.report.outcome, 'done', JSON.stringify(third.report.batches));
  assert.deepEqual(third.report.phase1.extracted, ids);
  assert.equal(third.requests.filter(isExtraction).length, 0, 'nobody is asked again');
  assert.match(nights.file(handbook), /number 1 was seen[\s\S]*number 2 was seen[\s\S]*number 3 was seen/);
  assert.deepEqual(third.report.batches.ended, [
    { id: batch?.id, status: 'completed', answered: 3, failed: 0, unanswered: 0 },
  ]);
  assert.deepEqual((await nights.recorded())[0]?.requests, []);
  assert.ok(nights.api.files.size > 0);
  const last = await nights.night(nightAt(4));
  assert.equal(nights.api.files.size, 0, 'what is read leaves the server once a state says so');
  assert.deepEqual(await nights.recorded(), []);
  assert.equal(last.requests.length, 0);
  assert.equal((await nights.night(nightAt(5))).report.outcome, 'quiet');
});

test('a second run of the same night reads what is answered by then', async (t) => {
  const nights = await startBatchNights(t);
  await nights.night(nightAt(1));
  await nights.api.endAll({ behave: sound });
  const { report } = await nights.night(nightAt(1));
  assert.deepEqual(report.phase1.extracted, ids);
});

test('what arrives while a batch is under way goes into the next one, and a session that grew is asked anew', async (t) => {
  const nights = await startBatchNights(t);
  await nights.night(nightAt(1));
  nights.write(aSession(1, [{ human: 'please use pnpm, not npm' }]), aSession(4));
  const { report } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.deferred.toSorted(), [threadId(1), threadId(4)]);
  assert.deepEqual(
    nights.api.batches.map(({ id }) => nights.api.inputOf(id).length),
    [3, 2],
  );
  await nights.api.endAll({ behave: sound });
  const last = await nights.night(nightAt(5));
  assert.deepEqual(last.report.phase1.extracted.toSorted(), [1, 2, 3, 4].map(threadId));
  assert.match(nights.file(handbook), /please use pnpm/);
});
