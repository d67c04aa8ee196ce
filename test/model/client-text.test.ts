import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createClient } from '../../scripts/model/client.ts';

const patience = { timeoutSeconds: 5, idleSeconds: 5 };

const bodies: readonly [string, Buffer, string][] = [
  ['in several scripts', Buffer.from('{"said":"运行测试 🚀 é"}'), '{"said":"运行测试 🚀 é"}'],
  ['with a byte order mark, and one within', Buffer.from('\ufeff{"a":"\ufeff"}'), '{"a":"\ufeff"}'],
  ['with bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0x62, 0xe8, 0xbf]), 'a\ufffdb\ufffd'],
  ['that is empty', Buffer.alloc(0), ''],
];

for (const [name, bytes, text] of bodies)
  test(`an answer ${name} is the same text in however many pieces it comes`, async (t) => {
    for (const size of [1, 2, 1_000]) {
      const server = createServer(async (_, response) => {
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size));
          await setImmediate();
        }
        response.end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.after(() => server.close());
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      const answer = await createClient({ baseUrl, apiKey: 'none', ...patience }).get('/models', undefined);
      assert.deepEqual([answer.body, answer.broken], [text, false]);
    }
  });
