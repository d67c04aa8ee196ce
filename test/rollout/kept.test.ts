import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { packed, unpacked } from '../../scripts/rollout/kept-row.ts';
import { sealed, unsealed } from '../../scripts/rollout/seal.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { programMark } from '../../scripts/shared/built.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { type Listings, listingsOf, seenBy, type Wishes } from '../support/listings.ts';
import {
  allSamples,
  claudeId,
  claudeLine,
  codexId,
  codexMessage,
  codexMeta,
  furtherSamples,
} from '../support/sessions.ts';

const secret = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
const forkId = codexId.replace('0001', '0002');

/** A session of Codex, a fork of it, one of Claude Code and a file that is no session. */
function someListings(t: TestContext): Listings {
  const listings = listingsOf(t, (folder) => [
    { agent: 'codex', path: join(folder, 'codex') },
    { agent: 'claude-code', path: join(folder, 'claude') },
  ]);
  const cwd = join(listings.folder, 'shop');
  const said = [codexMessage('user', ['Fix the till']), codexMessage('assistant', ['Fixed'])];
  listings.write('codex/one.jsonl', [codexMeta({ cwd }), ...said]);
  const fork = codexMeta({ id: forkId, cwd, forked_from_id: codexId });
  listings.write('codex/two.jsonl', [fork, ...said, codexMessage('user', ['Undo it'])]);
  listings.write('codex/none.jsonl', ['no session\n']);
  const branch = `try-${secret}`;
  const words = `Use ${secret} for the mirror`;
  listings.write(`claude/${claudeId}.jsonl`, [
    claudeLine('user', words, { cwd: `${cwd}/${secret}`, gitBranch: branch, uuid: secret, requestSessionId: secret }),
  ]);
  return listings;
}

test('a session that did not change is not read to be listed, and once when it is needed', async (t) => {
  const listings = someListings(t);
  const first = listings.next();
  await first.list();
  assert.equal(first.count(), 3);
  const second = listings.next();
  assert.deepEqual(await second.list(), await first.list());
  assert.equal(second.count(), 0);
  await second.read(forkId);
  assert.equal(second.count(), 1);
});

test('of every recorded session is told what its file tells', async (t) => {
  const listings = listingsOf(t, () => [...allSamples, ...furtherSamples]);
  const fresh = await seenBy(listings.next({ isFresh: true }));
  assert.deepEqual(await seenBy(listings.next()), fresh);
  assert.deepEqual(await seenBy(listings.next()), fresh);
});

test('only what changed is read', async (t) => {
  const listings = someListings(t);
  await listings.next().list();
  listings.write('codex/three.jsonl', [
    codexMeta({ id: codexId.replace('0001', '0003') }),
    codexMessage('user', ['Hi']),
  ]);
  const second = listings.next();
  assert.equal((await second.list()).found.length, 4);
  assert.equal(second.count(), 1);
});

test('a fork is counted anew when what it repeats changes', async (t) => {
  const listings = someListings(t);
  const forked = async () => {
    const next = listings.next();
    const { found } = await next.list();
    return [found.find(({ thread }) => thread.id === forkId)?.items, next.count()];
  };
  assert.deepEqual(await forked(), [1, 3]);
  assert.deepEqual(await forked(), [1, 0]);
  const said = codexMessage('user', ['Fix the till']);
  listings.write('codex/one.jsonl', [codexMeta(), said, codexMessage('assistant', ['Not yet'])]);
  assert.deepEqual(await forked(), [2, 2]);
  rmSync(join(listings.folder, 'codex/one.jsonl'));
  assert.deepEqual(await forked(), [3, 0]);
  listings.write('codex/one.jsonl', [codexMeta(), said]);
  assert.deepEqual(await forked(), [2, 1]);
  assert.deepEqual(await forked(), [2, 0]);
});

test('a session that was written a moment ago is read once more: what follows may look like it', async (t) => {
  const listings = someListings(t);
  const path = listings.write('codex/three.jsonl', [codexMeta({ id: codexId.replace('0001', '0003') })]);
  utimesSync(path, new Date(), new Date());
  await listings.next().list();
  const second = listings.next();
  await second.list();
  assert.equal(second.count(), 1);
});

test('what stands beside a session counts', async (t) => {
  const listings = someListings(t);
  const listed = async (count: number) => {
    const next = listings.next();
    assert.deepEqual(await seenBy(next), await seenBy(listings.next({ isFresh: true })));
    const again = listings.next();
    await again.list();
    assert.equal(again.count(), count);
  };
  await listed(0);
  const side = [claudeLine('user', 'Look', { isSidechain: true })];
  for (const name of ['subagents/a.jsonl', 'subagents/b.jsonl', 'tool-results/c.txt']) {
    listings.write(`claude/${claudeId}/${name}`, side);
    const next = listings.next();
    await next.list();
    assert.equal(next.count(), 1, name);
    await listed(0);
  }
});

