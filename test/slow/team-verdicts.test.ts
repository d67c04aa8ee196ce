import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { git } from '../support/repository.ts';
import { aTeamOnServers, edit, type TestTeam } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const handbook = 'memories/MEMORY.md';

async function afterOneNight(t: Parameters<typeof aTeamOnServers>[0]): Promise<TestTeam> {
  const team = await aTeamOnServers(t);
  team.session(first);
  await plays(team, '2026-11-22T03:17:00Z');
  return team;
}

async function plays(team: TestTeam, at: string): Promise<void> {
  const night = await team.night(at);
  assert.equal(night.code, 0, night.stderr);
}

test('what was closed and is opened again is held no longer: the branch goes on, under the same number', async (t) => {
  const team = await afterOneNight(t);
  team.shut();
  assert.match((await team.night('2026-11-23T03:17:00Z')).stdout, /held/);
  team.forge.reopen(1);
  team.session(second);
  await plays(team, '2026-11-24T03:17:00Z');
  assert.equal(team.forge.pulls.length, 1);
  const memory = team.file(proposal, handbook);
  assert.match(memory, /integer cents/);
  assert.match(memory, /not jest/);
  assert.equal(git(team.dir, 'ls-tree', '-r', '--name-only', 'refs/memory/state', 'closed/'), '');
});

test('a rejection that is taken back forgets nothing', async (t) => {
  const team = await afterOneNight(t);
  team.shut('memory:reject');
  await plays(team, '2026-11-23T03:17:00Z');
  team.forge.reopen(1);
  team.session(second);
  await plays(team, '2026-11-24T03:17:00Z');
  assert.match(team.file(proposal, handbook), /integer cents/);
});

test('a merged pull request that is reverted on the default branch is forgotten, and never comes back', async (t) => {
  const team = await afterOneNight(t);
  team.merge('squash');
  await plays(team, '2026-11-23T03:17:00Z');
  team.person('main', (clone) => git(clone, 'revert', '--no-commit', 'HEAD'));
  await plays(team, '2026-11-24T03:17:00Z');
  team.session(second);
  await plays(team, '2026-11-25T03:17:00Z');
  assert.match(team.file(proposal, handbook), /not jest/);
  assert.doesNotMatch(team.file(proposal, handbook), /integer cents/);
});

test('what a person commits to the branch after it was merged or closed is proposed anew', async (t) => {
  for (const ends of ['merge', 'close'] as const) {
    const team = await afterOneNight(t);
    const tip = team.tip(proposal) ?? '';
    if (ends === 'merge') team.merge('merge');
    else team.shut();
    if (ends === 'merge') git(team.dir, 'update-ref', proposal, tip);
    await plays(team, '2026-11-23T03:17:00Z');
    team.person('memory/nightly', (clone) =>
      edit(clone, handbook, (text) => `${text}- Ask before you touch lib/legacy.\n`),
    );
    await plays(team, '2026-11-24T03:17:00Z');
    assert.equal(team.forge.pulls.filter(({ state }) => state === 'open').length, 1, ends);
    assert.match(team.file(proposal, handbook), /Ask before you touch lib\/legacy/, ends);
  }
});

test('a branch that was deleted is held, and a pull request open for five weeks loses nothing', async (t) => {
  const team = await afterOneNight(t);
  await plays(team, '2026-12-27T03:17:00Z');
  assert.match(team.file(proposal, handbook), /integer cents/);
  assert.equal(team.forge.pulls.length, 1);
  git(team.dir, 'update-ref', '-d', proposal);
  assert.match((await team.night('2026-12-28T03:17:00Z')).stdout, /held/);
  assert.equal(team.tip(proposal), null);
});

test('a branch that a hook refuses: the night fails, and the next one finishes it once it is allowed', async (t) => {
  const team = await aTeamOnServers(t);
  team.session(first);
  team.server.refuse('acme/memory', 'refs/heads/memory/*', 'Not today.');
  const refused = await team.night('2026-11-22T03:17:00Z');
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /Not today/);
  assert.equal(team.forge.pulls.length, 0);
  team.server.refuse('acme/memory', '', '');
  await plays(team, '2026-11-23T03:17:00Z');
  assert.match(team.file(proposal, handbook), /integer cents/);
  assert.equal(team.forge.pulls.length, 1);
});

test('a lost state is rebuilt from what is published: the same pull request, people’s words and all', async (t) => {
  const team = await afterOneNight(t);
  team.person('memory/nightly', (clone) =>
    edit(clone, handbook, (text) => `${text}- Ask before you touch lib/legacy.\n`),
  );
  git(team.dir, 'update-ref', '-d', 'refs/memory/state');
  team.session(second);
  await plays(team, '2026-11-23T03:17:00Z');
  const memory = team.file(proposal, handbook);
  for (const words of [/integer cents/, /not jest/, /Ask before you touch lib\/legacy/]) assert.match(memory, words);
  assert.equal(team.forge.pulls.length, 1);
});
