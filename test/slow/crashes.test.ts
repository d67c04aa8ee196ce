import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, type TestContext, test } from 'node:test';
import { type ApiServer, startApiServer } from '../support/api-server.ts';
import type { RecordedRequest } from '../support/api-types.ts';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { writtenAnswers } from '../support/journal-answers.ts';
import { sound } from '../support/model-nights.ts';
import { type Ended, nightly, over, playNight, type Running, startNightly, tips, until } from '../support/nights.ts';
import { aRepository, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { isExtraction } from '../support/scripted-extractor.ts';

const start = { 'README.md': 'The memory of a team.\n' };
const lockName = '.git/memory/night.lock';

for (const signal of ['SIGTERM', 'SIGKILL'] as const)
  test(`${signal} while sessions are listed: the branch is as before, the next night is as any other`, async (t) => {
    const source = sessionsOf(t, [1, 2]);
    const line = `{"type":"event_msg","timestamp":"2026-11-29T10:00:00Z","payload":{"type":"x${'y'.repeat(900)}"}}\n`;
    writeFiles(source.path, { [fileOf(3)]: codexText(aFix(3)) + line.repeat(30_000) });
    const expected = await undisturbed(t, (repo) => playNight(repo, [source]));
    const repo = aRepository(t, start);
    const night = startNightly(over(repo, [source]));
    await until('the lock', () => existsSync(join(repo, lockName)));
    night.kill(signal);
    assertStopped(await night.ended, signal);
    assertAsBefore(repo, signal);
    assertDone(await nightly(over(repo, [source])));
    assert.deepEqual(tips(repo), expected);
  });

const shared = { model: null as AModel | null, expected: { branch: '', state: '' }, paid: 0 };

before(async (t) => {
  const context = t as TestContext;
  const model = await aModel(context);
  const expected = await undisturbed(context, async (repo) =>
    assertDone(await model.night(repo, sessionsOf(context, [1, 2]))),
  );
  Object.assign(shared, { model, expected, paid: model.server.requests.length });
});

/** Phase, which requests are held back, how many those are, and how many were answered before. */
const phases: readonly (readonly [string, (request: RecordedRequest) => boolean, number, number])[] = [
  ['phase 1', (request) => isExtraction(request) && mentions(request, 2), 1, 1],
  ['phase 2', (request) => !isExtraction(request), 2, 2],
];

for (const [phase, isHeld, held, answered] of phases)
  for (const signal of ['SIGTERM', 'SIGKILL'] as const)
    test(`${signal} in ${phase}: the branch is as before, what was paid is not paid again, the result is the same`, async (t) => {
      const { expected, paid } = shared;
      const model = shared.model ?? assert.fail();
      const source = sessionsOf(t, [1, 2]);
      const repo = aRepository(t, start);
      const asked = () => model.server.requests.length - model.stalled();
      const [before, stalled] = [asked(), model.stalled()];
      model.stallAt(isHeld);
      const night = model.start(repo, source);
      await until(`${held} requests of ${phase}`, () => model.stalled() === stalled + held);
      await until('the other answers on disk', () => answersIn(repo) === answered);
      night.kill(signal);
      assertStopped(await night.ended, signal);
      assertAsBefore(repo, signal);
      model.stallAt(() => false);
      assertDone(await model.night(repo, source));
      assert.deepEqual(tips(repo), expected);
      assert.equal(asked() - before, paid);
    });

test('killed between the state and the branch: the next night moves the branch, and ends as any other', async (t) => {
  const source = sessionsOf(t, [1, 2]);
  const expected = await undisturbed(t, (repo) => playNight(repo, [source]));
  const repo = aRepository(t, start);
  const was = tips(repo).branch;
  git(repo, 'config', 'core.filesRefLockTimeout', '-1');
  writeFileSync(join(repo, '.git/refs/heads/main.lock'), '');
  const night = startNightly(over(repo, [source]));
  await until('the state ref', () => existsSync(join(repo, '.git/refs/memory/state')));
  night.killAll();
  assert.equal((await night.ended).signal, 'SIGKILL');
  rmSync(join(repo, '.git/refs/heads/main.lock'));
  assert.equal(tips(repo).branch, was);
  assert.equal(git(repo, 'status', '--porcelain'), '');
  const next = await nightly(over(repo, [source]));
  assert.equal(next.code, 0, next.stderr);
  assert.deepEqual(tips(repo), expected);
  assert.equal(git(repo, 'status', '--porcelain'), '');
});

test('a branch that somebody locks is an error that says so; the next night finishes', async (t) => {
  const source = sessionsOf(t, [1]);
  const expected = await undisturbed(t, (repo) => playNight(repo, [source]));
  const repo = aRepository(t, start);
  const was = tips(repo).branch;
  writeFileSync(join(repo, '.git/refs/heads/main.lock'), '');
  const night = await nightly(over(repo, [source]));
  assert.equal(night.code, 1);
  assert.match(night.stderr, /main\.lock|locked|cannot lock/i);
  assert.doesNotMatch(night.stderr, /mistake of ours/);
  assert.equal(tips(repo).branch, was);
  rmSync(join(repo, '.git/refs/heads/main.lock'));
  assert.equal((await nightly(over(repo, [source]))).code, 0);
  assert.deepEqual(tips(repo), expected);
});

test('an index that somebody locks stops the night before it starts', async (t) => {
  const repo = aRepository(t, start);
  writeFileSync(join(repo, '.git/index.lock'), '');
  const night = await nightly(over(repo, [sessionsOf(t, [1])]));
  assert.equal(night.code, 1, night.stdout);
  assert.match(night.stderr, /index\.lock/);
  rmSync(join(repo, '.git/index.lock'));
  assertAsBefore(repo, 'SIGTERM');
});

test('stopped between the branch and the working tree: the next night brings the files, and ends as any other', async (t) => {
  const source = sessionsOf(t, [1]);
  const expected = await undisturbed(t, (repo) => playNight(repo, [source]));
  const repo = aRepository(t, start);
  const stopped = playNight(repo, [source], {
    meanwhile: (stage) => stage.startsWith('phase 2') && writeFileSync(join(repo, '.git/index.lock'), ''),
  });
  await assert.rejects(stopped, /index\.lock/);
  rmSync(join(repo, '.git/index.lock'));
  assert.equal(tips(repo).branch, expected.branch);
  assert.ok(!existsSync(join(repo, 'memories')));
  assert.equal((await nightly(over(repo, [source]))).code, 0);
  assert.deepEqual(tips(repo), expected);
  assert.equal(git(repo, 'status', '--porcelain'), '');
  assert.ok(existsSync(join(repo, 'memories/MEMORY.md')));
});

test('a memory that a person takes back after a night that died is not brought again', async (t) => {
  const source = sessionsOf(t, [1]);
  const repo = aRepository(t, start);
  writeFileSync(join(repo, '.git/refs/heads/main.lock'), '');
  await assert.rejects(playNight(repo, [source]), /main\.lock/);
  rmSync(join(repo, '.git/refs/heads/main.lock'));
  await playNight(repo, [source]);
  git(repo, 'reset', '--quiet', '--hard', 'HEAD~2');
  const was = tips(repo).branch;
  const { report } = await playNight(repo, [source]);
  assert.equal(git(repo, 'merge-base', 'HEAD', was), was);
  assert.ok(report.people.removed > 0);
  assert.doesNotMatch(git(repo, 'show', 'HEAD:memories/MEMORY.md'), /\[[a-z2-7]{8}@/);
});

test('a session that kills the process three times is given up with the reason, the others are done', async (t) => {
  const model = await aModel(t);
  const source = sessionsOf(t, [1, 2, 3]);
  const repo = aRepository(t, start);
  model.stallAt((request) => isExtraction(request) && mentions(request, 2));
  for (let death = 1; death <= 3; death += 1) {
    const night = model.start(repo, source);
    await until(`death ${death}`, () => model.stalled() === death);
    night.kill('SIGKILL');
    await night.ended;
    assertAsBefore(repo, 'SIGKILL');
  }
  const last = await model.night(repo, source, '--json');
  assert.equal(last.code, 3, last.stderr);
  const { sessions } = JSON.parse(last.stdout);
  assert.deepEqual(sessions.extracted, [uuid(1), uuid(3)]);
  assert.deepEqual(
    sessions.failed.map((one: { thread_id: string; failure: string }) => [one.thread_id, one.failure]),
    [[uuid(2), 'died']],
  );
  assert.match(sessions.failed[0].detail, /three|3 times/);
  assert.equal(model.stalled(), 3, 'it is not asked about again');
  const again = await model.night(repo, source, '--json');
  assert.equal(JSON.parse(again.stdout).sessions.skipped[uuid(2)], 'exhausted');
});

interface AModel {
  readonly server: ApiServer;
  /** Requests for which this holds get no answer. */
  stallAt(holds: (request: RecordedRequest) => boolean): void;
  stalled(): number;
  start(repo: string, source: Source, ...more: string[]): Running;
  night(repo: string, source: Source, ...more: string[]): Promise<Ended>;
}

type Source = ReturnType<typeof sessionsOf>;

async function aModel(t: TestContext): Promise<AModel> {
  let stalls: (request: RecordedRequest) => boolean = () => false;
  let stalled = 0;
  const server = await startApiServer({
    behave: (request, index) => {
      if (!stalls(request)) return sound(request, index);
      stalled += 1;
      return { stall: true };
    },
  });
  t.after(() => server.close());
  const begin = (repo: string, source: Source, more: readonly string[]) => {
    const model = `provider: openai, base_url: ${server.baseUrl}, wire: chat, extract_model: small, consolidation_model: large`;
    writeFiles(repo, { '.github/memory.yml': `model: { ${model} }\n` });
    return startNightly([...over(repo, [source]), ...more]);
  };
  return {
    server,
    stallAt: (holds) => {
      stalls = holds;
    },
    stalled: () => stalled,
    start: (repo, source, ...more) => begin(repo, source, more),
    night: (repo, source, ...more) => begin(repo, source, more).ended,
  };
}

function sessionsOf(t: TestContext, numbers: readonly number[]) {
  const folder = temporaryFolder(t);
  const more = (n: number) => [
    { human: `Always keep the order of module ${n}.` },
    { run: 'cat notes', out: `FACT ${n} is prime\n` },
  ];
  writeFiles(folder, Object.fromEntries(numbers.map((n) => [fileOf(n), codexText(aFix(n, more(n)))])));
  return { agent: 'codex' as const, path: folder };
}

function fileOf(n: number): string {
  return `rollout-2026-11-29T10-00-00-${uuid(n)}.jsonl`;
}

function mentions(request: RecordedRequest, n: number): boolean {
  return request.texts.join('\n').includes(`acme/app-${n}`);
}

async function undisturbed(t: TestContext, play: (repo: string) => Promise<unknown>) {
  const repo = aRepository(t, start);
  await play(repo);
  return tips(repo);
}

/** Answers that the journal holds. */
function answersIn(repo: string): number {
  const journal = join(repo, '.git/memory/journal');
  return existsSync(join(journal, 'answers')) ? writtenAnswers(journal).length : 0;
}

function assertStopped({ code, signal, stderr }: Ended, by: NodeJS.Signals): void {
  if (by === 'SIGKILL') assert.equal(signal, 'SIGKILL');
  else {
    assert.equal(code, 1, stderr);
    assert.match(stderr, /Stopped by SIGTERM\.\n {2}Nothing is lost/);
  }
}

/** No ref and no file has changed; the lock is gone where the process could still let go of it. */
function assertAsBefore(repo: string, by: NodeJS.Signals): void {
  assert.equal(git(repo, 'rev-list', '--count', '--all'), '1');
  assert.equal(tips(repo).state, '');
  assert.equal(git(repo, 'status', '--porcelain', '--', ':!.github'), '');
  assert.equal(existsSync(join(repo, lockName)), by === 'SIGKILL');
  mkdirSync(join(repo, '.github'), { recursive: true });
}

function assertDone({ code, stdout, stderr }: Ended): void {
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^Done: /);
}
