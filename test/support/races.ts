import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { parseRollout } from '../../scripts/rollout/canonical.ts';
import { day, fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { aFix, uuid } from './codex-session.ts';
import { aLaptop, appUrl, type TestLaptop, textIn, threadsIn, today } from './laptops.ts';
import { env, git } from './repository.ts';

const run = promisify(execFile);
const worker = join(fileURLToPath(import.meta.url), '../collect-worker.ts');

/**
 * Laptops collect to one ref at once, each in a process of its own, while retention writes the ref anew: at the end every
 * session stands exactly once, as it grew last, and nothing that was dropped is back or reachable.
 * @param url how laptops reach the team's repository.
 */
export async function race(t: TestContext, team: string, url: string, laptops: number, rounds: number): Promise<void> {
  const machines = Array.from({ length: laptops }, () => aLaptop(t, url, team));
  const old = Array.from({ length: rounds }, (_, at) => 900_000 + at);
  for (const n of old) machines[0]?.codex(aFix(n, [], { remote: appUrl, at: '2026-10-01T10:00:00Z' }));
  const first = await machines[0]?.collect([], { at: '2026-10-02T08:00:00Z' });
  assert.equal(first?.code, 0, first?.stderr);
  assert.equal(threadsIn(team).length, old.length);
  const oldBlobs = blobsOf(team);

  const dropping = dropOneByOne(aLaptop(t, url, team), url, old);
  const ended = await Promise.all(
    machines.map(({ home, env: own }, at) =>
      run(process.execPath, ['--import', 'tsx', worker, home, url, String(at + 1), String(rounds)], { env: own }),
    ),
  );
  await dropping;
  assert.deepEqual(
    ended.map(({ stdout }) => stdout),
    machines.map(() => ''),
  );
  const wanted = machines.flatMap((_, at) => Array.from({ length: rounds }, (_, n) => uuid((at + 1) * 1000 + n + 1)));
  assert.deepEqual(threadsIn(team).sort(), wanted.sort());
  for (const thread of wanted) {
    const { items } = parseRollout(`${textIn(team, thread)}\n`);
    const isLast = Number(thread.slice(-3)) === rounds;
    assert.equal(
      items.some(({ text }) => text.startsWith('Grown in round')),
      !isLast,
      thread,
    );
  }
  const reachable = git(team, 'rev-list', '--objects', archiveRef);
  assert.deepEqual(
    oldBlobs.filter((oid) => reachable.includes(oid)),
    [],
  );
}

async function dropOneByOne({ clone }: TestLaptop, url: string, old: readonly number[]): Promise<void> {
  const repository = await openRepository(clone, { env });
  const archive = { repository, ref: archiveRef, remote: await openRemote(repository, { url, env }) };
  const now = parseIsoTime(today) ?? 0;
  for (const n of old) {
    const rewrite = { threads: new Set([uuid(n)]), notSince: now - 30 * day };
    assert.deepEqual(await rewriteArchive(archive, rewrite, { clock: fixedClock(now) }), [uuid(n)]);
  }
}

function blobsOf(team: string): string[] {
  return git(team, 'ls-tree', '-r', '--format=%(objectname)', archiveRef).split('\n');
}
