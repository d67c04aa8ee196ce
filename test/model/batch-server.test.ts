import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type BatchServer, createBatchServer } from '../../scripts/model/batch-server.ts';
import { startApiServer } from '../support/api-server.ts';
import { type BatchApi, createBatchApi } from '../support/batch-api.ts';

const now = 1_796_000_000;
const line = (url: string) =>
  `${JSON.stringify({ custom_id: 'a', method: 'POST', url, body: { model: 'small', messages: [] } })}\n`;

async function aServer(t: TestContext): Promise<{ server: BatchServer; api: BatchApi; waits: number[] }> {
  const api = createBatchApi(now);
  const http = await startApiServer({ batches: api });
  t.after(() => http.close());
  const waits: number[] = [];
  const wait = async (seconds: number) => void waits.push(seconds);
  return { server: createBatchServer({ baseUrl: http.baseUrl, apiKey: 'test-key-123', wait }), api, waits };
}

async function asked(server: BatchServer, hash: string, url = '/v1/chat/completions') {
  const file = await server.upload(new File([line(url)], 'phase1.jsonl'));
  return server.create({ file, wire: url.endsWith('responses') ? 'responses' : 'chat', runId: 'run', hash }, now);
}

test('a batch is uploaded, asked for and looked at, on both wires', async (t) => {
  const { server, api } = await aServer(t);
  for (const [n, url] of ['/v1/chat/completions', '/v1/responses'].entries()) {
    const batch = await asked(server, `hash ${n}`, url);
    assert.equal(api.batches[n]?.endpoint, url);
    assert.deepEqual(api.batches[n]?.metadata, { made_by: 'commit-to-memory', run: 'run', hash: `hash ${n}` });
    assert.equal((await server.look(batch.id))?.status, 'validating');
    assert.equal(api.files.get(batch.input ?? ''), line(url));
  }
});

test('what may pass is tried again, with the server’s words when it does not', async (t) => {
  const { server, api, waits } = await aServer(t);
  let failures = 2;
  api.fault = (call) => (call === 'POST /v1/files' && failures-- > 0 ? { status: 503, message: 'Busy.' } : null);
  const batch = await asked(server, 'hash');
  assert.equal(waits.length, 2);
  api.fault = () => ({ status: 503, message: 'Closed on Mondays.' });
  await assert.rejects(server.look(batch.id), { kind: 'server', message: /503.*Closed on Mondays/ });
  assert.equal(waits.length, 6);
});

test('a batch is found again by its hash among hundreds, and its pages end with time', async (t) => {
  const { server, api } = await aServer(t);
  for (let n = 0; n < 3; n += 1) {
    api.now = now + n;
    await asked(server, `hash ${n}`);
  }
  const [first] = api.batches;
  const others = api.batches as unknown as object[];
  for (let n = 0; n < 250; n += 1)
    others.push({ ...first, id: `other_${n}`, metadata: null, input_file_id: `file-o${n}`, created_at: now + 10 });
  assert.equal((await server.find({ hash: 'hash 1', files: [] }, now))?.id, 'batch_2');
  assert.equal(await server.find({ hash: 'another', files: [] }, now), null);
  const byFile = { hash: 'not kept', files: [api.batches[0]?.input_file_id ?? ''] };
  assert.equal((await server.find(byFile, now))?.input, byFile.files[0]);
  const calls = api.calls.length;
  assert.equal(await server.find({ hash: 'another', files: [] }, now + 20_000), null);
  assert.equal(api.calls.length, calls + 1, 'what is older is not turned over');
});

test('no such batch is an answer; no such interface is an error that says what to set', async (t) => {
  const { server, api } = await aServer(t);
  assert.equal(await server.look('batch_9'), null);
  assert.equal(await server.cancel('batch_9'), null);
  api.fault = () => ({ status: 404, message: 'Invalid URL' });
  await assert.rejects(server.look('batch_9'), { kind: 'bad_request', hint: /model\.batch: false/ });
  api.fault = () => ({ status: 405, message: 'Method Not Allowed' });
  await assert.rejects(asked(server, 'hash'), { kind: 'bad_request', message: /no Batch API \(405\)/ });
  api.fault = () => ({ status: 401, message: 'Incorrect API key provided: test-key-123.' });
  await assert.rejects(asked(server, 'hash'), (error: Error) => {
    assert.match(error.message, /refuses the key \(401\)/);
    assert.doesNotMatch(error.message, /test-key-123/);
    return true;
  });
});

test('a file that is gone is told, and one that is removed twice is no error', async (t) => {
  const { server, api } = await aServer(t);
  const { input } = await asked(server, 'hash');
  const lines: (string | null)[] = [];
  const begin = () => (text: string | null) => lines.push(text) > 0;
  assert.equal(await server.lines(input ?? '', begin), true);
  assert.deepEqual(lines, [line('/v1/chat/completions').trim()]);
  await server.remove(input ?? '');
  await server.remove(input ?? '');
  assert.equal(api.files.size, 0);
  assert.equal(await server.lines(input ?? '', begin), false);
});

test('an answer that is no batch is not believed', async (t) => {
  for (const body of [
    '{"id":"../x","status":"validating"}',
    '{"id":"batch_1","status":"asleep"}',
    '[]',
    '<html>',
    '',
  ]) {
    const api = createBatchApi(now);
    const serve: BatchApi['serve'] = async () => ({ status: 200, body, type: 'application/json' });
    const http = await startApiServer({ batches: { ...api, serve } });
    t.after(() => http.close());
    const server = createBatchServer({ baseUrl: http.baseUrl, apiKey: 'none', wait: async () => {} });
    await assert.rejects(server.look('batch_1'), { kind: 'server' }, body);
  }
});
