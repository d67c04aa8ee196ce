import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jobOf } from '../../scripts/state/jobs.ts';
import { listRuns } from '../../scripts/state/runs.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import { secondCorrection as second, uuid } from '../support/codex-session.ts';
import { playedHere } from '../support/nights.ts';
import { nightRecord, withOneSession } from '../support/stages.ts';
import { edit } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const night = '2026-11-22T03:17:00Z';

test('a branch that a person moved while the night read is left as it is; nothing is lost', async (t) => {
  const team = await withOneSession(t);
  await team.run(night).all();
  await team.collect(second);
  const run = team.run('2026-11-23T03:17:00Z');
  await run.stage('claim');
  await run.stage('remember');
  team.person('memory/nightly', (clone) => edit(clone, 'memories/MEMORY.md', (text) => `${text}- Ask first.\n`));
  const tip = team.tip(proposal);
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.match(proposed.stdout, /Nothing was pushed: refs\/heads\/memory\/nightly moved/);
  assert.equal(team.tip(proposal), tip);
  assert.deepEqual(nightRecord(team).startedRun, { ...nightRecord(team).startedRun, threads: [] });
  const next = await team.run('2026-11-24T03:17:00Z').all();
  assert.equal(next.code, 0, next.stderr);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /Ask first/);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /not jest/);
});

test('a run that left no result counts an attempt for its sessions; the next reads half and takes over the journal', async (t) => {
  const team = await withOneSession(t);
  await team.collect(second);
  const run = team.run(night);
  await run.stage('claim');
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.match(proposed.stdout, /left no result/);
  assert.equal(team.tip('refs/memory/lease'), null);
  const state = await openState(team.file('refs/memory/state', 'state.sqlite.json'));
  for (const n of [1, 2]) {
    const job = jobOf(state, 'memory_stage1', uuid(n));
    assert.deepEqual([job?.status, job?.retryRemaining], ['error', 2]);
  }
  assert.deepEqual(listRuns(state, 1)[0]?.counts, { threads: 2, unfinished: 1 });
  state.close();
  const next = team.run('2026-11-23T03:17:00Z');
  const claimed = await next.stage('claim');
  assert.equal(claimed.output, `claimed=true\nunfinished_run=${run.id}\n`);
  assert.match(claimed.stdout, /1 sessions to read/);
  await next.stage('remember');
  assert.equal((await next.stage('propose')).code, 0);
  assert.equal(nightRecord(team).startedRun, null);
});

test('one process that finds a run without a result counts it as the stages do', async (t) => {
  const team = await withOneSession(t);
  const run = team.run(night);
  await run.stage('claim');
  team.forge.settings.runs[run.id] = { attempts: { '1': 'completed' } };
  team.session(second);
  const whole = await team.night('2026-11-23T03:17:00Z');
  assert.equal(whole.code, 0, whole.stderr);
  assert.equal(nightRecord(team).startedRun, null);
  const state = await openState(team.file('refs/memory/state', 'state.sqlite.json'));
  assert.deepEqual(
    listRuns(state, 5).map(({ outcome }) => outcome),
    ['done', 'failed'],
  );
  state.close();
});

test('what was asked for is told to claim, which tells the others', async (t) => {
  const team = await withOneSession(t);
  const run = team.run(night);
  await run.stage('claim', { args: ['--model', 'builtin'] });
  const { wishes } = JSON.parse(readFileSync(join(run.artifacts, 'night/start.json'), 'utf8'));
  assert.deepEqual(wishes, { now: true, since: 0, model: 'builtin' });
  const refused = await run.stage('remember', { args: ['--now'] });
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--stage remember takes no --now/);
});

test('stages of a repository that delivers to nobody have nothing to do', async (t) => {
  const team = await withOneSession(t);
  const clone = team.clone();
  edit(clone, '.github/memory.yml', (text) => text.replace('mode: pull-request', 'mode: commit'));
  for (const stage of ['claim', 'remember', 'propose']) {
    const ended = await playedHere(['--repo', clone, '--stage', stage]);
    assert.equal(ended.code, 0);
    assert.match(ended.stdout, /^Nothing to do: a night in stages delivers to a team/);
  }
});
