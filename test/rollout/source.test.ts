import assert from 'node:assert/strict';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeRollout } from '../../scripts/rollout/canonical.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { temporaryFolder } from '../support/repository.ts';
import {
  allSamples,
  brief,
  claudeId,
  claudeLine,
  codexId,
  codexMessage,
  codexMeta,
  openSamples,
  samples,
} from '../support/sessions.ts';

test('all samples are found, by thread id, with their repositories', async () => {
  const { found, ignored } = await openSamples().list();
  assert.equal(found.length, 33);
  const ids = found.map((entry) => entry.thread.id);
  assert.deepEqual(ids, [...ids].sort());
  const of = (id: string) => found.find((entry) => entry.thread.id.startsWith(id))?.thread;
  assert.deepEqual([of('5d2ce5b0')?.repo, of('5d2ce5b0')?.cwd], ['git.example.test/acme/orders-api', '.']);
  assert.deepEqual([of('b39bc8f2')?.repo, of('b39bc8f2')?.cwd], ['git.example.test/acme/orders-api', 'src']);
  assert.deepEqual([of('01a229b1-c5f6')?.repo, of('01a229b1-c5f6')?.cwd], ['git.example.test/acme/etl-job', '.']);
  assert.deepEqual([of('01a229b3-2f01')?.repo, of('01a229b3-2f01')?.cwd], ['local:0123456789ab', '.']);
  assert.deepEqual([of('49d153ee')?.repo, of('49d153ee')?.cwd], ['none', '~/src/orders-wt']);
  assert.equal(of('28c2e4cf')?.title, 'Run the slow check [[scn:i4]]');
  assert.equal(of('80f6911a')?.title, 'See this screenshot [[scn:s8]]');
  const reasons = ignored.map((entry) => `${entry.path.slice(samples.length + 1)}: ${entry.reason}`);
  assert.deepEqual(reasons, [
    'claude-code-real/NOTICE.md: not a .jsonl file',
    'claude-code/-home-dana-src-orders-api/memory/MEMORY.md: not a .jsonl file',
    'claude-code/-home-dana-src-orders-api/memory/no-jest.md: not a .jsonl file',
  ]);
});

test("no sample shows a user's home folder", async () => {
  const rollouts = openSamples();
  for (const { thread } of (await rollouts.list()).found)
    assert.doesNotMatch(
      writeRollout(await rollouts.read(thread.id)),
      /\/home\/dana|\/Users\/dana|-home-dana/,
      thread.id,
    );
});

test('the order of sources and files changes nothing', async () => {
  const forward = openSamples();
  const backward = openSamples([...allSamples].reverse());
  assert.deepEqual(await forward.list(), await backward.list());
  for (const { thread } of (await forward.list()).found)
    assert.equal(writeRollout(await forward.read(thread.id)), writeRollout(await backward.read(thread.id)));
});

test('a fork keeps only what is its own', async () => {
  const rollouts = openSamples();
  const fork = await rollouts.read('4fc95faa-f9a2-400b-ad48-a3394687a78b');
  assert.deepEqual(brief(fork.items, 30), [
    '35 human/text What unit does discount return',
    '45 assistant/text Short answer before compaction',
  ]);
  assert.equal(fork.skipped.repeated, 16);
  assert.equal(fork.thread.title, 'What unit does discount return? [[scn:s7]]');
  assert.equal(fork.thread.startedAt, Date.parse('2026-11-29T23:31:26Z') / 1000);
  const original = await rollouts.read('5d2ce5b0-6d2d-4d1b-bd33-55c096097c25');
  assert.equal(original.items.length, 20);
  assert.equal(original.skipped.repeated, undefined);
});

test('a fork whose original is gone keeps everything', async (t) => {
  const folder = temporaryFolder(t);
  const name = '4fc95faa-f9a2-400b-ad48-a3394687a78b.jsonl';
  cpSync(join(samples, 'claude-code/-home-dana-src-orders-api', name), join(folder, name));
  const { found } = await openSamples([{ agent: 'claude-code', path: folder }]).list();
  assert.deepEqual(
    found.map((entry) => [entry.items, entry.humanItems]),
    [[18, 3]],
  );
});

