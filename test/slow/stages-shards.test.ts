import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startApiServer } from '../support/api-server.ts';
import { correcting, uuid } from '../support/codex-session.ts';
import { configFor, sound } from '../support/model-nights.ts';
import { playedHere } from '../support/nights.ts';
import { git, temporaryFolder } from '../support/repository.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { phase1Here } from '../support/shards.ts';
import { aStagedTeam, type PlayedStage, type StagedTeam } from '../support/stages.ts';
import { botToken, edit, readerToken } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const numbers = [1, 2, 3, 4, 5, 6, 7];
const sessions = numbers.map((n) =>
  correcting(n, `No, number ${n} is kept in lib/price${n}.ts.`, `2026-11-2${n < 4 ? 0 : 1}T1${n}:00:00Z`),
);
const night = '2026-11-22T09:17:00Z';
const split = { args: ['--shards', '3'] };
const parts = ['1/3', '2/3', '3/3'];

interface ModelTeam extends StagedTeam {
  /** How often phase 1 asked. */
  asked(): number;
}

/** A team whose nights ask a model on this machine. */
async function aModelTeam(t: TestContext, collected = sessions): Promise<ModelTeam> {
  const api = await startApiServer({ behave: sound });
  t.after(() => api.close());
  const team = await aStagedTeam(t);
  team.person('main', (clone) =>
    edit(clone, '.github/memory.yml', (text) => text.replace('model: { provider: builtin }\n', configFor(api.baseUrl))),
  );
  await team.collect(...collected);
  return { ...team, asked: () => api.requests.filter(isExtraction).length };
}

function well(played: PlayedStage): PlayedStage {
  assert.equal(played.code, 0, played.stdout + played.stderr);
  return played;
}

/** The memory as it is proposed, as an oid. */
function proposed({ dir }: StagedTeam): string {
  return git(dir, 'rev-parse', `${proposal}:memories`);
}

test('claim splits the night, each job asks for its part with rights to read, and what is proposed is the same', async (t) => {
  const plain = await aModelTeam(t);
  await plain.run(night).all();
  const team = await aModelTeam(t);
  const run = team.run(night);
  const claimed = well(await run.stage('claim', split));
  assert.equal(claimed.output, 'claimed=true\nshards=[1,2,3]\n');
  assert.match(claimed.stdout, /7 sessions to read in 3 parts/);
  const state = team.tip('refs/memory/state');
  for (const part of parts) assert.match(well(await run.shard(part)).stdout, /^Done: part \d\/3/);
  assert.equal(team.asked(), 7);
  assert.equal(team.tip('refs/memory/state'), state, 'a job that reads moves no ref');
  const remembered = well(await run.stage('remember'));
  assert.match(remembered.stderr, /Shards paid for 7 answers/);
  assert.match(remembered.stdout, /7 found, 7 extracted/);
  assert.equal(team.asked(), 7);
  well(await run.stage('propose'));
  assert.equal(proposed(team), proposed(plain));
  assert.equal(team.tip('refs/memory/lease'), null);
});

test('the sessions of a job that never ran are asked for by remember', async (t) => {
  const team = await aModelTeam(t);
  const run = team.run(night);
  well(await run.stage('claim', split));
  well(await run.shard('1/3'));
  well(await run.shard('3/3'));
  const paid = team.asked();
  assert.ok(paid > 0 && paid < 7);
  assert.match(well(await run.stage('remember')).stdout, /7 found, 7 extracted/);
  assert.equal(team.asked(), 7);
  well(await run.stage('propose'));
});

test('what moved after the claim ends a job unpaid; moved after the jobs, their answers are the next night’s', async (t) => {
  const team = await aModelTeam(t);
  const run = team.run(night);
  well(await run.stage('claim', split));
  well(await run.shard('1/3'));
  well(await run.shard('2/3'));
  const paid = team.asked();
  team.person('main', (clone) => edit(clone, 'README.md', () => 'Edited.\n'));
  assert.match(well(await run.shard('3/3')).stdout, /Nothing was read or paid: refs\/heads\/main moved/);
  const remembered = well(await run.stage('remember'));
  assert.match(remembered.stdout, /main moved after the claim\. The next night takes over what the shards paid for/);
  well(await run.stage('propose'));
  assert.equal(team.asked(), paid);
  const next = team.run('2026-11-23T03:17:00Z');
  assert.equal(well(await next.stage('claim')).output, `claimed=true\nunfinished_run=${run.id}\n`);
  cpSync(join(run.artifacts, 'journal'), join(next.artifacts, 'journal'), { recursive: true });
  assert.match(well(await next.stage('remember')).stdout, /7 found, 7 extracted/);
  assert.equal(team.asked(), 7);
  well(await next.stage('propose'));
});

