import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type BatchApi, createBatchApi } from '../support/batch-api.ts';
import { aSession, batchOn } from '../support/batch-nights.ts';
import { type ChildNights, startChildNights } from '../support/child-nights.ts';
import { sound } from '../support/model-nights.ts';
import { command, type Ended } from '../support/nights.ts';
import { git } from '../support/repository.ts';
import { threadId } from '../support/written-sessions.ts';

interface Setting {
  readonly nights: ChildNights;
  readonly api: BatchApi;
  run(name: string, ...args: readonly string[]): Promise<Ended>;
}

/** Two sessions, and a batch about them is under way. */
async function underWay(t: TestContext): Promise<Setting> {
  const api = createBatchApi(Date.parse('2026-11-30T03:00:00Z') / 1000);
  const nights = await startChildNights(t, batchOn, undefined, api);
  nights.write(...[1, 2].map((n) => aSession(n, [], nights.shop)));
  const night = await nights.run();
  assert.equal(night.code, 0, night.stderr);
  assert.match(night.stdout, /^Done: 0 sessions taught something, 2 wait for a new batch/);
  const env = { CTM_CLOCK: '2026-11-30T05:00:00Z' };
  return { nights, api, run: (name, ...args) => command(name, ['--repo', nights.dir, ...args], { env }) };
}

test('status and a dry run show the batches, and which session waits for which', async (t) => {
  const { run, api } = await underWay(t);
  api.begin('batch_1');
  const line = 'batch_1  validating, 2 requests to small, submitted 2026-11-30T03:00:00Z, expires 2026-12-01T03:00:00Z';
  const status = await run('status');
  assert.equal(status.code, 0, status.stderr);
  assert.match(status.stdout, new RegExp(`^batches at the model’s server\n {2}${line}$`, 'm'));
  assert.match(status.stdout, /2 sessions found, 0 would be read now/);
  assert.match(status.stdout, new RegExp(`${threadId(1)}.* waits for batch batch_1`));
  const { batches, sources } = JSON.parse((await run('status', '--json')).stdout);
  assert.deepEqual(batches, [
    {
      id: 'batch_1',
      status: 'validating',
      submitted_at: 1_796_007_600,
      expires_at: 1_796_094_000,
      run_id: batches[0].run_id,
      model: 'small',
      requests: 2,
      reserved_tokens: batches[0].reserved_tokens,
      reserved_usd: 0,
    },
  ]);
  assert.deepEqual(
    sources.skipped.map(({ reason, batch }: Record<string, string>) => [reason, batch]),
    [
      ['waits_for_batch', 'batch_1'],
      ['waits_for_batch', 'batch_1'],
    ],
  );
  const dry = await run('nightly', '--dry-run');
  assert.match(dry.stdout, /^Would read 0 of 2 sessions/);
  assert.match(dry.stdout, new RegExp(`^Batches\n {2}${line}$`, 'm'));
  const calls = api.calls.length;
  assert.equal(JSON.parse((await run('nightly', '--dry-run', '--json')).stdout).batches[0].id, 'batch_1');
  assert.equal(api.calls.length, calls, 'looking asks nobody');
});

test('a batch is cancelled on request; the next night uses what was answered', async (t) => {
  const { nights, run, api } = await underWay(t);
  const before = nights.refs();
  const unknown = await run('phase1', '--cancel-batch', 'batch_7');
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /No batch batch_7 is under way.\s+Under way: batch_1\./);
  const cancelled = await run('phase1', '--cancel-batch', 'batch_1', '--json');
  assert.equal(cancelled.code, 0, cancelled.stderr);
  assert.equal(JSON.parse(cancelled.stdout).status, 'cancelling');
  assert.equal(api.batches[0]?.status, 'cancelling');
  assert.equal(nights.refs(), before);
  const about = (n: number) => new RegExp(`\\] Task ${n}$`, 'm');
  await api.endAll({
    end: 'cancelled',
    behave: (...args) => (about(1).test(args[0].texts.join('\n')) ? sound(...args) : null),
  });
  const late = await run('phase1', '--cancel-batch', 'batch_1');
  assert.match(late.stdout, /has ended already/);
  const next = await nights.run(sound, { CTM_CLOCK: '2026-11-30T23:00:00Z' });
  assert.equal(next.code, 0, next.stderr);
  assert.match(next.stdout, /batch_1 {2}cancelled: 1 answered, 0 failed, 1 without an answer/);
  assert.match(next.stdout, /new: batch_2 {2}validating, 1 request to/);
});

test('a night that only waits for a batch says so, and does it in JSON too', async (t) => {
  const { nights, run } = await underWay(t);
  const waits = await nights.run(sound, { CTM_CLOCK: '2026-11-30T05:00:00Z' });
  assert.equal(waits.code, 0, waits.stderr);
  assert.match(waits.stdout, /^Nothing to do: every session is read or waits/);
  assert.match(waits.stdout, /2 skipped: waits for batch/);
  assert.match(waits.stdout, /^batch {6}waits for batch_1 {2}validating, 2 requests/m);
  const json = JSON.parse((await run('nightly', '--json')).stdout);
  assert.deepEqual(
    [json.batches.under_way.length, json.batches.submitted, json.batches.ended, json.batches.problems],
    [1, null, [], []],
  );
});

test('a session that is forgotten while a batch is asked about it: no name of it stays, its answer is paid and not kept', async (t) => {
  const { nights, run, api } = await underWay(t);
  const forgotten = await run('forget', '--thread', threadId(1), '--yes');
  assert.equal(forgotten.code, 0, forgotten.stderr);
  const record = git(nights.dir, 'show', 'refs/memory/state:night.json');
  assert.doesNotMatch(record, new RegExp(threadId(1)));
  assert.match(record, new RegExp(threadId(2)));
  await api.endAll({ behave: sound });
  const next = await nights.run(sound, { CTM_CLOCK: '2026-11-30T23:00:00Z' });
  assert.equal(next.code, 0, next.stderr);
  assert.match(next.stdout, /batch_1 {2}completed: 2 answered/);
  assert.match(next.stdout, /, 8 requests/, 'both answers, and three turns for each of two scopes');
  const memory = git(nights.dir, 'show', 'HEAD:memories/MEMORY.md');
  assert.match(memory, /number 2 was seen/);
  assert.doesNotMatch(memory, /number 1 was seen/);
});
