import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { GitError } from '../../scripts/git/errors.ts';
import { openJournal } from '../../scripts/model/journal.ts';
import { usageThisMonth } from '../../scripts/state/runs.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import type { RecordedRequest } from '../support/api-types.ts';
import { type ChildNights, startChildNights } from '../support/child-nights.ts';
import { api, type Behave, cwdOf, type Nights, shop, sound, startNights } from '../support/model-nights.ts';
import { commitAll, git } from '../support/repository.ts';
import { handbook } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId, type WrittenSession } from '../support/written-sessions.ts';

function session(n: number, cwd: string, fact = `number ${n} was seen`): WrittenSession {
  const happened = [{ human: `Task ${n}` }, { run: 'make', out: `FACT ${fact}` }] as const;
  return { id: threadId(n), cwd, at: `2026-11-29T10:0${n}:00Z`, happened };
}

/** Three sessions of one repository: 3 requests of phase 1, 3 turns for it and 3 for `*`, one after the other. */
const undisturbed = 9;

async function threeSessions(t: TestContext): Promise<ChildNights> {
  const nights = await startChildNights(t, '  concurrency: 1\n');
  nights.write(session(1, nights.shop), session(2, nights.shop), session(3, nights.shop));
  return nights;
}

/** A model that is silent at the n-th request, from 1, and says so. */
function silentAt(n: number): { behave: Behave; reached: Promise<void> } {
  let count = 0;
  let tell = () => {};
  const reached = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const behave: Behave = (request, index) => {
    count += 1;
    if (count < n) return sound(request, index);
    tell();
    return { stall: true };
  };
  return { behave, reached };
}

for (const [phase, n] of [
  ['phase 1', 2],
  ['phase 2', 5],
] as const) {
  test(`a night killed in ${phase} leaves everything as it was, and the next one pays only for what was not answered`, async (t) => {
    const nights = await threeSessions(t);
    const before = nights.refs();
    const silent = silentAt(n);
    const night = nights.start(silent.behave);
    await silent.reached;
    night.kill('SIGKILL');
    assert.equal((await night.ended).signal, 'SIGKILL');
    assert.equal(nights.refs(), before);
    assert.equal(nights.server.requests.length, n, 'one was in flight');

    const next = await nights.run();
    assert.equal(next.code, 0, next.stderr);
    assert.equal(nights.server.requests.length, undisturbed + 1);

    const twin = await startNights(t);
    twin.write(...[1, 2, 3].map((one) => session(one, cwdOf[shop])));
    await twin.play({ at: '2026-11-30T03:00:00Z' });
    const made = git(nights.dir, 'rev-parse', 'HEAD:memories');
    assert.equal(made, twin.git('rev-parse', 'HEAD:memories'), 'an undisturbed night makes the same');
  });
}

test('SIGTERM ends a night at once, with its reason; the next goes on from the journal', async (t) => {
  const nights = await threeSessions(t);
  const before = nights.refs();
  const silent = silentAt(5);
  const night = nights.start(silent.behave);
  await silent.reached;
  night.kill('SIGTERM');
  const ended = await night.ended;
  assert.equal(ended.code, 1, ended.stderr);
  assert.match(ended.stderr, /Stopped by SIGTERM/);
  assert.equal(nights.refs(), before);
  assert.equal((await nights.run()).code, 0);
  assert.equal(nights.server.requests.length, undisturbed + 1);
});

test('a session over which the process died three times is given up, and the others are read', async (t) => {
  const nights = await startNights(t);
  nights.write(session(1, cwdOf[shop]), session(2, cwdOf[shop]));
  const journal = join(nights.dir, '.git/memory/journal');
  for (let death = 1; death <= 3; death += 1) openJournal(journal, (text) => text).begin(threadId(1), 'rollout');
  const { report, requests } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(report.outcome, 'partly');
  assert.deepEqual(
    report.phase1.failed.map(({ threadId: id, failure }) => [id, failure]),
    [[threadId(1), 'died']],
  );
  assert.deepEqual(report.phase1.extracted, [threadId(2)]);
  assert.ok(!requests.some((request) => isAbout(request, threadId(1))));
  const next = await nights.play({ at: '2026-12-01T03:00:00Z' });
  assert.equal(next.report.skipped.get(threadId(1)), 'exhausted');
});

