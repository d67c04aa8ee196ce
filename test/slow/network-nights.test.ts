import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { bentNight } from '../support/bent-nights.ts';
import { correcting } from '../support/codex-session.ts';
import type { Fault, GitRequest } from '../support/git-server.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';

const words = 'No, prices are integer cents in lib/price1.ts, never floats.';
const proposal = 'refs/heads/memory/nightly';

async function aTeam(t: TestContext): Promise<StagedTeam> {
  const team = await aStagedTeam(t);
  await team.collect(correcting(1, words, '2026-11-20T10:00:00Z'));
  return team;
}

const isPush = ({ method, url }: GitRequest) => method === 'POST' && url.includes('git-receive-pack');

/** Before or after each push takes effect, and at every eighth of the other requests. */
function ends(requests: readonly GitRequest[]): { readonly at: number; readonly kind: Fault['kind'] }[] {
  return requests.flatMap((request) => {
    if (isPush(request)) return [{ at: request.n, kind: 'drop' } as const, { at: request.n, kind: 'cut' } as const];
    return request.n % 8 === 1 ? [{ at: request.n, kind: 'drop' } as const] : [];
  });
}

test('whenever the network goes, and stays away, in a night: the next finishes it, with one pull request', async (t) => {
  const whole = await aTeam(t);
  whole.server.fault = () => null;
  const quiet = await bentNight(whole);
  assert.equal(quiet.code, 0, quiet.stderr);
  const wanted = whole.file(proposal, 'memories/MEMORY.md');
  assert.match(wanted, /integer cents/);
  const points = ends(whole.server.requests);
  assert.ok(points.filter(({ kind }) => kind === 'cut').length >= 4, 'a night pushes its lease, state, branch, state');
  let died = 0;
  for (const { at, kind } of points) {
    const team = await aTeam(t);
    const drop: Fault = { kind: 'drop' };
    team.server.fault = ({ n }) => (n < at ? null : n === at && kind === 'cut' ? { kind } : drop);
    const night = await bentNight(team);
    died += night.code === 0 ? 0 : 1;
    team.server.fault = null;
    const rerun = await bentNight(team, { clock: '2026-11-23T03:17:00Z' });
    const where = `request ${at}, ${kind}: ${rerun.stderr}`;
    assert.equal(rerun.code, 0, where);
    assert.deepEqual(
      team.forge.pulls.map(({ state }) => state),
      ['open'],
      where,
    );
    assert.equal(team.file(proposal, 'memories/MEMORY.md'), wanted, where);
    assert.equal(team.tip('refs/memory/lease'), null, where);
  }
  assert.ok(died >= points.length - 3, `${died} of ${points.length} nights died`);
});
