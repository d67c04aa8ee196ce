import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { initialize, request, type Served, scratchFolder, startMcp, startRaw } from '../support/mcp.ts';
import { writeFiles } from '../support/repository.ts';

const outside = scratchFolder({ 'secret.md': 'needle outside\n', 'folder/secret.md': 'needle outside\n' });
const clone = scratchFolder({
  'memories/MEMORY.md': 'needle\n',
  'memories/.hidden.md': 'needle\n',
  'memories/.git/config': 'needle\n',
  'memories/binary.md': Buffer.from([0x6e, 0x65, 0x65, 0x64, 0x6c, 0x65, 0xff, 0xfe, 0x00]),
  'memories/__proto__/constructor.md': 'needle\n',
  'memories/__proto__.md': 'needle\n',
  'memories/zero\u200bwidth.txt': 'nee\u200bdle \u{e0041}tag\n',
  'memories/big.md': `${'x'.repeat(10_485_700)}\nneedle\n`,
  'memories/bigger.md': `${'x'.repeat(10_485_760)}\nneedle\n`,
  'memories/deep/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q.md': 'needle\n',
});
symlinkSync(join(outside, 'secret.md'), join(clone, 'memories/link.md'));
symlinkSync(join(outside, 'folder'), join(clone, 'memories/linked'));
symlinkSync(join(clone, 'memories'), join(clone, 'memories/loop'));
execFileSync('mkfifo', [join(clone, 'memories/pipe.md')]);
const empty = scratchFolder();
let served: Served;
let late: Served;
// All at once: most of their time is the start of the process.
const broken = startRaw(['--memory', clone, '--cwd', clone]);
const ending = startRaw(['--memory', clone, '--cwd', clone]);
const unasked = startRaw(['--memory', clone]);
const wrong = startRaw(['--memory', join(clone, 'nowhere')]);

before(async () => {
  [served, late] = await Promise.all([
    startMcp(['--memory', clone, '--cwd', clone]),
    startMcp(['--memory', empty, '--cwd', empty]),
  ]);
});

test('hidden files, links and what is no file are not listed', async () => {
  const { entries } = await served.call<{ entries: { path: string }[] }>('list');
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['MEMORY.md', '__proto__', '__proto__.md', 'big.md', 'bigger.md', 'binary.md', 'deep', 'zero\u200bwidth.txt'],
  );
});

for (const path of ['link.md', 'linked', 'linked/secret.md', 'loop/MEMORY.md']) {
  for (const [tool, more] of [
    ['list', {}],
    ['read', {}],
    ['search', { queries: ['needle'] }],
  ] as const)
    test(`${tool} follows no link at ${path}`, async () => {
      assert.match(await served.refusal(tool, { path, ...more }), /symbolic link stands at/);
    });
}

test('a search reads nothing hidden, linked, binary or larger than 10 MiB, and names count for nothing', async () => {
  const { matches } = await served.call<{ matches: { path: string; content: string }[] }>('search', {
    queries: ['needle'],
  });
  assert.deepEqual(
    matches.map(({ path }) => path),
    ['MEMORY.md', '__proto__.md', '__proto__/constructor.md', 'big.md', 'zero\u200bwidth.txt'],
  );
});

test('what no reader sees does not reach the model', async () => {
  const { content } = await served.call<{ content: string }>('read', { path: 'zero\u200bwidth.txt' });
  assert.equal(content, 'needle tag');
});

test('a ranked search of such a folder ends, too', async () => {
  const { matches } = await served.call<{ matches: { path: string }[] }>('search', {
    queries: ['needle'],
    match_mode: { type: 'ranked' },
  });
  assert.ok(matches.some(({ path }) => path === '__proto__.md' || path === '__proto__/constructor.md'));
});

for (const [path, says] of [
  ['binary.md', /no UTF-8 text/],
  ['bigger.md', /more than 10485760 bytes/],
  ['pipe.md', /not found/],
] as const) {
  test(`${path} is not read, and the answer says why`, async () => {
    assert.match(await served.refusal('read', { path }), says);
  });
}

