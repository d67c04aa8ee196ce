import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type ReadPorts, readBatches } from '../../scripts/model/batch-read.ts';
import { createBatchServer } from '../../scripts/model/batch-server.ts';
import { type SubmitPorts, submitGathered } from '../../scripts/model/batch-submit.ts';
import { createGatheringModel } from '../../scripts/model/gathering.ts';
import { openJournal } from '../../scripts/model/journal.ts';
import { createJournaledModel } from '../../scripts/model/journaled.ts';
import { createLedger } from '../../scripts/model/ledger.ts';
import { createOpenAiModel } from '../../scripts/model/openai.ts';
import type { ModelRequest } from '../../scripts/model/types.ts';
import { startApiServer } from '../support/api-server.ts';
import type { Behaviour } from '../support/api-types.ts';
import { type BatchApi, createBatchApi } from '../support/batch-api.ts';
import { aRequest } from '../support/model-requests.ts';
import { temporaryFolder } from '../support/repository.ts';

const now = 1_796_000_000;
const order = { runId: 'run', now, watermarkOf: () => now };
const first = (n: number) =>
  aRequest({ subject: `thread-${n}`, attempt: 1, messages: [{ role: 'user', text: `${n}` }] });
const answering = (request: { readonly texts: readonly string[] }): Behaviour => ({
  text: `{"n":"${request.texts[0]}"}`,
});

type Ports = ReadPorts & SubmitPorts;

/** A process: its model, journal and ledger. */
type Process = (isOn?: boolean) => Ports;

async function aWorld(t: TestContext, wire: 'chat' | 'responses'): Promise<{ api: BatchApi; process: Process }> {
  const api = createBatchApi(now);
  const http = await startApiServer({ batches: api, behave: answering });
  t.after(() => http.close());
  const folder = join(temporaryFolder(t), 'journal');
  const wait = async () => {};
  const process: Process = (isOn = true) => {
    const journal = openJournal(folder, (text) => text);
    const ledger = createLedger({ prices: { [aRequest().model]: { input: 1, output: 1 } } });
    const live = createOpenAiModel({ baseUrl: http.baseUrl, apiKey: 'none', wire, wait });
    const gathering = createGatheringModel(createJournaledModel(live, journal, ledger), journal, ledger, {
      isOn,
      share: 0.5,
    });
    const server = createBatchServer({ baseUrl: http.baseUrl, apiKey: 'none', wait });
    return { server, live, gathering, journal, ledger, apiKey: 'none', share: 0.5 };
  };
  return { api, process };
}

async function gather({ gathering }: Ports, requests: readonly ModelRequest[]): Promise<void> {
  for (const request of requests) await assert.rejects(gathering.ask(request), { kind: 'deferred' });
}

async function submitted(ports: Ports) {
  const outcome = await submitGathered(order, ports);
  assert.ok(outcome.outcome === 'submitted');
  return outcome.batch;
}

for (const wire of ['chat', 'responses'] as const) {
  test(`over ${wire} a batch’s reply is that of a single request, for half the price`, async (t) => {
    const { api, process } = await aWorld(t, wire);
    const ports = process();
    await gather(ports, [first(1), first(2)]);
    const batch = await submitted(ports);
    assert.equal(batch.wire, wire);
    await api.endAll({ behave: answering });
    const next = process();
    await readBatches([batch], now, () => false, next);
    const replies = [await next.gathering.ask(first(1)), await next.gathering.ask(first(2))];
    const single = process(false);
    single.journal.clear([]);
    const alone = process(false);
    assert.deepEqual(replies, [await alone.gathering.ask(first(1)), await alone.gathering.ask(first(2))]);
    const [half, whole] = [next.ledger.bySubject('phase1'), alone.ledger.bySubject('phase1')];
    assert.equal(half.get('thread-1')?.usd, (whole.get('thread-1')?.usd ?? Number.NaN) / 2);
  });
}

test('only the first request of a rollout waits; a second try, a repair and phase 2 do not', async (t) => {
  const { process } = await aWorld(t, 'chat');
  const { gathering } = process();
  for (const request of [
    { ...first(1), attempt: 2 },
    { ...first(1), purpose: 'phase2' as const },
  ])
    assert.match((await gathering.ask(request)).text, /"n":"1"/);
  assert.deepEqual(gathering.gathered(), []);
});

test('a request that is asked twice in a night stands once in the batch', async (t) => {
  const { api, process } = await aWorld(t, 'chat');
  const ports = process();
  await gather(ports, [first(1), first(1), first(2)]);
  const batch = await submitted(ports);
  assert.equal(api.inputOf(batch.id).length, 2);
});

test('an answer that was of no use to a process that died is paid for and asked for anew', async (t) => {
  const { api, process } = await aWorld(t, 'chat');
  const ports = process();
  await gather(ports, [first(1)]);
  const batch = await submitted(ports);
  await api.endAll({ behave: answering });
  const dying = process();
  await readBatches([batch], now, () => false, dying);
  await dying.gathering.reject(first(1), 'no use');
  const next = process();
  await readBatches([batch], now, () => false, next);
  await gather(next, [first(1)]);
  assert.equal(next.ledger.bySubject('phase1').get('thread-1')?.answers, 1);
});

test('a note of a batch that is damaged is reported and left out', async (t) => {
  const { process } = await aWorld(t, 'chat');
  const ports = process();
  await gather(ports, [first(1)]);
  const { hash, ...rest } = await submitted(ports);
  ports.journal.submissions.note({ ...rest, hash });
  ports.journal.submissions.note({ ...rest, hash: '0'.repeat(32), runId: 7 as never });
  const next = process();
  assert.match(next.journal.problems.join(), /batch 0{32}\.json is damaged/);
  assert.deepEqual(
    next.journal.submissions.list().map((one) => one.hash),
    [hash],
  );
});
