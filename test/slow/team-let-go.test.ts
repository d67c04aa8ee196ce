import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bentNight } from '../support/bent-nights.ts';
import { aFix, type CodexSession, uuid } from '../support/codex-session.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { errorsAt } from '../support/team-check.ts';

const main = 'refs/heads/main';
const proposal = 'refs/heads/memory/nightly';
const stateRef = 'refs/memory/state';
const inputs = 'memories/raw_memories.md';

test('a session that a proposal lets go of stays known until people merge that: closing it leaves nothing unknown', async (t) => {
  const team = await aStagedTeam(t);
  await plays(team, '2026-10-02T03:17:00Z', aFix(1, [], { ...shop, at: '2026-10-01T10:00:00Z' }));
  team.merge('squash');
  await plays(team, '2026-11-03T03:17:00Z', aFix(2, [], { ...shop, at: '2026-11-02T10:00:00Z' }));
  assert.ok(!team.file(proposal, inputs).includes(uuid(1)), 'it is too old by now');
  await plays(team, '2026-11-04T03:17:00Z');
  team.shut();
  assert.deepEqual(await errorsAt(team, main), []);
  await plays(team, '2026-11-05T03:17:00Z', aFix(3, [], { ...api, at: '2026-11-04T10:00:00Z' }));
  assert.ok(team.file(proposal, inputs).includes(uuid(1)), 'its scope is held, so its files stand');
  for (const ref of [main, proposal]) assert.deepEqual(await errorsAt(team, ref), [], ref);
  await plays(team, '2026-11-06T03:17:00Z', aFix(4, [], { ...shop, at: '2026-11-05T10:00:00Z' }));
  assert.ok(!team.file(proposal, inputs).includes(uuid(1)), 'the hold is over');
  team.merge('squash');
  await plays(team, '2026-11-07T03:17:00Z');
  assert.ok(!team.file(stateRef, 'state.sqlite.json').includes(uuid(1)), 'nothing names it any more');
  for (const ref of [main, proposal]) if (team.tip(ref) !== null) assert.deepEqual(await errorsAt(team, ref), [], ref);
});

const shop = { remote: 'https://git.example.test/acme/shop.git' };
const api = { remote: 'https://git.example.test/acme/api.git' };

async function plays(team: StagedTeam, clock: string, ...sessions: readonly CodexSession[]): Promise<void> {
  if (sessions.length > 0) await team.collect(...sessions);
  const night = await bentNight(team, { clock, wishes: { all: false, now: true, since: null } });
  assert.equal(night.code, 0, night.stderr);
}
