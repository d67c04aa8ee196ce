import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishCommand, publishSpec } from '../../scripts/nightly/publish-command.ts';
import { aFix } from '../support/codex-session.ts';
import { type Ended, ranHere } from '../support/nights.ts';
import { git } from '../support/repository.ts';
import { aTeamOnServers, botToken, edit, type TestTeam } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const later = '2026-11-30T04:00:00Z';

type Context = Parameters<typeof aTeamOnServers>[0];

/** A team with one session that teaches something. */
async function aTeam(t: Context, config = ''): Promise<TestTeam> {
  const team = await aTeamOnServers(t, config);
  team.session(aFix(1));
  return team;
}

const night = (team: TestTeam, clone: string) => team.night('2026-11-30T03:17:00Z', { clone });

function publish(clone: string, at = later, args: readonly string[] = []): Promise<Ended> {
  return ranHere(publishSpec, publishCommand, ['--repo', clone, ...args], { CTM_CLOCK: at, TEAM_TOKEN: botToken });
}

/** A night whose branch is pushed while the host of the pull requests does not take one. */
async function withoutPull(t: Context): Promise<{ team: TestTeam; clone: string }> {
  const team = await aTeam(t);
  const clone = team.clone();
  const { settings } = team.forge;
  const bot = settings.tokens[botToken];
  assert.ok(bot);
  settings.tokens[botToken] = { ...bot, pulls: 'read' };
  const died = await night(team, clone);
  assert.equal(died.code, 1, died.stdout);
  settings.tokens[botToken] = bot;
  assert.notEqual(team.tip(proposal), null);
  assert.equal(team.forge.pulls.length, 0);
  return { team, clone };
}

test('the pull request that a night could not open is opened, from any clone, and then there is nothing to do', async (t) => {
  const { team } = await withoutPull(t);
  const first = await publish(team.clone());
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^pull request {2}1 {2}http/m);
  assert.equal(team.forge.pulls.length, 1);
  assert.doesNotMatch(team.forge.pulls[0]?.body ?? '', /test_1\.py/);
  assert.match(team.forge.pulls[0]?.title ?? '', /^Memory: /);
  assert.equal(team.tip('refs/memory/lease'), null, 'the lease is released');
  const state = team.tip('refs/memory/state');
  assert.match(team.file('refs/memory/state', 'night.json'), /"pendingPush": null,\s+"pullRequest": \{\s+"number": 1/);
  const again = await publish(team.clone(), later, ['--json']);
  assert.deepEqual(JSON.parse(again.stdout), {
    outcome: 'quiet',
    why: 'pull request 1 is open and holds what the last night pushed',
  });
  assert.equal(team.tip('refs/memory/state'), state);
  assert.equal(team.forge.pulls.length, 1);
  const next = await team.night('2026-12-01T03:17:00Z');
  assert.equal(next.code, 0, next.stderr);
  assert.equal(team.forge.pulls.length, 1);
});

/** A night that has moved the state and could not push its branch. */
async function withoutBranch(t: Context): Promise<TestTeam> {
  const team = await aTeam(t);
  team.server.refuse('acme/memory', 'refs/heads/memory/*', 'not today');
  const died = await night(team, team.clone());
  assert.equal(died.code, 1);
  assert.equal(team.tip(proposal), null);
  team.server.refuse('acme/memory', '', '');
  return team;
}

test('a push that was begun is finished and proposed, from any clone', async (t) => {
  const team = await withoutBranch(t);
  const ended = await publish(team.clone());
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stdout, /^pushed {8}refs\/heads\/memory\/nightly → [0-9a-f]{12}$/m);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /module_1/);
  assert.equal(team.forge.pulls.length, 1);
  const again = await publish(team.clone());
  assert.equal(again.stdout, 'Nothing to do: pull request 1 is open and holds what the last night pushed.\n');
});

test('where the branch went on without it, nothing is pushed over anybody’s work', async (t) => {
  const team = await withoutBranch(t);
  git(team.dir, 'update-ref', proposal, 'main');
  const ended = await publish(team.clone());
  assert.equal(ended.code, 1);
  assert.match(ended.stderr, /has not pushed its commits to refs\/heads\/memory\/nightly[\s\S]*npm run nightly/);
  assert.equal(team.tip(proposal), team.tip('refs/heads/main'));
  assert.equal(team.forge.pulls.length, 0);
});

test('with delivery push the default branch gets what was begun, and no pull request', async (t) => {
  const team = await aTeamOnServers(t);
  team.session(aFix(1));
  team.person('main', (to) =>
    edit(to, '.github/memory.yml', (text) => text.replace('mode: pull-request', 'mode: push')),
  );
  const clone = team.clone();
  team.server.refuse('acme/memory', 'refs/heads/main', 'not today');
  assert.equal((await night(team, clone)).code, 1);
  team.server.refuse('acme/memory', '', '');
  const ended = await publish(clone);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(team.file('main', 'memories/MEMORY.md'), /module_1/);
  assert.equal(team.forge.pulls.length, 0);
  assert.match((await publish(clone)).stdout, /^Nothing to do: everything that was delivered/);
});

test('what a person closed or merged is left to the next night', async (t) => {
  const team = await aTeam(t);
  assert.equal((await night(team, team.clone())).code, 0);
  team.shut();
  assert.match((await publish(team.clone())).stdout, /^Nothing to do: the pull request was closed/);
  team.forge.reopen(1);
  team.merge('squash');
  assert.match((await publish(team.clone())).stdout, /^Nothing to do: what was proposed is merged/);
  assert.equal(team.forge.pulls.length, 1);
});

test('it waits for nobody: without a night, with delivery commit, and while a night is at work it says so', async (t) => {
  const team = await aTeam(t);
  const clone = team.clone();
  assert.match((await publish(clone)).stdout, /^Nothing to do: no night has delivered anything yet/);
  edit(clone, '.github/memory.yml', (text) => text.replace('mode: pull-request', 'mode: commit'));
  assert.match((await publish(clone)).stdout, /^Nothing to do: delivery.mode .* is commit/);
  const other = team.clone();
  const held = git(
    other,
    'commit-tree',
    '-m',
    '{"worker":"w","token":"t","run":null,"leaseUntil":4102444800}',
    emptyTree,
  );
  git(other, 'push', '--quiet', team.dir, `${held}:refs/memory/lease`);
  assert.match((await publish(other)).stdout, /^Nothing to do: a night is at work \(w\)/);
});

const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
