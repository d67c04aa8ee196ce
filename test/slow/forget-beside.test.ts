import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { bentNight } from '../support/bent-nights.ts';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { forgets, toldBy } from '../support/forgetting.ts';
import { git } from '../support/repository.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { aTeamOnServers } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const handbook = 'memories/MEMORY.md';
const stateRef = 'refs/memory/state';
const words = 'integer cents';
const match = ['--match', words, '--yes', '--json'];

async function aTeam(t: TestContext): Promise<StagedTeam> {
  const team = await aStagedTeam(t);
  await team.collect(first, second);
  return team;
}

/** What is forgotten is in no part of what the nights wrote; what the other session taught is. */
function isObeyed(team: StagedTeam): void {
  for (const path of [handbook, 'memories/raw_memories.md', 'state.sqlite.json'])
    assert.equal(team.file(proposal, path).includes(words), false, path);
  assert.equal(team.file(stateRef, 'state.sqlite.json').includes(words), false);
  assert.match(team.file(proposal, handbook), /npm test/);
}

test('asked while a night is at work: that night starts again without it, and what it had made is pushed nowhere', async (t) => {
  const team = await aTeam(t);
  let asked = '';
  const night = await bentNight(team, {
    rollouts: (rollouts) => ({
      ...rollouts,
      list: async (signal) => {
        if (asked === '') asked = (await forgets(team.clone(), match, '2026-11-22T03:20:00Z')).stdout;
        return rollouts.list(signal);
      },
    }),
  });
  assert.equal(night.stdout, 'done\n', night.stderr);
  const { outcome, gone } = JSON.parse(asked);
  assert.equal(outcome, 'requested');
  assert.deepEqual(gone, [
    { surface: 'rollouts', what: '0 sessions dropped, 1 session without items, 0 notes dropped or cut' },
  ]);
  isObeyed(team);
  const again = await forgets(team.clone(), match);
  assert.deepEqual([again.code, toldBy(again).outcome], [0, 'forgotten'], again.stderr);
});

test('asked between the stages: nothing is proposed, and the next night obeys', async (t) => {
  const team = await aTeam(t);
  const run = team.run('2026-11-22T03:17:00Z');
  assert.equal((await run.stage('claim')).code, 0);
  assert.equal((await run.stage('remember')).code, 0);
  const asked = await forgets(team.clone(), match, '2026-11-22T03:30:00Z');
  assert.deepEqual([asked.code, toldBy(asked).outcome], [3, 'requested'], asked.stderr);
  const proposed = await run.stage('propose');
  assert.match(proposed.stdout, /^Nothing was pushed: what is to be forgotten moved since/, proposed.stderr);
  assert.equal(team.tip(proposal), null);
  await team.run('2026-11-23T03:17:00Z').all();
  isObeyed(team);
});

test('a line that is named by its place is not asked for: when the night has ended another may stand there', async (t) => {
  const team = await aTeamOnServers(t);
  const clone = team.clone();
  const record = '{"worker":"process 7 on far","token":"t","run":null,"leaseUntil":4102444800}';
  const held = git(clone, 'commit-tree', '-m', record, '4b825dc642cb6eb9a060e54bf8d69288fbee4904');
  git(clone, 'push', '--quiet', team.dir, `${held}:refs/memory/lease`);
  const refused = await forgets(clone, ['--line', 'MEMORY.md:3', '--yes']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /A night is at work \(process 7 on far\), and may be until 2100-01-01T00:00:00Z/);
  assert.equal(team.tip('refs/memory/rollouts'), null);
  const asked = await forgets(clone, ['--thread', 'some-session', '--yes']);
  assert.equal(asked.code, 3, asked.stderr);
  assert.match(asked.stdout, /Run this very command again when the night has ended/);
  assert.equal(team.tip(stateRef), null);
  git(team.dir, 'update-ref', '-d', 'refs/memory/lease');
  const ended = await forgets(clone, ['--thread', 'some-session', '--yes']);
  assert.equal(ended.code, 0, ended.stderr);
  const tombstones = team.file('refs/memory/rollouts', 'tombstones.json');
  assert.equal(tombstones.includes('some-session'), false);
  assert.match(tombstones, /"keys":\[\n"[0-9a-f]{64}"/, 'also before it was ever sent');
});
