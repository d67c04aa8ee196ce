import assert from 'node:assert/strict';
import { test } from 'node:test';
import { correcting, forgets } from '../support/forgetting.ts';
import { aTeamOnServers } from '../support/team.ts';

const words = 'No, prices are integer cents in lib/price1.ts, never floats.';
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