test('without a key nothing is asked: exit 4, and what to do', async (t) => {
  const nights = await startChildNights(t, '', 'https://model.example.invalid/v1');
  nights.write(session(1, nights.shop));
  const before = nights.refs();
  const ended = await nights.run();
  assert.equal(ended.code, 4);
  assert.match(ended.stderr, /The environment variable OPENAI_API_KEY holds no API key/);
  assert.match(ended.stderr, /--model builtin/);
  assert.equal(nights.refs(), before);
});

test('a refused key: exit 4 with the server’s words; partly failed: exit 3; nothing to do: exit 0', async (t) => {
  const nights = await startChildNights(t, '  concurrency: 1\n');
  nights.write(session(1, nights.shop), session(2, nights.api));
  const refusing: Behave = () => ({ status: 401, error: { message: 'This key was revoked on Monday.' } });
  const refused = await nights.run(refusing);
  assert.equal(refused.code, 4);
  assert.match(refused.stderr, /This key was revoked on Monday/);
  const failing: Behave = (request, index) =>
    isAbout(request, threadId(1)) ? { refusal: 'No.' } : sound(request, index);
  assert.equal((await nights.run(failing)).code, 3);
  const quiet = await nights.run(sound);
  assert.deepEqual([quiet.code, /Nothing to do/.test(quiet.stdout)], [0, true], quiet.stderr);
});

test('a month’s budget is counted over its nights', async (t) => {
  const prices = '{input: 100, cached: 100, output: 100}';
  const nights = await startChildNights(t, `  prices: {extract: ${prices}, consolidation: ${prices}}\n`);
  nights.write(session(1, nights.shop));
  const first = await nights.run();
  assert.equal(first.code, 0, first.stderr);
  const state = await openState(`${git(nights.dir, 'show', 'refs/memory/state:state.sqlite.json')}\n`);
  const used = usageThisMonth(state, Date.parse('2026-11-30T23:00:00Z') / 1000);
  const micro = Object.values(used).reduce((sum, phase) => sum + (phase.micro_usd ?? 0), 0);
  appendFileSync(join(nights.dir, '.github/memory.yml'), `budget: {usd_per_month: ${micro / 1_000_000 + 0.01}}\n`);
  const asked = nights.server.requests.length;
  nights.write(session(2, nights.shop));
  const second = await nights.run(sound, { CTM_CLOCK: '2026-11-30T23:00:00Z' });
  assert.deepEqual([second.code, nights.server.requests.length], [0, asked], second.stderr);
  assert.match(second.stdout, /1 left for the next night/);
});

/** Nights after a first one, whose second loses a swap while the model works. */
async function afterOne(t: TestContext): Promise<Nights> {
  const nights = await startNights(t);
  nights.write(session(1, cwdOf[shop]), session(2, cwdOf[api]));
  await nights.play({ at: '2026-11-30T03:00:00Z' });
  nights.write({ ...session(3, cwdOf[shop]), at: '2026-11-30T10:00:00Z' });
  return nights;
}

/** A sound model that lets something else happen at its n-th request. */
function meanwhile(n: number, happens: () => void): Behave {
  let count = 0;
  return (request, index) => {
    count += 1;
    if (count === n) happens();
    return sound(request, index);
  };
}

