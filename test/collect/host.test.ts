import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { lookAsStranger } from '../../scripts/collect/host.ts';

/** Answers as a host that shows the public `acme/open` to anybody. */
async function aHost(t: TestContext) {
  const asked: { readonly url: string; readonly authorization: string | undefined }[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push({ url, authorization: headers.authorization });
    const status = url.includes('broken') ? 503 : /acme(\/|%2F)open$/.test(url) ? 200 : 404;
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, interfaces: { github: base, gitlab: `${base}/api/v4` } };
}

test('a stranger sees a public repository and no private one, and says who asks to nobody', async (t) => {
  const { asked, interfaces } = await aHost(t);
  const look = (url: string) => lookAsStranger(url, undefined, interfaces);
  const open = { kind: 'seen', isPublic: true, isFork: false };
  assert.deepEqual(await look('git@github.com:acme/open.git'), open);
  assert.deepEqual(await look('https://x:y@gitlab.com/acme/open'), open);
  assert.deepEqual(await look('https://github.com/acme/memory'), { kind: 'hidden' });
  assert.deepEqual(await look('git@gitlab.com:acme/sub/memory.git'), { kind: 'hidden' });
  assert.deepEqual(await look('https://github.com/acme/broken'), { kind: 'unknown', why: 'the host answered 503' });
  assert.deepEqual(
    asked.map(({ url }) => url),
    [
      '/repos/acme/open',
      '/api/v4/projects/acme%2Fopen',
      '/repos/acme/memory',
      '/api/v4/projects/acme%2Fsub%2Fmemory',
      '/repos/acme/broken',
    ],
  );
  assert.deepEqual(new Set(asked.map(({ authorization }) => authorization)), new Set([undefined]));
});

test('where nobody can be asked it stays unknown; a folder of this machine is here', async (t) => {
  const { interfaces } = await aHost(t);
  assert.equal((await lookAsStranger('git@git.example.test:acme/memory', undefined, interfaces)).kind, 'unknown');
  assert.deepEqual(await lookAsStranger('/srv/memory.git', undefined, interfaces), { kind: 'here' });
  const nowhere = { github: 'http://127.0.0.1:9', gitlab: 'http://127.0.0.1:9' };
  assert.equal((await lookAsStranger('https://github.com/acme/open', undefined, nowhere)).kind, 'unknown');
});