const others: readonly (readonly [string, (listings: Listings) => Wishes])[] = [
  ['another order of repositories', () => ({ place: { include: ['git.example.test/acme/two'] } })],
  ['another word that keeps sessions out', () => ({ place: { optOutWord: 'undo' } })],
  ['another home', ({ folder }) => ({ place: { home: folder } })],
  ['another secret', () => ({ env: { TILL_PASSWORD: 'Fix the till' } })],
  ['another program', () => ({ program: 'the next one' })],
  ['another source', ({ folder }) => ({ sources: [{ agent: 'codex', path: join(folder, 'codex') }] })],
];

for (const [what, wishesOf] of others) {
  test(`${what}: nothing that was kept without it is used`, async (t) => {
    const listings = someListings(t);
    const remotes = ['one', 'two'].map((name) => `[remote "${name}"]\nurl = https://git.example.test/acme/${name}\n`);
    listings.write('shop/.git/config', remotes);
    await listings.next().list();
    const wishes = wishesOf(listings);
    const other = listings.next(wishes);
    assert.deepEqual(await other.list(), await listings.next({ ...wishes, isFresh: true }).list());
    assert.ok(other.count() > 1);
    const back = listings.next();
    assert.deepEqual(await back.list(), await listings.next({ isFresh: true }).list());
    assert.equal(back.count(), 0);
  });
}

test("a session's repository is the one that its folder has now", async (t) => {
  const listings = someListings(t);
  const repositories = async () => {
    const next = listings.next();
    const { found } = await next.list();
    return [found.map(({ thread }) => thread.repo), next.count()];
  };
  assert.deepEqual(await repositories(), [['none', 'none', 'none'], 3]);
  const moved = (name: string) =>
    listings.write('shop/.git/config', [`[remote "origin"]\nurl = https://git.example.test/acme/${name}\n`]);
  for (const name of ['one', 'two']) {
    moved(name);
    const repo = `git.example.test/acme/${name}`;
    assert.deepEqual(await repositories(), [[repo, repo, repo], 3]);
    assert.deepEqual(await repositories(), [[repo, repo, repo], 0]);
  }
});

test('what is kept holds no secret, no path of this machine, no id of a record and no words but a cleaned title', async (t) => {
  const listings = someListings(t);
  await listings.next().list();
  const [text = ''] = listings.kept();
  assert.match(text, /Use \[REDACTED_SECRET\] for the mirror/);
  for (const hidden of [secret, secret.slice(4, 24), listings.folder, 'one.jsonl', 'Fixed', '/home/dana'])
    assert.ok(!text.includes(hidden), hidden);
  const [name = ''] = readdirSync(listings.cache);
  assert.equal(statSync(join(listings.cache, name)).mode & 0o777, 0o600);
  assert.equal(statSync(listings.cache).mode & 0o777, 0o700);
});

test('what nobody cleaned, or nobody knows how, is not kept', async (t) => {
  const { folder, cache } = someListings(t);
  const place = { include: [], checkouts: { of: () => Promise.resolve(null) }, home: '/home/dana' };
  const own = { folder: cache, program: 'this one', token: 'p' };
  const raw = openRollouts([{ agent: 'codex', path: folder }], place, own);
  await raw.list();
  const unnamed = raw.cleaned({ rollout: (rollout) => rollout, text: (text) => text });
  await unnamed.list();
  await unnamed.cleaned({ rollout: (rollout) => rollout, text: (text) => text, key: () => 'known' }).list();
  assert.equal(existsSync(cache), false);
});

test('a listing that is damaged in any way, or of another form, is none', async (t) => {
  const listings = someListings(t);
  const expected = await listings.next().list();
  const [name = ''] = readdirSync(listings.cache);
  const path = join(listings.cache, name);
  const whole = readFileSync(path);
  const flipped = (at: number) =>
    Buffer.concat([whole.subarray(0, at), Buffer.from([(whole[at] ?? 0) ^ 1]), whole.subarray(at + 1)]);
  const places = Array.from({ length: 25 }, (_, n) => Math.floor((n * whole.length) / 25));
  const damaged = [
    ...places.map((at) => whole.subarray(0, at)),
    ...places.map(flipped),
    Buffer.concat([whole, Buffer.from('\n')]),
    Buffer.from(whole.toString().replace('ctm-listing', 'ctm-listed')),
    Buffer.from('\n'.repeat(100)),
  ];
  for (const bytes of damaged) {
    writeFileSync(path, bytes);
    const next = listings.next();
    assert.deepEqual(await next.list(), expected);
    assert.equal(next.count(), 3, bytes.toString().slice(0, 200));
    assert.deepEqual(readFileSync(path), whole);
  }
});

test('where nothing can be kept, everything is read', async (t) => {
  const listings = someListings(t);
  const expected = await listings.next().list();
  const [name = ''] = readdirSync(listings.cache);
  rmSync(join(listings.cache, name));
  mkdirSync(join(listings.cache, name));
  for (let times = 0; times < 2; times += 1) {
    const next = listings.next();
    assert.deepEqual(await next.list(), expected);
    assert.equal(next.count(), 3);
    assert.deepEqual(readdirSync(listings.cache), [name]);
  }
  rmSync(listings.cache, { recursive: true });
  writeFileSync(listings.cache, 'a file');
  assert.deepEqual(await listings.next().list(), expected);
  assert.equal(readFileSync(listings.cache, 'utf8'), 'a file');
});

