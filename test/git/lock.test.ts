import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LockHeldError, type LockOwner, withLock } from '../../scripts/git/lock.ts';
import { temporaryFolder } from '../support/repository.ts';

function anOwner(over: Partial<LockOwner> = {}): LockOwner {
  return { host: 'here', pid: 100, isAlive: (pid) => pid === 200, at: 1_790_000_000, note: 'nightly', ...over };
}

test('one at a time: the second learns who holds the lock', async (t) => {
  const path = join(temporaryFolder(t), 'memory/night.lock');
  const result = await withLock(path, anOwner(), async () => {
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), {
      host: 'here',
      pid: 100,
      started: '2026-09-21T14:13:20Z',
      note: 'nightly',
    });
    await assert.rejects(
      withLock(path, anOwner(), async () => 1),
      LockHeldError,
    );
    await assert.rejects(
      withLock(path.replace('night.lock', './night.lock'), anOwner({ pid: 300, isAlive: () => true }), async () => 1),
      /held by process 100 on here \(nightly, since 2026-09-21T14:13:20Z\)/,
    );
    return 7;
  });
  assert.equal(result, 7);
  assert.deepEqual(readdirSync(join(path, '..')), []);
});

test('the lock goes when the work fails', async (t) => {
  const path = join(temporaryFolder(t), 'night.lock');
  await assert.rejects(
    withLock(path, anOwner(), async () => {
      throw new Error('no');
    }),
    /^Error: no$/,
  );
  assert.ok(!existsSync(path));
});

for (const [whose, holder, taken] of [
  ['a process of this host that is gone', { host: 'here', pid: 150 }, true],
  ['an earlier process with our own id', { host: 'here', pid: 100 }, true],
  ['a living process', { host: 'here', pid: 200 }, false],
  ['a process of another host', { host: 'there', pid: 150 }, false],
] as const) {
  test(`a lock of ${whose} is ${taken ? 'taken over' : 'respected'}`, async (t) => {
    const path = join(temporaryFolder(t), 'night.lock');
    const text = JSON.stringify({ ...holder, started: '2026-01-01T00:00:00Z', note: 'nightly' });
    writeFileSync(path, text);
    const run = withLock(path, anOwner(), async () => 'ran');
    if (taken) assert.equal(await run, 'ran');
    else await assert.rejects(run, LockHeldError);
    assert.equal(existsSync(path), !taken);
    if (!taken) assert.equal(readFileSync(path, 'utf8'), text);
  });
}

for (const text of ['', '{', '[]', 'null', '{"host":1}'])
  test(`a lock that says ${JSON.stringify(text)} is respected`, async (t) => {
    const path = join(temporaryFolder(t), 'night.lock');
    writeFileSync(path, text);
    await assert.rejects(
      withLock(path, anOwner(), async () => 1),
      /did not say which/,
    );
  });

test('of many that find a dead lock one takes it', async (t) => {
  const path = join(temporaryFolder(t), 'night.lock');
  writeFileSync(path, JSON.stringify({ host: 'here', pid: 1, started: 'x', note: 'x' }));
  let running = 0;
  const runs = Array.from({ length: 8 }, (_, at) => {
    // Another spelling of the path each time, as eight processes would each know only their own lock.
    const own = `${path.slice(0, -'night.lock'.length)}${'./'.repeat(at)}night.lock`;
    return withLock(own, anOwner({ pid: 1000 + at, isAlive: (pid) => pid >= 1000 }), async () => {
      running += 1;
      assert.equal(running, 1);
      await new Promise(setImmediate);
      running -= 1;
    });
  });
  const outcomes = await Promise.allSettled(runs);
  assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof LockHeldError, String(outcome.reason));
  assert.ok(!existsSync(`${path}.takeover`));
});
