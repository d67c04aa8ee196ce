import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correcting, uuid } from '../support/codex-session.ts';
import { forgets } from '../support/forgetting.ts';
import { git } from '../support/repository.ts';
import { aTeamOnServers } from '../support/team.ts';
import { errorsAt } from '../support/team-check.ts';

const words = 'No, prices are integer cents in lib/price1.ts, never floats.';
const handbook = 'memories/MEMORY.md';
const proposal = 'refs/heads/memory/nightly';
const stateRef = 'refs/memory/state';

test('after somebody forgot something elsewhere, a machine that played nights before plays on, without the words', async (t) => {
  const team = await aTeamOnServers(t);
  const clone = team.clone();
  team.session(correcting(1, words, '2026-11-20T10:00:00Z'));
  const first = await team.night('2026-11-22T03:17:00Z', { clone });
  assert.equal(first.code, 0, first.stderr);
  const forgotten = await forgets(team.clone(), ['--match', 'integer cents', '--yes'], '2026-11-22T10:00:00Z');
  assert.equal(forgotten.code, 3, 'the words stand in the proposal’s history');
  team.session(correcting(2, 'No, use npm test and not jest for lib/price2.ts.', '2026-11-22T11:00:00Z'));
  const next = await team.night('2026-11-23T03:17:00Z', { clone });
  assert.equal(next.code, 0, next.stderr);
  assert.match(team.file('refs/heads/memory/nightly', 'memories/MEMORY.md'), /npm test and not jest/);
  assert.doesNotMatch(team.file(stateRef, 'state.sqlite.json'), /integer cents/);
});

test('a cleaning that people close with what else was proposed does not bring the words back: the next night takes them out again', async (t) => {
  for (const what of [
    ['--match', 'integer cents'],
    ['--thread', uuid(1)],
  ]) {
    const team = await aTeamOnServers(t);
    team.session(correcting(1, words, '2026-11-20T10:00:00Z'));
    assert.equal((await team.night('2026-11-22T03:17:00Z')).code, 0);
    team.merge('merge');
    team.session(correcting(3, 'No, dates in lib/price3.ts are ISO strings in UTC.', '2026-11-22T06:00:00Z'));
    assert.equal((await team.night('2026-11-22T09:17:00Z')).code, 0);
    const forgotten = await forgets(team.clone(), [...what, '--yes'], '2026-11-22T10:00:00Z');
    assert.equal(forgotten.code, 3, 'the words stand on the default branch');
    assert.doesNotMatch(team.file(proposal, handbook), /integer cents/);
    team.shut();
    assert.match(team.file('main', handbook), /integer cents/);
    const second = correcting(2, 'No, use npm test and not jest for lib/price2.ts.', '2026-11-22T11:00:00Z');
    team.session({ ...second, remote: 'https://git.example.test/acme/api.git' });
    const next = await team.night('2026-11-23T03:17:00Z');
    assert.equal(next.code, 0, next.stderr);
    assert.match(team.file(proposal, handbook), /npm test and not jest/);
    for (const ref of [proposal, stateRef])
      for (const file of git(team.dir, 'ls-tree', '-r', '--name-only', ref).split('\n'))
        assert.doesNotMatch(team.file(ref, file), /integer cents/, `${file} in ${ref}`);
    assert.deepEqual(await errorsAt(team, proposal), [], what[0]);
  }
});
