import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bentNight } from '../support/bent-nights.ts';
import { firstCorrection as first, secondCorrection as second } from '../support/codex-session.ts';
import { startNightly } from '../support/nights.ts';
import { temporaryFolder } from '../support/repository.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { botToken } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const refs = [proposal, 'refs/memory/state', 'refs/memory/lease'];

async function aTeam(t: TestContext): Promise<StagedTeam> {
  const team = await aStagedTeam(t);
  await team.collect(first);
  return team;
}

test('four nights at once on four clones: one works, the others find it at work or done, and all end well', async (t) => {
  const team = await aTeam(t);
  const ended = await Promise.all([1, 2, 3, 4].map(() => team.night('2026-11-22T03:17:00Z')));
  assert.deepEqual(
    ended.map(({ code }) => code),
    [0, 0, 0, 0],
  );
  const worked = ended.filter(({ stdout }) => stdout.startsWith('Done'));
  assert.equal(worked.length, 1, ended.map(({ stdout }) => stdout).join('\n'));
  for (const { stdout } of ended) if (!stdout.startsWith('Done')) assert.match(stdout, /^Nothing to do/);
  assert.ok(ended.some(({ stdout }) => stdout.includes('another night is at work')));
  assert.equal(team.forge.pulls.length, 1);
  assert.equal(team.tip('refs/memory/lease'), null);
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