test('a night that loses the state to another is played again from the journal, and pays nothing twice', async (t) => {
  const nights = await afterOne(t);
  const twin = await afterOne(t);
  const plain = await twin.play({ at: '2026-12-01T03:00:00Z' });
  const { report, requests } = await nights.play({
    at: '2026-12-01T03:00:00Z',
    behave: meanwhile(3, () => moveState(nights)),
  });
  assert.equal(report.outcome, 'done');
  assert.equal(requests.length, plain.requests.length);
  assert.equal(nights.file(handbook), twin.file(handbook));
  assert.match(nights.git('log', '--format=%s', 'refs/memory/state'), /another process/);
  assert.deepEqual(readdirSync(join(nights.dir, '.git/memory/journal/answers')), [], 'the journal is cleared');
});

test('a night that loses the branch to a person builds upon what the person wrote', async (t) => {
  const nights = await afterOne(t);
  const line = '- a person’s own line';
  const edit = () => {
    const text = nights.file(handbook).replace('## Reusable knowledge\n', `## Reusable knowledge\n${line}\n`);
    writeFileSync(join(nights.dir, handbook), text);
    commitAll(nights.dir, 'Meanwhile');
  };
  const { report, requests } = await nights.play({ at: '2026-12-01T03:00:00Z', behave: meanwhile(2, edit) });
  assert.equal(report.outcome, 'done');
  assert.equal(requests.filter(isExtraction).length, 1, 'the session was paid for once');
  const text = nights.file(handbook);
  assert.ok(text.includes(line) && text.includes('number 3 was seen') && text.includes('number 1 was seen'), text);
  const later = await nights.play({ at: '2026-12-02T03:00:00Z' });
  assert.deepEqual([later.report.outcome, later.report.people], ['quiet', { added: 0, removed: 0 }]);
});

test('a night that loses the branch several times starts each time from the last state that reached it', async (t) => {
  const nights = await afterOne(t);
  let moves = 0;
  const { report, requests } = await nights.play({
    at: '2026-12-01T03:00:00Z',
    progress: ({ stage }) => {
      if (stage.startsWith('phase 2') && moves < 3) {
        moves += 1;
        move(nights, moves);
      }
    },
  });
  assert.deepEqual([moves, report.outcome], [3, 'done']);
  assert.equal(requests.filter(isExtraction).length, 1);
  assert.deepEqual(report.people, { added: 0, removed: 0 }, 'no lost commit is taken for people’s work');
  assert.match(nights.file(handbook), /number 3 was seen/);
});

test('five losses are enough: a clear error, and nothing of the night on the branch', async (t) => {
  const nights = await afterOne(t);
  let moves = 0;
  const lost = nights.play({
    at: '2026-12-01T03:00:00Z',
    progress: ({ stage }) => {
      if (!stage.startsWith('phase 2')) return;
      moves += 1;
      move(nights, moves);
    },
  });
  await assert.rejects(lost, (error) => {
    assert.ok(error instanceof GitError);
    assert.match(error.message, /refs\/heads\/main was moved by somebody else in each of 5 tries/);
    assert.match(error.hint, /not paid for again/);
    return true;
  });
  assert.equal(moves, 5);
  assert.doesNotMatch(nights.file(handbook), /number 3/);
  const { report, requests } = await nights.play({ at: '2026-12-01T03:00:00Z' });
  assert.deepEqual([report.outcome, requests.length], ['done', 0], 'the journal answers all of it');
  assert.match(nights.file(handbook), /number 3 was seen/);
});

function isAbout(request: RecordedRequest, id: string): boolean {
  return isExtraction(request) && (request.texts[1] ?? '').includes(`${id}.jsonl`);
}

function move(nights: Nights, count: number): void {
  writeFileSync(join(nights.dir, 'README.md'), `Moved ${count} times.\n`);
  commitAll(nights.dir, `Move ${count}`);
}

/** As another process would: the same state in a new commit. */
function moveState(nights: Nights): void {
  const old = nights.git('rev-parse', 'refs/memory/state');
  const next = nights.git('commit-tree', `${old}^{tree}`, '-p', old, '-m', 'another process');
  nights.git('update-ref', 'refs/memory/state', next, old);
}
