import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { type CarriedNote, memoryPathOf } from '../../scripts/archive/note-file.ts';
import { spoolNote } from '../../scripts/archive/note-spool.ts';
import { addNotes } from '../../scripts/archive/notes.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { filesAt, playedHere } from '../support/nights.ts';
import { aRepository, env, temporaryFolder } from '../support/repository.ts';
import { aStagedTeam } from '../support/stages.ts';
import { aTeamOnServers, type TestTeam } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const handbook = 'memories/MEMORY.md';
const shop = 'git.example.test/acme/shop';
const note: CarriedNote = {
  kind: 'note',
  name: '2026-11-21T12-00-00-staging.md',
  authority: 'human',
  channel: 'command-line',
  author: 'dana',
  repo: shop,
  at: 1_795_262_400,
  text: 'Staging is reset every Monday.',
};
const other = { ...note, name: '2026-11-22T12-00-00-pnpm.md', text: 'Use pnpm in this repository.' };

async function carry(dir: string, ...notes: readonly CarriedNote[]): Promise<void> {
  const repository = await openRepository(dir, { env });
  await addNotes({ repository, ref: archiveRef, remote: null }, notes, { clock: fixedClock(note.at) });
}

async function afterOneNight(t: TestContext): Promise<TestTeam> {
  const team = await aTeamOnServers(t);
  await carry(team.dir, note);
  const night = await team.night('2026-11-22T03:17:00Z');
  assert.equal(night.code, 0, night.stderr);
  assert.match(night.stdout, /1 notes were taken in/);
  assert.ok(team.file(proposal, handbook).includes(note.text));
  assert.ok(team.file(proposal, memoryPathOf(note)).includes(note.text));
  return team;
}

test('a note on the team’s ref is proposed like all else, and again refreshes the same pull request', async (t) => {
  const team = await afterOneNight(t);
  await carry(team.dir, other);
  await team.night('2026-11-23T03:17:00Z');
  assert.equal(team.forge.pulls.length, 1);
  assert.ok(team.file(proposal, handbook).includes(other.text) && team.file(proposal, handbook).includes(note.text));
});

test('a note whose file is deleted in the pull request is forgotten', async (t) => {
  const team = await afterOneNight(t);
  team.person('memory/nightly', (clone) => rmSync(join(clone, memoryPathOf(note))));
  await carry(team.dir, other);
  await team.night('2026-11-23T03:17:00Z');
  await team.night('2026-11-24T03:17:00Z');
  assert.equal(team.file(proposal, memoryPathOf(note)), '');
  assert.ok(!team.file(proposal, handbook).includes(note.text));
  assert.ok(team.file(proposal, handbook).includes(other.text));
});

test('a closed proposal holds its notes until a new one comes', async (t) => {
  const team = await afterOneNight(t);
  team.shut();
  const held = await team.night('2026-11-23T03:17:00Z');
  assert.match(held.stdout, /Nothing to do|held/);
  assert.equal(team.forge.pulls.length, 1);
  await carry(team.dir, other);
  await team.night('2026-11-24T03:17:00Z');
  assert.equal(team.forge.pulls.length, 2);
  assert.ok(team.file(proposal, handbook).includes(other.text));
});

test('a rejected proposal forgets its notes', async (t) => {
  const team = await afterOneNight(t);
  team.shut('memory:reject');
  await carry(team.dir, { ...note, name: '2026-11-22T12-00-00-seed.md', text: 'Seed with make seed.' });
  await team.night('2026-11-23T03:17:00Z');
  const memory = team.file(proposal, handbook);
  assert.ok(memory.includes('Seed with make seed.') && !memory.includes(note.text), memory);
});

test('a night in three jobs takes notes in, also where no session has come', async (t) => {
  const team = await aStagedTeam(t);
  await carry(team.dir, note);
  await team.run('2026-11-22T03:17:00Z').all();
  assert.ok(team.file(proposal, handbook).includes(note.text));
});

test('a note that waits on this machine is read by a night here; a session is not needed', async (t) => {
  const repo = aRepository(t, { '.github/memory.yml': `version: 1\ninclude: [${shop}]\n`, 'README.md': 'Mine.\n' });
  const own = temporaryFolder(t);
  const { name, text, authority, channel, at } = note;
  await spoolNote(join(own, 'state'), { name, text }, { authority, channel, memory: repo, repo: shop, at });
  const night = () => playedHere(['--repo', repo, '--now'], { CTM_HOME: own, HOME: own });
  const { code, stderr } = await night();
  assert.equal(code, 0, stderr);
  assert.ok(filesAt(repo, 'HEAD').get(handbook)?.includes(text));
  assert.match((await night()).stdout, /Nothing to do/);
});
