import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { parseRollout } from '../../scripts/rollout/canonical.ts';
import { aFix, uuid } from './codex-session.ts';
import { aLaptop, appUrl, type TestLaptop, textIn, threadsIn } from './laptops.ts';
import { git } from './repository.ts';

const run = promisify(execFile);
const collector = join(fileURLToPath(import.meta.url), '../collect-worker.ts');
const dropper = join(fileURLToPath(import.meta.url), '../archive-worker.ts');

/**
 * In each round laptops collect to one ref at once, each in a process of its own, while retention writes the ref anew: at
 * the end every session stands exactly once, as it grew last, and nothing that was dropped is back or reachable.
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
  const collectors = machines.map((machine, at) => collectorOf(t, machine, url, at + 1));
  for (const [at, n] of old.entries()) {
    const ended = await Promise.all([
      drop([clone, 'drop', uuid(n), url], env),
      ...collectors.map((play) => play(at + 1)),
    ]);
    assert.deepEqual(ended, [uuid(n), ...machines.map(() => 'done')]);
  }
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

async function drop(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  return (await run(process.execPath, ['--import', 'tsx', dropper, ...args], { env })).stdout.trim();
}

/** @returns what plays a round and resolves to how it ended. */
function collectorOf(t: TestContext, { home, env }: TestLaptop, url: string, number: number) {
  const args = ['--import', 'tsx', collector, home, url, String(number)];
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return async (round: number): Promise<string> => {
    child.stdin.write(`${round}\n`);
    const { value, done } = await lines.next();
    return done ? 'died' : value;
  };
}

function blobsOf(team: string): string[] {
  return git(team, 'ls-tree', '-r', '--format=%(objectname)', archiveRef).split('\n');
}