test('several that list at the same time leave one whole listing', async (t) => {
  const listings = someListings(t);
  const expected = await listings.next({ isFresh: true }).list();
  const all = await Promise.all(Array.from({ length: 8 }, (_, n) => listings.next({ token: `p${n % 4}` }).list()));
  for (const listed of all) assert.deepEqual(listed, expected);
  assert.equal(readdirSync(listings.cache).length, 1);
  const next = listings.next();
  await next.list();
  assert.equal(next.count(), 0);
});

test('who only looks uses what was kept and leaves it as it is', async (t) => {
  const listings = someListings(t);
  await listings.next({ token: null }).list();
  assert.equal(existsSync(listings.cache), false);
  await listings.next().list();
  const before = listings.kept();
  listings.write('codex/three.jsonl', [codexMeta({ id: codexId.replace('0001', '0003') })]);
  const look = listings.next({ token: null });
  await look.list();
  assert.equal(look.count(), 1);
  assert.deepEqual(listings.kept(), before);
});

test('a listing that fails leaves the last one', async (t) => {
  const listings = someListings(t);
  await listings.next().list();
  const before = listings.kept();
  rmSync(join(listings.folder, 'claude'), { recursive: true });
  await assert.rejects(listings.next().list());
  await assert.rejects(listings.next().list(AbortSignal.abort(new Error('Stopped'))), /Stopped/);
  assert.deepEqual(listings.kept(), before);
});

test('what is gone is kept no longer, and of many settings those that were used last', async (t) => {
  const listings = someListings(t);
  await listings.next().list();
  rmSync(join(listings.folder, 'codex/two.jsonl'));
  await listings.next().list();
  assert.equal(listings.kept()[0]?.split('\n').length, 1 + 3);
  const [first = ''] = readdirSync(listings.cache);
  const old = (name: string, at: number) => utimesSync(join(listings.cache, name), at, at);
  writeFileSync(join(listings.cache, `${'0'.repeat(32)}.jsonl.dead`), '');
  writeFileSync(join(listings.cache, 'notes.txt'), '');
  for (const name of readdirSync(listings.cache)) old(name, 1_577_836_800);
  await listings.next().list();
  for (let n = 0; n < 12; n += 1) {
    const place = { include: [`host/${n}`] };
    const before = new Set(readdirSync(listings.cache));
    await listings.next({ place }).list();
    for (const name of readdirSync(listings.cache)) if (!before.has(name)) old(name, 1_577_836_900 + n);
  }
  const left = readdirSync(listings.cache);
  assert.equal(left.length, 8 + 1);
  assert.ok(left.includes(first) && left.includes('notes.txt'));
});

test('numbers, times and marks of items come back as they went', () => {
  const items = [
    { n: '1', at: null, mark: '' },
    { n: '2.3', at: 1_777_000_000, mark: 'ab' },
    { n: '1:4', at: null, mark: '' },
    { n: '1:5', at: 1_776_999_999, mark: 'cd' },
  ];
  for (let length = 0; length <= items.length; length += 1)
    assert.deepEqual(unpacked(packed(items.slice(0, length))), items.slice(0, length));
});

test('a sealed text is read with its secret alone', () => {
  for (const text of ['', '/home/dana/src/shop', 'C:\\Users\\dana', 'ß🦆'.repeat(500)]) {
    assert.equal(unsealed(sealed(text, 'one'), 'one'), text);
    if (text !== '') assert.notEqual(unsealed(sealed(text, 'one'), 'two'), text);
    assert.notEqual(sealed(text, 'one'), sealed(text, 'two'));
  }
  assert.notEqual(sealed('/home/dana/one', 'x').slice(0, 20), sealed('/home/dana/two', 'x').slice(0, 20));
});

test('a redactor’s key follows the values that it removes, and tells none', () => {
  const key = (env: Readonly<Record<string, string>>) => createRedactor(env).key();
  assert.equal(key({}), key({ PATH: '/usr/bin:/bin', LANG: 'C' }));
  assert.equal(key({ A_TOKEN: secret }), key({ ANOTHER_TOKEN: secret, PATH: '/usr/bin' }));
  assert.notEqual(key({ A_TOKEN: secret }), key({}));
  assert.notEqual(key({ A_TOKEN: secret }), key({ A_TOKEN: `${secret}x` }));
  assert.ok(!key({ A_TOKEN: secret }).includes(secret.slice(0, 8)));
});

test('what a program is known by follows its sources', () => {
  assert.equal(programMark(['rollout', 'shared']), programMark(['rollout', 'shared']));
  assert.notEqual(programMark(['rollout']), programMark(['shared']));
});
