import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { secondCorrection as second, uuid } from '../support/codex-session.ts';
import { temporaryFolder } from '../support/repository.ts';
import { nightRecord, withOneSession } from '../support/stages.ts';
import { edit } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const night = '2026-11-22T03:17:00Z';

test('three jobs propose what a night learned: the later ones hold no key or may not write', async (t) => {
  const team = await withOneSession(t);
  const run = team.run(night);
  const claimed = await run.stage('claim');
  assert.equal(claimed.code, 0, claimed.stderr);
  assert.equal(claimed.output, 'claimed=true\n');
  assert.notEqual(team.tip('refs/memory/lease'), null);
  assert.deepEqual(nightRecord(team).startedRun?.threads, [uuid(1)]);
  const remembered = await run.stage('remember');
  assert.equal(remembered.code, 0, remembered.stderr);
  assert.equal(team.tip(proposal), null, 'who reads transcripts pushes nothing');
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.equal(team.forge.pulls.length, 1);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
  assert.equal(team.tip('refs/memory/lease'), null);
  assert.equal(nightRecord(team).startedRun, null);
  const again = await team.run('2026-11-22T04:17:00Z').stage('claim');
  assert.match(again.stdout, /^Nothing to do: every session is read/);
  assert.equal(again.output, '');
  assert.equal(team.tip('refs/memory/lease'), null);
});

test('a night in stages goes on with the branch that an earlier one pushed', async (t) => {
  const team = await withOneSession(t);
  await team.run(night).all();
  await team.collect(second);
  await team.run('2026-11-23T03:17:00Z').all();
  assert.equal(team.forge.pulls.length, 1);
  const memory = team.file(proposal, 'memories/MEMORY.md');
  assert.match(memory, /integer cents/);
  assert.match(memory, /not jest/);
});

test('a session that an earlier night read is up to date, and not left for the next', async (t) => {
  const team = await withOneSession(t);
  await team.run(night).all();
  await team.collect(second);
  const run = team.run('2026-11-23T03:17:00Z');
  await run.stage('claim');
  const { code, stdout } = await run.stage('remember');
  assert.equal(code, 0);
  assert.match(stdout, /2 found, 1 extracted/);
  assert.match(stdout, /1 skipped: up to date/);
  assert.doesNotMatch(stdout, /left for the next night/);
});

test('a dry claim says what would be read, and takes nothing', async (t) => {
  const team = await withOneSession(t);
  const summary = join(temporaryFolder(t), 'summary');
  const dry = { args: ['--dry-run'], env: { GITHUB_STEP_SUMMARY: summary } };
  const { code, stdout, output } = await team.run(night).stage('claim', dry);
  assert.equal(code, 0);
  assert.match(stdout, /Would read 1 of 1 sessions/);
  assert.match(
    readFileSync(summary, 'utf8'),
    new RegExp(`Would read 1 of 1 sessions[^|]*\\|[\\s\\S]*${uuid(1).slice(0, 8)}`),
  );
  assert.equal(output, '');
  assert.equal(team.tip('refs/memory/lease'), null);
  assert.equal(team.tip('refs/memory/state'), null);
});

test('a claim while another run works says so and ends well; once that run has ended the lease is free', async (t) => {
  const team = await withOneSession(t);
  const before = team.run(night);
  await before.stage('claim');
  const second = await team.run(night).stage('claim');
  assert.equal(second.code, 0);
  assert.match(second.stdout, /another night is at work \(Actions run 4711\/1\)/);
  assert.equal(second.output, '');
  team.forge.settings.runs[before.id] = { attempts: { '1': 'completed' } };
  const third = await team.run('2026-11-23T03:17:00Z').stage('claim');
  assert.equal(third.code, 0, third.stderr);
  assert.equal(third.output, 'claimed=true\nunfinished_run=4711\n');
});

test('what moved after the claim ends the night unpaid, and costs no attempt', async (t) => {
  const team = await withOneSession(t);
  const run = team.run(night);
  await run.stage('claim');
  team.person('main', (clone) => edit(clone, 'README.md', () => 'Edited.\n'));
  const remembered = await run.stage('remember');
  assert.equal(remembered.code, 0, remembered.stderr);
  assert.match(remembered.stdout, /refs\/heads\/main moved after the claim/);
  assert.ok(!existsSync(join(run.artifacts, 'night/night.bundle')));
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.equal(nightRecord(team).startedRun, null);
  assert.equal(team.tip('refs/memory/lease'), null);
  assert.equal((await team.run('2026-11-22T04:17:00Z').all()).code, 0);
});

test('sessions that arrive after the claim wait for the next night', async (t) => {
  const team = await withOneSession(t);
  const run = team.run(night);
  await run.stage('claim');
  await team.collect(second);
  assert.equal((await run.stage('remember')).code, 0);
  assert.equal((await run.stage('propose')).code, 0);
  assert.doesNotMatch(team.file(proposal, 'memories/MEMORY.md'), /not jest/);
});
