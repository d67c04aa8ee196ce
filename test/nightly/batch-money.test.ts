import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { usdLeft } from '../../scripts/nightly/accounts.ts';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { currentState } from '../../scripts/state/current.ts';
import { listRuns } from '../../scripts/state/runs.ts';
import { aSession, type BatchNights, batchOn, nightAt, startBatchNights } from '../support/batch-nights.ts';
import { type Nights, sound, startNights } from '../support/model-nights.ts';
import { env } from '../support/repository.ts';
import { threadId } from '../support/written-sessions.ts';

const prices =
  '  prices: {extract: {input: 1000, cached: 1000, output: 1000}, consolidation: {input: 1, cached: 1, output: 1}}\n';
const priced = { config: `${batchOn}${prices}` };

/** The tables of the state ref, and the row of the last run apart. */
async function tablesOf(nights: Nights): Promise<{ tables: Record<string, unknown>; run: unknown }> {
  const { tables } = JSON.parse(nights.git('show', 'refs/memory/state:state.sqlite.json'));
  const { runs: _, ...others } = tables;
  return { tables: others, run: listRuns((await currentState(await openRepository(nights.dir, { env }))).state, 1)[0] };
}

/** Three sessions that are noted on a first night and read on the third, without a batch. */
async function askedOneByOne(t: TestContext): Promise<Nights> {
  const nights = await startNights(t);
  nights.write(...[1, 2, 3].map((n) => aSession(n)));
  await nights.play({ at: nightAt(1), config: prices, goesOn: () => false });
  await nights.play({ at: nightAt(3), config: prices });
  return nights;
}

async function asked(t: TestContext, config = priced): Promise<BatchNights> {
  const nights = await startBatchNights(t);
  await nights.night(nightAt(1), config);
  return nights;
}

test('rows, baselines and memory files of a batch’s answers are byte for byte those of single ones; the cost is half', async (t) => {
  const batched = await asked(t);
  await batched.api.endAll({ behave: sound });
  await batched.night(nightAt(3), priced);
  const single = await askedOneByOne(t);
  const [a, b] = [await tablesOf(batched), await tablesOf(single)];
  assert.deepEqual(a.tables, b.tables);
  assert.equal(batched.git('rev-parse', 'HEAD:memories'), single.git('rev-parse', 'HEAD:memories'));
  assert.equal(
    batched.git('rev-parse', 'refs/memory/state:baseline'),
    single.git('rev-parse', 'refs/memory/state:baseline'),
  );
  const [mine, theirs] = [a.run, b.run] as { runId: string; usage: { phase1: Record<string, number> } }[];
  assert.equal(mine?.runId, theirs?.runId);
  const usd = ({ usage }: { usage: { phase1: Record<string, number> } }) => usage.phase1.micro_usd ?? Number.NaN;
  assert.ok(usd(theirs as never) > 0);
  assert.equal(usd(mine as never), Math.round(usd(theirs as never) / 2));
  assert.deepEqual({ ...mine?.usage.phase1, micro_usd: 0 }, { ...theirs?.usage.phase1, micro_usd: 0 });
});

test('what a batch can cost at most is held in the month’s budget until it is read', async (t) => {
  const nights = await asked(t);
  const repository = await openRepository(nights.dir, { env });
  const now = parseIsoTime(nightAt(2)) ?? 0;
  const [record] = await nights.recorded();
  const held = (record?.reserved.microUsd ?? 0) / 1_000_000;
  const left = async () => {
    const { state, night } = await currentState(repository);
    return usdLeft(100, state, night ?? assert.fail(), now);
  };
  const spent = 100 - (await left()) - held;
  assert.ok(held > 10 && held < 40, `${held}`);
  assert.ok(spent > 0 && spent < 1, 'the trial of its form');
  await nights.api.endAll({ behave: sound });
  await nights.night(nightAt(2), priced);
  assert.ok((await left()) > 90);
});

test('no more goes into a batch than the cap has room for; the rest waits', async (t) => {
  const nights = await startBatchNights(t);
  const first = await nights.night(nightAt(1), { ...priced, usdPerMonth: 20 });
  const count = first.report.batches.submitted?.requests.length ?? 0;
  assert.ok(count > 0 && count < 3, `${count}`);
  assert.equal(first.report.phase1.left.length, 3 - count);
  assert.deepEqual(nights.api.inputOf('batch_1').length, count);
  await nights.api.endAll({ behave: sound });
  const second = await nights.night(nightAt(3), { ...priced, usdPerMonth: 0.0001 });
  assert.equal(second.report.phase1.extracted.length, count, 'what is paid for is read whatever is left');
  assert.equal(nights.api.batches.length, 1);
});

test('the tokens of a batch count against the cap of the night that asks, not of the one that reads', async (t) => {
  const [record] = await (await asked(t)).recorded();
  const each = (record?.reserved.tokens ?? Number.NaN) / 3;
  const nights = await startBatchNights(t, 2);
  const tight = { config: `${batchOn}budget: {phase1_tokens: ${Math.ceil(1.9 * each)}}\n` };
  const first = await nights.night(nightAt(1), tight);
  assert.deepEqual(first.report.phase1.deferred.length, 1);
  await nights.api.endAll({ behave: sound });
  const second = await nights.night(nightAt(3), tight);
  assert.deepEqual([second.report.phase1.extracted.length, second.report.phase1.deferred.length], [1, 1]);
});

test('old sessions that were asked for once are read when their answer comes, whatever their age', async (t) => {
  const nights = await startBatchNights(t, 0);
  nights.write({ ...aSession(1), at: '2026-09-01T10:00:00Z' });
  const first = await nights.night(nightAt(1), { wishes: { since: 0 } });
  assert.equal(first.report.phase1.deferred.length, 1);
  await nights.api.endAll({ behave: sound });
  const { report } = await nights.night(nightAt(3));
  assert.deepEqual(report.phase1.extracted, [threadId(1)]);
});
