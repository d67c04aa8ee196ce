import assert from 'node:assert/strict';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { benchSpec } from '../../scripts/bench/command.ts';
import { measureCodex } from '../../scripts/bench/compare/codex.ts';
import { typed, writeCodexSessions } from '../../scripts/bench/compare/codex-home.ts';
import { findCodex, isOlder } from '../../scripts/bench/compare/codex-program.ts';
import { startModelServer } from '../../scripts/bench/server.ts';
import { UsageError } from '../../scripts/shared/errors.ts';
import { parseFlags } from '../../scripts/shared/flags.ts';

const root = await mkdtemp(join(tmpdir(), 'ctm-compare-'));
after(() => rm(root, { recursive: true, force: true }));
const fixtures = fileURLToPath(new URL('../fixtures/rollouts/codex/', import.meta.url));
const standIn = fileURLToPath(new URL('../support/codex-stand-in.mjs', import.meta.url));
const now = 1_796_000_000;

const worldWith = (args: readonly string[], env: Record<string, string | undefined>) => ({
  flags: parseFlags(benchSpec, args),
  env,
  cwd: root,
});

async function standInAt(...path: string[]): Promise<string> {
  const copy = join(root, ...path);
  await mkdir(dirname(copy), { recursive: true });
  await copyFile(standIn, copy);
  await chmod(copy, 0o755);
  return copy;
}

async function scriptAt(says: string, ...path: string[]): Promise<void> {
  const script = join(root, ...path);
  await mkdir(dirname(script), { recursive: true });
  await writeFile(script, `#!/bin/sh\necho '${says}'\n`, { mode: 0o755 });
}

test('the program is named by flag, by variable or by PATH, as itself or as the folder of its installation', async () => {
  const path = await standInAt('installed', 'node_modules', '.bin', 'codex');
  const PATH = `${dirname(path)}:${process.env.PATH}`;
  const found = { path, version: '0.171.0' };
  assert.deepEqual(await findCodex(worldWith(['--codex', 'installed'], { PATH })), found);
  assert.deepEqual(await findCodex(worldWith(['--codex', path], { CTM_CODEX: '/nowhere' })), found);
  assert.deepEqual(await findCodex(worldWith([], { CTM_CODEX: 'installed' })), found);
  assert.deepEqual(await findCodex(worldWith([], { PATH })), found);
});

test('a program that is missing, too old or another one is told with the next step', async () => {
  const hint = /npm install --prefix <dir> @openai\/codex@0\.171\.0, then --codex <dir>\./;
  const refused = (args: readonly string[], message: RegExp, next: RegExp) =>
    assert.rejects(
      findCodex(worldWith(args, { PATH: join(root, 'empty') })),
      (error) => error instanceof UsageError && message.test(error.message) && next.test(error.hint),
    );
  await refused([], /^There is no codex on the PATH\.$/, hint);
  await refused(['--codex', 'nowhere'], /^There is no codex at nowhere\.$/, hint);
  await scriptAt('codex-cli 0.99.0', 'old', 'codex');
  await refused(['--codex', 'old'], /^Codex 0\.99\.0 is too old/, hint);
  await scriptAt('tool 9.9.9', 'other', 'codex');
  await refused(['--codex', 'other/codex'], /is not Codex: its version is “tool 9\.9\.9”/, /--codex/);
});

test('versions are compared by their numbers', () => {
  assert.deepEqual(
    ['0.170.9', '0.171.0', '0.171.1', '1.0.0', '0.99.99'].map((version) => isOlder(version, '0.171.0')),
    [true, false, false, false, true],
  );
});

test('copies of sessions are laid out by day, say that they were typed, and have rested', async () => {
  const folder = join(root, 'copies');
  await writeCodexSessions(folder, [join(fixtures, 'exec')], now);
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jsonl'));
  assert.equal(names.length, 11);
  for (const name of names) {
    assert.match(name, /^2026\/11\/\d\d\/rollout-2026-11-/);
    const text = await readFile(join(folder, name), 'utf8');
    assert.match(text.slice(0, text.indexOf('\n')), /"source":"cli"/);
    assert.equal((await stat(join(folder, name))).mtimeMs, (now - 21_600) * 1_000);
  }
});

test('only the first line of a copy is changed', () => {
  assert.equal(typed('{"source":"exec"}\n{"source":"exec"}\n'), '{"source":"cli"}\n{"source":"exec"}\n');
  assert.equal(typed('{"source":"exec"}'), '{"source":"cli"}');
  assert.equal(typed(''), '');
});

test('a program that speaks the protocol is measured', { skip: platform() !== 'linux' }, async () => {
  const path = await standInAt('speaks', 'codex');
  const sessions = join(root, 'given');
  await writeCodexSessions(sessions, [join(fixtures, 'exec')], now);
  const world = {
    env: { PATH: process.env.PATH },
    signal: new AbortController().signal,
    self: { token: '', host: '', pid: 0, isAlive: () => true, program: process.execPath, args: ['--import', 'tsx'] },
  };
  const server = await startModelServer(world, 1);
  try {
    const pace = { quietMs: 4_000, settleMs: 0, pollMs: 20 };
    const figures = await measureCodex(world, { path, version: '0.171.0' }, sessions, join(root, 'home'), server, pace);
    assert.equal(figures.rollouts, 11);
    assert.ok(figures.preparationMs > 0 && figures.peakBytes > 20e6);
    assert.ok(figures.wholeCpuMs >= figures.phase1CpuMs);
    await assert.rejects(
      measureCodex(
        { ...world, env: { PATH: '' } },
        { path: process.execPath, version: '' },
        sessions,
        join(root, 'b'),
        server,
        pace,
      ),
      /Codex could not be measured/,
    );
  } finally {
    server.stop();
  }
});
