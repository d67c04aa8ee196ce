import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { startApiServer } from '../support/api-server.ts';
import { type BatchApi, createBatchApi } from '../support/batch-api.ts';
import { firstCorrection as first, secondCorrection as second, uuid } from '../support/codex-session.ts';
import { configFor, sound } from '../support/model-nights.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { aStagedTeam, type StagedTeam } from '../support/stages.ts';
import { edit, type TestTeam } from '../support/team.ts';

const proposal = 'refs/heads/memory/nightly';
const nightAt = (n: number) => `2026-11-2${n}T03:17:00Z`;

interface Setting {
  readonly team: StagedTeam;
  readonly api: BatchApi;
  /** Extractions that were asked one by one, the trials of a batch's form apart. */
  askedAlone(): number;
}

async function aTeamWithBatches(t: TestContext): Promise<Setting> {
  const api = createBatchApi(parseIsoTime(nightAt(1)) ?? 0);
  const server = await startApiServer({ behave: sound, batches: api });
  t.after(() => server.close());
  const team = await aStagedTeam(t);
  team.person('main', (clone) =>
    edit(clone, '.github/memory.yml', (text) =>
      text.replace('model: { provider: builtin }\n', `${configFor(server.baseUrl)}  batch: true\n`),
    ),
  );
  await team.collect(first, second);
  const askedAlone = () =>
    server.requests.filter((request) => isExtraction(request) && !/This is a trial/.test(request.texts.join('')))
      .length;
  return { team, api, askedAlone };
}

interface Recorded {
  readonly batches?: readonly { readonly id: string; readonly status: string; readonly requests: readonly string[] }[];
  readonly startedRun: { readonly threads: readonly string[] } | null;
}

function record(team: TestTeam): Recorded {
  return JSON.parse(team.file('refs/memory/state', 'night.json'));
}

test('in three jobs a batch travels in the state: asked for and read by the one that has the key', async (t) => {
  const { team, api, askedAlone } = await aTeamWithBatches(t);
  const run = team.run(nightAt(1));
  assert.equal((await run.stage('claim')).output, 'claimed=true\n');
  assert.deepEqual(record(team).startedRun?.threads.toSorted(), [uuid(1), uuid(2)]);
  assert.equal(api.calls.length, 0, 'claim has no key');
  const remembered = await run.stage('remember');
  assert.equal(remembered.code, 0, remembered.stderr);
  assert.match(remembered.stdout, /new: batch_1 {2}validating, 2 requests/);
  assert.equal(record(team).batches, undefined, 'remember may not write');
  const calls = api.calls.length;
  const proposed = await run.stage('propose');
  assert.equal(proposed.code, 0, proposed.stderr);
  assert.equal(api.calls.length, calls, 'propose has no key');
  assert.deepEqual(
    record(team).batches?.map(({ id, requests }) => [id, requests.length]),
    [['batch_1', 2]],
  );
  assert.equal(record(team).startedRun, null);

  api.begin('batch_1');
  const waits = team.run(nightAt(2));
  assert.equal((await waits.stage('claim')).output, 'claimed=true\n', 'there is a batch to look at');
  assert.deepEqual(record(team).startedRun?.threads, [], 'what is under way is no attempt of this run');
  assert.match((await waits.stage('remember')).stdout, /2 skipped: waits for batch/);
  assert.equal((await waits.stage('propose')).code, 0);
  assert.equal(record(team).batches?.[0]?.status, 'in_progress');

  await api.endAll({ behave: sound });
  await team.run(nightAt(3)).all();
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents[\s\S]*not jest/);
  assert.equal(team.forge.pulls.length, 1);
  assert.equal(askedAlone(), 0);
  await team.run(nightAt(4)).all();
  assert.equal(api.files.size, 0);
  assert.equal(record(team).batches, undefined);
  const quiet = await team.run(nightAt(5)).stage('claim');
  assert.match(quiet.stdout, /^Nothing to do/);
});

test('a run that is lost after it asked for a batch: the next one finds it by what the journal holds', async (t) => {
  const { team, api, askedAlone } = await aTeamWithBatches(t);
  const lost = team.run(nightAt(1));
  await lost.stage('claim');
  await lost.stage('remember');
  rmSync(join(lost.artifacts, 'night/night.json'));
  rmSync(join(lost.artifacts, 'night/night.bundle'));
  assert.match((await lost.stage('propose')).stdout, /left no result/);
  assert.equal(record(team).batches, undefined);
  await api.endAll({ behave: sound });
  team.forge.settings.runs[lost.id] = { attempts: { '1': 'completed' } };
  const next = team.run(nightAt(2));
  const fetched = (clone: string) =>
    cpSync(join(lost.artifacts, 'journal'), join(clone, '.git/memory/journal'), { recursive: true });
  assert.match((await next.stage('claim', { before: fetched })).output, /unfinished_run=4711/);
  await next.stage('remember');
  assert.equal((await next.stage('propose')).code, 0);
  assert.equal(api.batches.length, 1);
  assert.equal(askedAlone(), 0);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
});

test('a night that could not be pushed reads its batch again; nothing is asked a second time', async (t) => {
  const { team, api, askedAlone } = await aTeamWithBatches(t);
  await team.run(nightAt(1)).all();
  await api.endAll({ behave: sound });
  const run = team.run(nightAt(2));
  await run.stage('claim');
  await run.stage('remember');
  team.person('main', (clone) => edit(clone, 'README.md', () => 'Edited.\n'));
  assert.match((await run.stage('propose')).stdout, /Nothing was pushed: refs\/heads\/main moved/);
  assert.equal(record(team).batches?.[0]?.requests.length, 2);
  await team.run(nightAt(3)).all();
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents[\s\S]*not jest/);
  assert.deepEqual([api.batches.length, askedAlone()], [1, 0]);
});

test('a team’s night in one process asks for a batch and reads it', async (t) => {
  const { team, api, askedAlone } = await aTeamWithBatches(t);
  const asked = await team.night(nightAt(1));
  assert.equal(asked.code, 0, asked.stderr);
  assert.equal(record(team).batches?.length, 1);
  await api.endAll({ behave: sound });
  const read = await team.night(nightAt(2));
  assert.equal(read.code, 0, read.stderr);
  assert.match(team.file(proposal, 'memories/MEMORY.md'), /integer cents/);
  assert.deepEqual([api.batches.length, askedAlone()], [1, 0]);
});