test("spec: a fork of Codex starts with its parent's items, which stay the parent's", async (t) => {
  const folder = temporaryFolder(t);
  const child = codexId.replace('0001', '0002');
  const shared = [codexMessage('user', ['Fix it']), codexMessage('assistant', ['Fixed'])];
  write(folder, `rollout-a.jsonl`, [codexMeta(), ...shared, codexMessage('user', ['Thanks'])]);
  write(folder, `0-rollout-b.jsonl`, [
    codexMeta({ id: child, forked_from_id: codexId }),
    codexMeta(),
    ...shared,
    codexMessage('user', ['Undo it']),
  ]);
  const rollouts = openSamples([{ agent: 'codex', path: folder }]);
  assert.deepEqual(brief((await rollouts.read(child)).items), ['5 human/text Undo it']);
  assert.equal((await rollouts.read(codexId)).items.length, 3);
});

test('of two files with one id the one with more items stays, wherever it lies', async (t) => {
  const folder = temporaryFolder(t);
  const first = claudeLine('user', 'One', { uuid: 'u1' });
  write(folder, `a/${claudeId}.jsonl`, [first, claudeLine('user', 'Two', { uuid: 'u2' })]);
  write(folder, `b/${claudeId}.jsonl`, [first]);
  for (const order of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    const sources = order.map((name) => ({ agent: 'claude-code' as const, path: join(folder, name) }));
    const { found, ignored } = await openSamples(sources).list();
    assert.deepEqual(
      found.map((entry) => entry.items),
      [2],
    );
    assert.deepEqual(ignored, [
      {
        path: join(folder, 'b', `${claudeId}.jsonl`),
        reason: `the same session as ${join(folder, 'a', `${claudeId}.jsonl`)}`,
      },
    ]);
  }
});

test('an id that is no UUID or a path becomes a plain one', async (t) => {
  const folder = temporaryFolder(t);
  write(folder, 'one.jsonl', [claudeLine('user', 'Hi', { sessionId: '../../etc/passwd' })]);
  write(folder, 'two.jsonl', [claudeLine('user', 'Hi', { sessionId: 'my-session' })]);
  write(folder, 'three.jsonl', [codexMeta({ id: 'C:\\x\\y' }), codexMessage('user', ['Hi'])]);
  const claude = await openSamples([{ agent: 'claude-code', path: folder }]).list();
  assert.match(claude.found[1]?.thread.id ?? '', /^x-[0-9a-f]{16}$/);
  assert.equal(claude.found[0]?.thread.id, 'my-session');
  assert.deepEqual(
    claude.ignored.map((entry) => entry.reason),
    ['not a Claude Code session'],
  );
  const codex = await openSamples([{ agent: 'codex', path: join(folder, 'three.jsonl') }]).list();
  assert.match(codex.found[0]?.thread.id ?? '', /^x-[0-9a-f]{16}$/);
});

test('hidden folders are searched, symbolic links are not followed', async (t) => {
  const folder = temporaryFolder(t);
  const outside = temporaryFolder(t);
  write(outside, `${claudeId}.jsonl`, [claudeLine('user', 'Outside')]);
  write(folder, '.hidden/s.jsonl', [claudeLine('user', 'Hi', { sessionId: 'hidden' })]);
  symlinkSync(outside, join(folder, 'link'));
  symlinkSync(join(outside, `${claudeId}.jsonl`), join(folder, 'link.jsonl'));
  const { found, ignored } = await openSamples([{ agent: 'claude-code', path: folder }]).list();
  assert.deepEqual(
    found.map((entry) => entry.thread.id),
    ['hidden'],
  );
  assert.deepEqual(
    ignored.map((entry) => entry.reason),
    ['a symbolic link', 'a symbolic link'],
  );
});

test('a missing source is an error with its remedy', async () => {
  await assert.rejects(
    openSamples([{ agent: 'codex', path: '/nowhere/at/all' }]).list(),
    (error) =>
      error instanceof MemoryError && error.message.includes('/nowhere/at/all') && error.hint.includes('--source'),
  );
});

test('an unknown thread is an error with its remedy', async () => {
  await assert.rejects(openSamples().read('nobody'), (error) => error instanceof MemoryError && error.hint !== '');
});

test('two sources that overlap give each session once', async () => {
  const twice = [...allSamples, ...allSamples];
  assert.deepEqual(await openSamples(twice).list(), await openSamples().list());
});

function write(folder: string, name: string, lines: readonly object[]): void {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
