import assert from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { type BatchNights, nightAt, startBatchNights } from '../support/batch-nights.ts';
import { type Behave, sound } from '../support/model-nights.ts';
import { handbook } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

const [one, two, three] = [1, 2, 3].map(threadId);

async function underWay(t: TestContext): Promise<BatchNights> {
  const nights = await startBatchNights(t);
  await nights.night(nightAt(1));
  return nights;
}

/** Whether a request is about the n-th session. */
function isAbout(request: Parameters<Behave>[0], n: number): boolean {
  return new RegExp(`\\] Task ${n}$`, 'm').test(request.texts.join('\n'));
}

/** Answers the sessions of this list soundly, and others with this. */
function only(wanted: readonly number[], others: ReturnType<Behave> | null) {
  return (...args: Parameters<Behave>) => (wanted.some((n) => isAbout(args[0], n)) ? sound(...args) : others);
}

test('requests that fail in a batch count as failures in the server’s words, and go into the next one', async (t) => {
  const nights = await underWay(t);
  const overloaded = { status: 503, error: { message: 'The engine is overloaded on Mondays.' } };
  await nights.api.endAll({ behave: only([1], overloaded) });
  const second = await nights.night(nightAt(3));
  assert.equal(second.report.outcome, 'partly');
  assert.deepEqual(second.report.phase1.extracted, [one]);
  assert.deepEqual(
    second.report.phase1.failed.map(({ threadId: id, failure }) => [id, failure]),
    [
      [two, 'server'],
      [three, 'server'],
    ],
  );
  assert.match(second.report.phase1.failed[0]?.detail ?? '', /In its batch: .*503.*overloaded on Mondays/);
  assert.equal(nights.api.batches.length, 1);
  const third = await nights.night(nightAt(4));
  assert.deepEqual(third.report.phase1.deferred.toSorted(), [two, three]);
  await nights.api.endAll({ behave: sound });
  assert.deepEqual((await nights.night(nightAt(5))).report.phase1.extracted, [two, three]);
});

for (const [status, code] of [
  [401, 'invalid_api_key'],
  [429, 'insufficient_quota'],
] as const) {
  test(`one request that a batch refuses with ${code} stops no night: the others’ answers are used`, async (t) => {
    const nights = await underWay(t);
    const refused = { status, error: { message: 'Not this one.', code } };
    await nights.api.endAll({ behave: only([1, 2], refused) });
    const { report } = await nights.night(nightAt(3));
    assert.deepEqual(report.phase1.extracted, [one, two]);
    assert.deepEqual(
      report.phase1.failed.map(({ threadId: id }) => id),
      [three],
    );
  });
}

test('a session that is too long for the model in a batch is asked at once with half of it', async (t) => {
  const nights = await underWay(t);
  const long = { status: 400, error: { message: 'Too long.', code: 'context_length_exceeded' } };
  await nights.api.endAll({ behave: only([1, 2], long) });
  const { report, requests } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
  assert.equal(requests.filter(isExtraction).length, 1);
});

test('an answer that does not hold is repaired at once', async (t) => {
  const nights = await underWay(t);
  await nights.api.endAll({ behave: only([1, 2], { text: 'I would rather not say it as JSON.' }) });
  const { report, requests } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
  assert.equal(requests.filter(isExtraction).length, 1);
});

for (const end of ['expired', 'cancelled'] as const) {
  test(`of a batch that ${end === 'expired' ? 'expired' : 'was cancelled'} the answers are used, and the rest goes into a new one`, async (t) => {
    const nights = await underWay(t);
    await nights.api.endAll({ end, behave: only([1], null) });
    const { report } = await nights.night(nightAt(3));
    assert.equal(report.outcome, 'done');
    assert.deepEqual(report.phase1.extracted, [one]);
    assert.deepEqual(report.phase1.failed, []);
    assert.deepEqual(report.batches.ended[0], { id: 'batch_1', status: end, answered: 1, failed: 0, unanswered: 2 });
    assert.deepEqual(
      nights.api
        .inputOf('batch_2')
        .map(({ custom_id: key }) => key)
        .toSorted(),
      (await nights.recorded())[1]?.requests.map(({ key }) => key),
    );
    await nights.api.endAll({ behave: sound });
    assert.deepEqual((await nights.night(nightAt(5))).report.phase1.extracted, [two, three]);
  });
}

