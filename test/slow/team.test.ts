import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { aTeamOnServers, botToken, edit, type TestTeam } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';

async function afterOneNight(t: Parameters<typeof aTeamOnServers>[0]): Promise<TestTeam> {
  const team = await aTeamOnServers(t);
  team.session(first);
  const night = await team.night('2026-11-22T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  return team;
}

test('a night proposes what it learned: one branch, one pull request, the default branch untouched', async (t) => {
  const team = await afterOneNight(t);
  assert.equal(team.forge.pulls.length, 1);
  assert.equal(team.forge.pulls[0]?.headOid, null);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
  assert.equal(team.file('main', 'memories/MEMORY.md'), '');
  assert.notEqual(team.tip('refs/memory/state'), null);
  assert.equal(team.tip('refs/memory/lease'), null, 'the lease is released');
  assert.doesNotMatch(team.forge.pulls[0]?.body ?? '', /integer cents/);
});

test('the next night goes on with the branch and refreshes the same pull request', async (t) => {
  const team = await afterOneNight(t);
  team.session(second);
  const night = await team.night('2026-11-23T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  assert.equal(team.forge.pulls.length, 1);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents[\s\S]*not jest|not jest[\s\S]*integer cents/);
  const quiet = await team.night('2026-11-24T03:17:00Z');
  assert.match(quiet.stdout, /Nothing to do/);
});

for (const way of ['merge', 'squash', 'rebase', 'fast-forward'] as const) {
  test(`after a ${way} the next night starts from the default branch and proposes only what is new`, async (t) => {
    const team = await afterOneNight(t);
    team.merge(way);
    const quiet = await team.night('2026-11-23T03:17:00Z');
    assert.equal(quiet.code, 0, quiet.stderr);
    assert.equal(team.forge.pulls.length, 1);
    team.session(second);
    const night = await team.night('2026-11-24T03:17:00Z');
    assert.equal(night.code, 0, night.stderr);
    assert.equal(team.forge.pulls.length, 2);
    assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
    assert.match(team.file(proposal, 'memories/MEMORY.md'), /not jest/);
  });
}

test('what was closed is held until a session arrives that it did not have', async (t) => {
  const team = await afterOneNight(t);
  team.shut();
  for (const at of ['2026-11-23T03:17:00Z', '2026-11-23T04:17:00Z'])
    assert.match((await team.night(at)).stdout, /held/);
  assert.equal(team.forge.pulls.length, 1);
  team.session(second);
  const night = await team.night('2026-11-24T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  assert.equal(team.forge.pulls.length, 2);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/, 'its inputs are additions again');
});

test('what was rejected is forgotten: its evidence never comes back', async (t) => {
  const team = await afterOneNight(t);
  team.shut('memory:reject');
  const verdict = await team.night('2026-11-23T03:17:00Z');
  assert.equal(verdict.code, 0, verdict.stderr);
  team.session(second);
  const night = await team.night('2026-11-24T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /not jest/);
  assert.doesNotMatch(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
});

test('a host that cannot be asked stops the night before it pays, and holds nothing', async (t) => {
  const team = await afterOneNight(t);
  const state = team.tip('refs/memory/state');
  team.forge.settings.tokens[botToken] = { login: 'memory-bot', kind: 'user', expired: true };
  const night = await team.night('2026-11-23T03:17:00Z');
  assert.equal(night.code, 1);
  assert.match(night.stderr, /could not be asked/);
  assert.equal(team.tip('refs/memory/state'), state);
});

test('a person’s edit on the branch and on the default branch wins, and the night goes on', async (t) => {
  const team = await afterOneNight(t);
  team.person('memory/nightly', (clone) =>
    edit(clone, 'memories/MEMORY.md', (text) => `${text}- Ask before you touch lib/legacy.\n`),
  );
  team.person('main', (clone) => edit(clone, 'README.md', () => 'Edited.\n'));
  team.session(second);
  const night = await team.night('2026-11-23T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  const memory = team.file(proposal, 'memories/MEMORY.md');
  assert.match(memory, /Ask before you touch lib\/legacy/);
  assert.match(memory, /not jest/);
  assert.match(team.file(proposal, 'README.md'), /^Edited\.$/);
});

test('the token is in no output and no object', async (t) => {
  const team = await aTeamOnServers(t);
  team.session(first);
  const night = await team.night('2026-11-22T03:17:00Z');
  assert.ok(!`${night.stdout}${night.stderr}`.includes(botToken));
});
