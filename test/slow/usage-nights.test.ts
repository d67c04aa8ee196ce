import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { archivedRollouts } from '../../scripts/archive/rollouts.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { createEngine } from '../../scripts/nightly/compose.ts';
import type { NightReport } from '../../scripts/nightly/night.ts';
import { nightPolicy } from '../../scripts/nightly/policy.ts';
import { runNight } from '../../scripts/nightly/run.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import { fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { aFix, type CodexSession, codexText, type Event, uuid } from '../support/codex-session.ts';
import { command, type Ended } from '../support/nights.ts';
import { aRepository, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { citing, givenText } from '../support/usage.ts';

const remote = 'https://git.example.test/acme/app.git';
const configText =
  'version: 1\ninclude: [git.example.test/acme/*]\nmodel: { provider: builtin }\ndelivery: { mode: commit }\n';

interface Team {
  readonly repo: string;
  /** What a person's laptop sends to the team's ref. */
  collected(author: string, ...sessions: readonly CodexSession[]): Promise<void>;
  night(at: string): Promise<NightReport>;
  handbook(): string;
  status(at: string): Promise<Ended>;
}

async function aTeam(t: TestContext): Promise<Team> {
  const repo = aRepository(t, { '.github/memory.yml': configText });
  const repository = await openRepository(repo, { env });
  const redactor = createRedactor({});
  const redact = (text: string) => redactor.redact(text);
  const config = parseConfig(configText);
  return {
    repo,
    async collected(author, ...sessions) {
      const path = temporaryFolder(t);
      writeFiles(path, Object.fromEntries(sessions.map((one) => [`rollout-${one.id}.jsonl`, codexText(one)])));
      const place = { include: config.include, checkouts: checkoutsFrom({}), home: '/home/dana' };
      const rollouts = redactedRollouts(openRollouts([{ agent: 'codex', path }], place), redactor);
      for (const { thread } of (await rollouts.list()).found) {
        const rollout = await rollouts.read(thread.id);
        const own = { ...rollout, thread: { ...rollout.thread, author } };
        const clock = fixedClock(thread.updatedAt);
        await addRollouts({ repository, ref: archiveRef, remote: null }, [own], 0, { clock });
      }
    },
    async night(at) {
      const rollouts = redactedRollouts(archivedRollouts(repository, await repository.readRef(archiveRef)), redactor);
      return runNight(nightPolicy(config, { all: false, now: false, since: null }), {
        ...createEngine(config, repository, {}, redact),
        repository,
        rollouts,
        clock: fixedClock(parseIsoTime(at) ?? assert.fail(at)),
        redact,
        progress: () => undefined,
      });
    },
    handbook: () => git(repo, 'show', 'main:memories/MEMORY.md'),
    status: (at) => command('status', ['--repo', repo, '--usage', '--json'], { env: { CTM_CLOCK: at } }),
  };
}

/** A session of the repository that teaches a fix of the n-th module. */
function fix(n: number, at: string, more: readonly Event[] = []): CodexSession {
  return aFix(n, more, { remote, at });
}

function isNamed(team: Team, n: number): boolean {
  return team.handbook().includes(shortThreadId(uuid(n)));
}

test('what is cited lives longer: it outlives what is newer and uncited, whose lines are forgotten', async (t) => {
  const team = await aTeam(t);
  const correction: readonly Event[] = [{ human: 'No, never change the tests here.' }, { edit: ['lib/module_3.py'] }];
  await team.collected('dana', fix(1, '2026-12-01T10:00:00Z'), fix(2, '2026-12-02T10:00:00Z'));
  await team.collected('kim', fix(3, '2026-12-01T12:00:00Z', correction));
  await team.night('2026-12-03T03:17:00Z');
  for (const n of [1, 2, 3]) assert.ok(isNamed(team, n), `module ${n} was learned`);

  const uses = (n: number, at: string, answer: string): CodexSession => ({
    id: uuid(n),
    remote,
    at,
    events: [givenText(team.handbook()), { human: 'What do you know of module 1?' }, { says: answer }],
  });
  await team.collected('lee', uses(10, '2026-12-20T10:00:00Z', citing([shortThreadId(uuid(1))])));
  await team.collected('max', uses(11, '2026-12-20T11:00:00Z', 'I know it well.'));
  const counted = await team.night('2026-12-21T03:17:00Z');
  assert.deepEqual(counted.usage, { citations: 1, sessions: 2 });
  assert.deepEqual(counted.phase1.extracted, [], 'injected memory taught nothing new');

  const { usage } = JSON.parse((await team.status('2026-12-21T09:00:00Z')).stdout);
  const use = (n: number) => usage.threads.find((one: { thread_id: string }) => one.thread_id === uuid(n));
  assert.equal(usage.threads[0].thread_id, uuid(1), 'the most used stands first');
  assert.deepEqual([use(1).injected, use(1).cited, use(2).injected, use(2).cited], [2, 1, 2, 0]);
  assert.deepEqual(usage.agents, [{ agent: 'codex', injected: 2, citing: 1 }]);
  const block = usage.blocks.find((one: { threads: string[] }) => one.threads.includes(shortThreadId(uuid(1))));
  assert.deepEqual([block.injected, block.cited], [2, 1]);

  const again = await team.night('2026-12-22T03:17:00Z');
  assert.deepEqual(again.usage, { citations: 0, sessions: 0 });

  await team.night('2027-01-04T03:17:00Z');
  assert.ok(isNamed(team, 1), 'the cited one, though it is the oldest');
  assert.ok(!isNamed(team, 2), 'newer, never cited');
  assert.doesNotMatch(team.handbook(), /module 2\b|test_2\.py|module_2\.py/);
  assert.match(team.handbook(), /never change the tests here/, 'a person’s words do not age');

  await team.night('2027-01-21T03:17:00Z');
  assert.ok(!isNamed(team, 1), 'thirty days after its last citation');
  assert.match(team.handbook(), /never change the tests here/);
});