test('a batch that could not be begun costs no attempt; its reason is told and the next one is half as large', async (t) => {
  const nights = await startBatchNights(t, 4);
  nights.api.invalid = 'Enqueued token limit reached for small.';
  await nights.night(nightAt(1));
  nights.api.invalid = null;
  const { report } = await nights.night(nightAt(2));
  assert.equal(report.outcome, 'partly');
  assert.match(
    report.batches.problems.join(),
    /batch_1 could not be begun.*Enqueued token limit reached.*batch: false/,
  );
  assert.deepEqual(report.phase1.failed, []);
  assert.deepEqual([report.batches.submitted?.requests.length, report.phase1.left.length], [2, 2]);
});

test('results come in any order and twice; damaged and foreign ones are left out and told', async (t) => {
  const nights = await underWay(t);
  await nights.api.endAll({
    behave: sound,
    output: ([a = '', b = '', c = '']) => [
      c,
      '{"custom_id": ',
      a,
      a.replace('number', 'numeral'),
      JSON.stringify({ ...JSON.parse(b), custom_id: 'f'.repeat(64) }),
      '"a text"',
      JSON.stringify({ custom_id: JSON.parse(b).custom_id, response: 'no object', error: 7 }),
      `{"custom_id":"${'x'.repeat(9_000_000)}"}`,
      '',
      b,
    ],
  });
  const { report } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
  assert.match(report.batches.problems.join(), /4 damaged, 1 of no request of ours, 1 repeated/);
  assert.doesNotMatch(nights.file(handbook), /numeral/);
});

test('a file of results without an end is left where it has far more lines than requests', async (t) => {
  const nights = await underWay(t);
  const flood = Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ custom_id: `number ${n}` }));
  await nights.api.endAll({ behave: sound, output: (lines) => [...lines, ...flood] });
  const { report } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
  assert.match(report.batches.problems.join(), / 1006 of no request of ours/);
});

test('a secret in a batch’s answer is nowhere in what is written', async (t) => {
  const nights = await underWay(t);
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const telling: Behave = (request, index) => {
    const answer = sound(request, index);
    return 'text' in answer ? { ...answer, text: answer.text?.replaceAll('was seen', `was ${secret}`) ?? '' } : answer;
  };
  await nights.api.endAll({ behave: telling });
  const { report } = await nights.night(nightAt(3));
  assert.equal(report.phase1.extracted.length, 3);
  assert.equal(nights.git('grep', '-c', 'REDACTED\\|redacted', 'HEAD', '--', 'memories').length > 0, true);
  assert.throws(() => nights.git('grep', secret, 'HEAD', 'refs/memory/state'));
});

test('results that are gone from the server are asked for again, and it is told', async (t) => {
  const nights = await underWay(t);
  await nights.api.endAll({ behave: sound });
  nights.api.expireFile(nights.api.batches[0]?.output_file_id ?? '');
  const { report } = await nights.night(nightAt(3));
  assert.match(report.batches.problems.join(), /batch_1 has ended, but its results are gone/);
  assert.equal(report.batches.submitted?.requests.length, 3);
});

test('a batch that the server does not know is asked for again, one that it cannot show now waits', async (t) => {
  const nights = await underWay(t);
  nights.api.fault = (call) => (call === 'GET /v1/batches/batch_1' ? { status: 500, message: 'Oops.' } : null);
  const waits = await nights.night(nightAt(2));
  assert.match(waits.report.batches.problems.join(), /batch_1 could not be looked at and waits: .*Oops/);
  assert.equal(waits.report.skipped.get(one ?? ''), 'waits_for_batch');
  nights.api.fault = (call) => (call === 'GET /v1/batches/batch_1' ? { status: 404, message: 'No batch.' } : null);
  const { report } = await nights.night(nightAt(3));
  assert.deepEqual(report.batches.ended[0]?.status, 'gone');
  assert.match(report.batches.problems.join(), /not known to the server/);
  assert.equal(report.batches.submitted?.requests.length, 3);
});

test('an answer to the creation that gets lost does not buy a second batch', async (t) => {
  const nights = await startBatchNights(t);
  let lost = 0;
  nights.api.fault = (call) => (call === 'POST /v1/batches' && lost++ === 0 ? 'lost' : null);
  const { report } = await nights.night(nightAt(1));
  assert.equal(report.batches.submitted?.id, 'batch_1');
  assert.equal(nights.api.batches.length, 1);
});

