import assert from 'node:assert/strict';
import { platform } from 'node:os';
import { test } from 'node:test';
import { parseStat } from '../../../scripts/bench/compare/processes.ts';
import { runProgram } from '../../../scripts/bench/compare/program.ts';
import { MemoryError, UsageError } from '../../../scripts/shared/errors.ts';

const place = { cwd: '.', env: { PATH: process.env.PATH }, signal: new AbortController().signal };

test("the kernel's line is read whatever a program is called", () => {
  const counted = ['S', ...Array(10).fill('0'), '12', '3', '40', '5', '20'];
  for (const name of ['node', 'a) S 1 2 (b', ''])
    assert.deepEqual(parseStat(`7 (${name}) ${counted.join(' ')}`), { cpuMs: 600, waitedMs: 450 });
  assert.equal(parseStat('7 (node) S 1'), null);
  assert.equal(parseStat(null), null);
});

test('of a program its children count too, in processor time and in memory', {
  skip: platform() !== 'linux',
}, async () => {
  const burn = 'const end = performance.now() + 300; while (performance.now() < end); Buffer.alloc(150e6, 1);';
  const parent = `require('node:child_process').spawnSync(process.execPath, ['-e', ${JSON.stringify(`${burn} setTimeout(() => {}, 200)`)}])`;
  const taken = await runProgram({ ...place, argv: [process.execPath, '-e', parent] });
  assert.ok(taken.cpuMs >= 20, `${taken.cpuMs} ms`);
  assert.ok(taken.peakBytes > 150e6, `${taken.peakBytes} bytes`);
  assert.ok(taken.wallMs >= 300);
});

test('a program that fails, or is not there, is no comparison', { skip: platform() !== 'linux' }, async () => {
  const failing = "console.error('no such model'); process.exit(3)";
  await assert.rejects(
    runProgram({ ...place, argv: [process.execPath, '-e', failing] }),
    (error) => error instanceof MemoryError && /ended with 3: no such model/.test(error.message),
  );
  await assert.rejects(runProgram({ ...place, argv: ['/nowhere/at-all'] }), UsageError);
});
