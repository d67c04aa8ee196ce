import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { statePath } from '../../scripts/state/current.ts';
import { listOutputs } from '../../scripts/state/outputs.ts';
import { listRuns } from '../../scripts/state/runs.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import { bentNight } from '../support/bent-nights.ts';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { type Ended, startNightly } from '../support/nights.ts';
import { git, temporaryFolder } from '../support/repository.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { botToken } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const refs = [proposal, 'refs/memory/state', 'refs/memory/lease'];

async function aTeam(t: TestContext): Promise<StagedTeam> {
  const team = await aStagedTeam(t);
  await team.collect(first);
  return team;
}

/** Each a process of its own. */
function atOnce(clones: readonly string[]): Promise<readonly Ended[]> {
  const env = { CTM_CLOCK: '2026-11-22T03:17:00Z', TEAM_TOKEN: botToken };
  return Promise.all(clones.map((clone) => startNightly(['--repo', clone, '--now', '--since', 'all'], { env }).ended));
}

/**
 * One worked, every other one ended as it should, and what there was to learn is proposed once and whole.
 * @param others their exit code, and what they say.
 */
async function assertOneWinner(team: StagedTeam, ended: readonly Ended[], others: RegExp): Promise<void> {
  const ends = ended.map(({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`);
  const losers = ends.filter((end) => !end.startsWith('0 Done'));
  assert.equal(losers.length, ended.length - 1, ends.join('\n'));
  for (const end of losers) assert.match(end, others);
  assert.equal(team.forge.pulls.length, 1);
  assert.equal(team.tip('refs/memory/lease'), null);
  const state = await openState(team.file('refs/memory/state', statePath));
  assert.equal(listRuns(state, 10).length, 1);
  assert.deepEqual(
    listOutputs(state).map(({ threadId }) => threadId),
    [first.id, second.id].sort(),
  );
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
  git(team.dir, 'fsck', '--strict', '--no-dangling');
}

test('eight nights at once, each a process with a clone of its own: one works, the others end well, nothing is lost', async (t) => {
  const team = await aTeam(t);
  await team.collect(second);
  const ended = await atOnce(Array.from({ length: 8 }, () => team.clone()));
  await assertOneWinner(team, ended, /^0 Nothing to do/);
  assert.ok(ended.some(({ stdout }) => stdout.includes('another night is at work')));
});

test('eight nights at once in one and the same clone: the others are told whose turn it is', async (t) => {
  const team = await aTeam(t);
  await team.collect(second);
  const clone = team.clone();
  const ended = await atOnce(Array.from({ length: 8 }, () => clone));
  await assertOneWinner(team, ended, /^(?:0 Nothing to do|1 error: \S+night\.lock is held by process \d+)/);
});

test('after the winner was killed, its lease keeps others away until it has run out; then one goes on', async (t) => {
  const team = await aTeam(t);
  const clock = join(temporaryFolder(t), 'clock');
  writeFileSync(clock, '2026-11-22T03:17:00Z');
  const env = { CTM_CLOCK: '', CTM_CLOCK_FILE: clock, TEAM_TOKEN: botToken };
  const winner = startNightly(['--repo', team.clone(), '--now', '--since', 'all'], { env });
  team.server.fault = () => {
    if (team.tip('refs/memory/lease') === null) return null;
    winner.killAll();
    return { kind: 'stall' };
  };
  assert.equal((await winner.ended).signal, 'SIGKILL');
  team.server.fault = null;
  const lease = team.tip('refs/memory/lease');
  assert.notEqual(lease, null);
  writeFileSync(clock, '2026-11-22T04:16:59Z');
  const early = await bentNight(team, { clock });
  assert.equal(early.stdout, 'held\n', early.stderr);
  assert.equal(team.tip('refs/memory/lease'), lease);
  writeFileSync(clock, '2026-11-22T04:17:00Z');
  const late = await bentNight(team, { clock });
  assert.equal(late.stdout, 'done\n', late.stderr);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
});

/** A night whose lease runs out while it is paused; another plays to its end meanwhile. */
async function overtaken(team: StagedTeam): Promise<readonly (string | null)[]> {
  const other = await bentNight(team, { clock: '2026-11-22T05:17:00Z' });
  assert.equal(other.stdout, 'done\n', other.stderr);
  return refs.map((ref) => team.tip(ref));
}

test('a winner that was paused past its lease and wakes late pushes nothing', async (t) => {
  const team = await aTeam(t);
  let left: readonly (string | null)[] = [];
  const slow = await bentNight(team, {
    rollouts: (rollouts) => ({
      ...rollouts,
      list: async (signal) => {
        left = await overtaken(team);
        return rollouts.list(signal);
      },
    }),
  });
  assert.equal(slow.code, 1);
  assert.match(slow.stderr, /The lease was lost; nothing more is pushed/);
  assert.deepEqual(
    refs.map((ref) => team.tip(ref)),
    left,
  );
  assert.equal(team.forge.pulls.length, 1);
});

test('nor does one that was paused between its proof and its push: it loses the swap, and the retry proves again', async (t) => {
  const team = await aTeam(t);
  let left: readonly (string | null)[] | null = null;
  const slow = await bentNight(team, {
    team: (ours) => {
      const { remote } = ours.lease.ports;
      const fetch: typeof remote.fetch = async (wanted, options) => {
        const found = await remote.fetch(wanted, options);
        if (left === null && wanted.length === 1) {
          left = await overtaken(team);
          await team.collect(second);
        }
        return found;
      };
      return { ...ours, lease: { ...ours.lease, ports: { ...ours.lease.ports, remote: { ...remote, fetch } } } };
    },
  });
  assert.equal(slow.code, 1, slow.stdout);
  assert.match(slow.stderr, /The lease was lost; nothing more is pushed/);
  assert.deepEqual(
    refs.map((ref) => team.tip(ref)),
    left,
  );
  assert.equal(team.forge.pulls.length, 1);
});