test('where every answer to the creation gets lost the night goes on, and the next one finds the batch', async (t) => {
  const nights = await startBatchNights(t);
  nights.api.fault = (call) => (/\/v1\/batches/.test(call) ? 'lost' : null);
  const { report } = await nights.night(nightAt(1));
  assert.equal(report.outcome, 'partly');
  assert.match(report.batches.problems.join(), /No batch could be asked for/);
  assert.deepEqual([report.phase1.left.length, nights.api.batches.length], [3, 1]);
  nights.api.fault = () => null;
  await nights.api.endAll({ behave: sound });
  const next = await nights.night(nightAt(2));
  assert.deepEqual(next.report.phase1.extracted, [one, two, three]);
  assert.equal(nights.api.batches.length, 1);
});

test('a server without a Batch API: the night stops, says what to set, and nothing is lost', async (t) => {
  const nights = await startBatchNights(t);
  nights.api.fault = () => ({ status: 404, message: 'Invalid URL (POST /v1/files)' });
  await assert.rejects(nights.night(nightAt(1)), (error: unknown) => {
    assert.ok(error instanceof ModelError);
    assert.match(error.message, /has no Batch API \(404\)/);
    assert.match(error.hint, /model\.batch: false/);
    return true;
  });
  const { report } = await nights.night(nightAt(2), { config: '' });
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
});

test('a batch that is under way when batch is switched off is read all the same, and the rest asked one by one', async (t) => {
  const nights = await underWay(t);
  const waits = await nights.night(nightAt(2), { config: '' });
  assert.equal(waits.report.skipped.get(one ?? ''), 'waits_for_batch');
  await nights.api.endAll({ end: 'cancelled', behave: only([1, 2], null) });
  const { report, requests } = await nights.night(nightAt(3), { config: '' });
  assert.deepEqual(report.phase1.extracted, [one, two, three]);
  assert.equal(requests.filter(isExtraction).length, 1);
  assert.equal(nights.api.batches.length, 1);
});

test('what a server refuses of a request is learned before a batch is asked for', async (t) => {
  const nights = await startBatchNights(t);
  const stubborn: Behave = (request, index) =>
    request.body.reasoning_effort === undefined
      ? sound(request, index)
      : { status: 400, error: { message: "Unsupported parameter: 'reasoning_effort'.", param: 'reasoning_effort' } };
  await nights.night(nightAt(1), { behave: stubborn });
  const [line] = nights.api.inputOf('batch_1');
  assert.equal(line?.body.reasoning_effort, undefined);
  assert.equal(line?.body.stream, undefined);
  assert.ok(line?.body.response_format);
});

for (const [why, change] of [
  ['the night’s time was over', { options: { goesOn: () => false }, hidden: false }],
  ['their sessions are not on this machine', { options: {}, hidden: true }],
] as const) {
  test(`answers that nobody could use because ${why} are read again by the next night, and cost once`, async (t) => {
    const nights = await underWay(t);
    await nights.api.endAll({ behave: sound });
    if (change.hidden) {
      renameSync(nights.sessions, `${nights.sessions}.away`);
      mkdirSync(nights.sessions);
    }
    const second = await nights.night(nightAt(2), change.options);
    assert.deepEqual(second.report.phase1.extracted, []);
    assert.equal(second.engine.ledger.total('phase1').answers, 3);
    const [record] = await nights.recorded();
    assert.deepEqual([record?.status, record?.requests.length, record?.reserved.microUsd], ['completed', 3, 0]);
    if (change.hidden) {
      rmSync(nights.sessions, { recursive: true });
      renameSync(`${nights.sessions}.away`, nights.sessions);
    }
    rmSync(join(nights.dir, '.git/memory/journal'), { recursive: true });
    const third = await nights.night(nightAt(3));
    assert.deepEqual(third.report.phase1.extracted, [one, two, three]);
    assert.equal(third.engine.ledger.total('phase1').answers, 0);
    assert.equal(third.requests.filter(isExtraction).length, 0);
    assert.deepEqual((await nights.recorded())[0]?.requests, []);
  });
}
