import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { parseRollout } from '../../scripts/rollout/canonical.ts';
import { aFix, uuid } from './codex-session.ts';
import { aLaptop, appUrl, textIn, threadsIn } from './laptops.ts';
import { git } from './repository.ts';

const run = promisify(execFile);
const collector = join(fileURLToPath(import.meta.url), '../collect-worker.ts');
const dropper = join(fileURLToPath(import.meta.url), '../archive-worker.ts');

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

  const { clone, env } = aLaptop(t, url, team);
  const dropped = old.map(uuid);
  const ended = await Promise.all([
    ...machines.map((machine, at) =>
      start(collector, [machine.home, url, String(at + 1), String(rounds)], machine.env),
    ),
    start(dropper, [clone, 'drop', dropped.join(','), url], env),
  ]);
  assert.deepEqual(
    ended.map(({ stdout }) => stdout.trim()),
    [...machines.map(() => ''), dropped.join(' ')],
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

function start(script: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  return run(process.execPath, ['--import', 'tsx', script, ...args], { env });
}

function blobsOf(team: string): string[] {
  return git(team, 'ls-tree', '-r', '--format=%(objectname)', archiveRef).split('\n');
}
