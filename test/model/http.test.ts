import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { openConnections } from '../../scripts/model/http.ts';

const text = '{"said":"运行测试 🚀"}'.repeat(2_000);

/** The answer's bytes as far as they were taken. */
async function asked(t: TestContext, answer: RequestListener, most = Number.POSITIVE_INFINITY): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const outgoing = { method: 'POST', url: `http://127.0.0.1:${port}/v1`, headers: {}, body: '{}' };
  const incoming = await openConnections().send(outgoing, null);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  await incoming.read((chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    return bytes < most;
  });
  return Buffer.concat(chunks).toString('utf8');
}

for (const [coding, body] of [
  ['identity', Buffer.from(text)],
  ['gzip', gzipSync(text)],
  ['deflate', deflateSync(text)],
  ['br', brotliCompressSync(text)],
] as const)
  test(`a body in ${coding} is read as it was before`, async (t) => {
    const got = await asked(t, (_, response) => response.writeHead(200, { 'content-encoding': coding }).end(body));
    assert.equal(got, text);
  });

test('a compressed body that breaks off, or is none, is a broken connection', async (t) => {
  const half = gzipSync(text).subarray(0, 60);
  await assert.rejects(asked(t, (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(half)));
  await assert.rejects(asked(t, (_, response) => response.writeHead(200, { 'content-encoding': 'br' }).end(text)));
  const cut: RequestListener = (_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 500 });
    response.write(half, () => response.destroy());
  };
  await assert.rejects(asked(t, cut));
});

test('what unfolds without end is left where enough of it came', async (t) => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20));
  const got = await asked(
    t,
    (_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    100_000,
  );
  assert.ok(got.length >= 100_000 && got.length < 1_000_000, `${got.length}`);
});