test('a file of 10 MB in one line is cut, not counted', async () => {
  const { content, truncated } = await served.call<{ content: string; truncated: boolean }>('read', { path: 'big.md' });
  assert.equal(truncated, true);
  assert.ok(content.length < 200_000);
});

test('a file that becomes a link is refused from then on', async () => {
  writeFiles(clone, { 'memories/turns/a.md': 'fine\n' });
  assert.equal((await served.call<{ content: string }>('read', { path: 'turns/a.md' })).content, 'fine');
  rmSync(join(clone, 'memories/turns/a.md'));
  symlinkSync(join(outside, 'secret.md'), join(clone, 'memories/turns/a.md'));
  assert.match(await served.refusal('read', { path: 'turns/a.md' }), /symbolic link/);
});

test('without a memory every tool says so, and one that comes later is seen', async () => {
  assert.match(await late.refusal('list', {}), /no memory here yet/);
  assert.match(await late.refusal('search', { queries: ['a'], match_mode: { type: 'ranked' } }), /no memory here yet/);
  assert.deepEqual((await late.client.listResources()).resources, []);
  assert.match(late.stderr(), /holds no memory yet/);
  mkdirSync(join(empty, 'memories'));
  assert.deepEqual((await late.call<{ entries: unknown[] }>('list')).entries, []);
  rmSync(join(empty, 'memories'), { recursive: true });
  symlinkSync(join(clone, 'memories'), join(empty, 'memories'));
  assert.match(await late.refusal('read', { path: 'MEMORY.md' }), /symbolic link/);
});

test('broken frames, a batch and a message of 2 MB end nothing; standard output holds the protocol alone', async () => {
  const raw = broken;
  raw.send(initialize);
  raw.send('no json at all\n\n{"half":\n[1,2]\n{"jsonrpc":"1.0","id":7}\n');
  raw.send(Buffer.from([0xff, 0xfe, 0x0a]).toString('latin1'));
  raw.send(request(1, 'tools/list'));
  await raw.answerTo(1);
  raw.send(
    `${JSON.stringify({ method: 'tools/call', params: { name: 'read', arguments: { path: 'x'.repeat(2_000_000) } }, jsonrpc: '2.0', id: 2 })}\n`,
  );
  const { error } = await raw.answerTo(2);
  assert.match(error?.message ?? '', /at most 1048576 bytes/);
  raw.send(request(3, 'tools/call', { name: 'read', arguments: 'MEMORY.md' }));
  assert.ok((await raw.answerTo(3)).error);
  raw.send(
    request(4, 'tools/call', { name: 'read', arguments: JSON.parse('{"path":"MEMORY.md","__proto__":{"x":1}}') }),
  );
  await raw.answerTo(4);
  raw.send(request(5, 'no/such/method'));
  assert.equal((await raw.answerTo(5)).error?.code, -32601);
  assert.ok(raw.messages().every(({ jsonrpc }) => jsonrpc === '2.0'));
  assert.match(raw.stderr(), /no JSON-RPC and was passed over/);
  raw.kill('SIGTERM');
  assert.deepEqual(await raw.ended, { code: 0, signal: null });
});

test('when the input ends, what was asked is answered and the server ends with 0', async () => {
  const raw = ending;
  raw.send(initialize);
  raw.send(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  for (const id of [1, 2, 3])
    raw.send(request(id, 'tools/call', { name: 'search', arguments: { queries: ['needle'] } }));
  raw.send(request(4, 'tools/call', { name: 'read', arguments: { path: 'MEMORY.md' } }));
  raw.send('{"jsonrpc":"2.0","id":9,"method":"tools/li');
  raw.end();
  assert.deepEqual(await raw.ended, { code: 0, signal: null });
  assert.deepEqual(
    raw
      .messages()
      .map(({ id }) => id)
      .sort(),
    [0, 1, 2, 3, 4],
  );
});

test('an input that ends at once is no error; a folder that is not there is one', async () => {
  unasked.end();
  assert.deepEqual(await unasked.ended, { code: 0, signal: null });
  assert.deepEqual(await wrong.ended, { code: 2, signal: null });
  assert.match(wrong.stderr(), /is not there/);
  assert.deepEqual(wrong.messages(), []);
});