test('a run that is lost after its jobs read leaves their answers to the next, whose jobs ask for none of them again', async (t) => {
  const team = await aModelTeam(t);
  const lost = team.run(night);
  well(await lost.stage('claim', split));
  for (const part of parts) well(await lost.shard(part));
  assert.match(well(await lost.stage('propose')).stdout, /left no result/);
  const next = team.run('2026-11-23T03:17:00Z');
  const claimed = well(await next.stage('claim', { args: ['--shards', '2'] }));
  assert.match(claimed.output, new RegExp(`unfinished_run=${lost.id}`));
  cpSync(join(lost.artifacts, 'shards'), join(next.artifacts, 'journal/shards'), { recursive: true });
  for (const part of ['1/2', '2/2']) well(await next.shard(part));
  const { threads } = JSON.parse(readFileSync(join(next.artifacts, 'night/start.json'), 'utf8'));
  assert.equal(threads.length, 3, 'half of what the lost one had begun');
  assert.match(well(await next.stage('remember')).stdout, /3 extracted/);
  assert.equal(team.asked(), 7);
  well(await next.stage('propose'));
});

test('a night with less to read than machines has as many parts as sessions; with one session none', async (t) => {
  const team = await aModelTeam(t);
  const many = await team.run(night).stage('claim', { args: ['--shards', '200'] });
  assert.match(many.output, /shards=\[1,2,3,4,5,6,7\]\n/);
  const small = await aModelTeam(t, sessions.slice(0, 1));
  const one = await small.run(night).stage('claim', split);
  assert.equal(one.output, 'claimed=true\n');
  assert.match(one.stdout, /^Claimed: 1 sessions to read\.$/m);
});

test('a team without a model has nothing to split', async (t) => {
  const team = await aStagedTeam(t);
  await team.collect(...sessions.slice(0, 2));
  const run = team.run(night);
  assert.equal(well(await run.stage('claim', split)).output, 'claimed=true\n');
  assert.match(well(await run.shard('1/3')).stdout, /asks no model/);
  well(await run.stage('remember'));
  well(await run.stage('propose'));
});

test('a job believes claim alone: as many parts, no wishes, and a lease that covers it', async (t) => {
  const team = await aModelTeam(t);
  const run = team.run(night);
  const before = await run.shard('1/3');
  assert.deepEqual([before.code, /claim left none here/.test(before.stderr)], [1, true]);
  const wrong = await run.stage('claim', { args: ['--shards', '0'] });
  assert.deepEqual([wrong.code, /--shards does not take “0”/.test(wrong.stderr)], [2, true]);
  assert.equal(team.tip('refs/memory/lease'), null, 'nothing was taken');
  well(await run.stage('claim', split));
  const other = await run.shard('1/2');
  assert.deepEqual([other.code, /claimed in 3 parts, not in 2/.test(other.stderr)], [2, true]);
  const wish = await run.shard('1/3', { args: ['--since', 'all'] });
  assert.deepEqual([wish.code, /--claimed takes no --since/.test(wish.stderr)], [2, true]);
  const long = await run.shard('1/3', { env: { CTM_SHARD_MINUTES: '500' } });
  assert.match(well(long).stdout, /Nothing was read or paid: the lease moved/);
  const journal = await run.stage('remember', { args: ['--journal', 'x'] });
  assert.deepEqual([journal.code, /--stage remember takes no --journal/.test(journal.stderr)], [2, true]);
  assert.equal(team.asked(), 0);
});

test('a job cannot slip another session in: remember believes answers for what claim named', async (t) => {
  const team = await aModelTeam(t);
  const run = team.run(night);
  well(await run.stage('claim', split));
  for (const part of parts) well(await run.shard(part));
  const only = (text: string) => {
    const start = JSON.parse(text);
    return JSON.stringify({ ...start, threads: [uuid(1)] });
  };
  const remembered = await run.stage('remember', {
    before: (clone) => edit(clone, '.git/memory/night/start.json', only),
  });
  assert.match(well(remembered).stderr, /Shards paid for 1 answers/);
  assert.match(remembered.stderr, /were not asked of it/);
});

test('by hand, over machines of a team: each reads the team’s sessions, one plays the night from their journals', async (t) => {
  const team = await aModelTeam(t);
  const env = { CTM_CLOCK: night, TEAM_TOKEN: botToken };
  const wishes = ['--now', '--since', 'all'];
  const journals = temporaryFolder(t);
  for (const part of ['1/2', '2/2']) {
    const journal = join(journals, part.replace('/', '-of-'));
    const reader = { ...env, TEAM_TOKEN: readerToken };
    const ended = await phase1Here(['--repo', team.clone(), '--shard', part, '--journal', journal, ...wishes], reader);
    assert.equal(ended.code, 0, ended.stderr);
  }
  assert.equal(team.asked(), 7);
  const ended = await playedHere(['--repo', team.clone(), '--journal', journals, ...wishes], env);
  assert.equal(ended.code, 0, ended.stderr);
  assert.match(ended.stderr, /Shards paid for 7 answers/);
  assert.match(ended.stdout, /7 found, 7 extracted/);
  assert.equal(team.asked(), 7);
  assert.equal(team.forge.pulls.length, 1);
});
