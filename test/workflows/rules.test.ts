import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { filledIn } from '../support/expressions.ts';
import { root } from '../support/nights.ts';
import { faultsOf, type Job, loadWorkflow, type Step, workflowText } from '../support/workflows.ts';

const names = readdirSync(join(root, '.github/workflows')).map((file) => file.replace(/\.yml$/, ''));
const workflows = Object.fromEntries(names.map((name) => [name, loadWorkflow(name)]));
const nightly = loadWorkflow('nightly');
const jobs = Object.entries(workflows).flatMap(([name, { jobs: all }]) =>
  Object.entries(all).map(([id, job]) => ({ at: `${name}/${id}`, job })),
);
const steps = jobs.flatMap(({ at, job }) => job.steps.map((step) => ({ at, step })));

test('there are two workflows, and only the nightly one has a schedule', () => {
  assert.deepEqual(names.sort(), ['check', 'nightly']);
  assert.deepEqual(Object.keys(nightly.on), ['schedule', 'workflow_dispatch']);
  assert.deepEqual(Object.keys(loadWorkflow('check').on), ['pull_request']);
});

for (const name of names) {
  test(`GitHub’s own parser takes ${name}.yml, and would say what is wrong with it`, async () => {
    const text = workflowText(name);
    assert.deepEqual(await faultsOf(text), []);
    const planted = [
      text.replace('contents: read', 'contents: reed'),
      text.replace('timeout-minutes', 'time-out-minutes'),
      text.replace('github.event', 'github..event'),
    ];
    for (const one of planted) {
      assert.notEqual(one, text);
      assert.notDeepEqual(await faultsOf(one), []);
    }
  });
}

test('every action is pinned by its whole commit id, with its version beside it, and to one commit', () => {
  const pins = new Map<string, string>();
  for (const name of names) {
    for (const [, reference = ''] of workflowText(name).matchAll(/uses: (.*)/g)) {
      const [, action = '', commit = ''] =
        /^(actions\/[a-z-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+$/.exec(reference) ??
        assert.fail(`not pinned: ${reference}`);
      assert.equal(pins.get(action) ?? commit, commit, action);
      pins.set(action, commit);
    }
  }
  assert.equal(pins.size, 4);
});

test('no job may do more than it has to', () => {
  for (const { permissions } of Object.values(workflows)) assert.deepEqual(permissions, {});
  assert.deepEqual(Object.fromEntries(jobs.map(({ at, job }) => [at, job.permissions])), {
    'nightly/claim': { actions: 'read', contents: 'write', 'pull-requests': 'read' },
    'nightly/read': { contents: 'read' },
    'nightly/remember': { contents: 'read' },
    'nightly/propose': { contents: 'write', 'pull-requests': 'write' },
    'check/code': { contents: 'read' },
    'check/memory': { contents: 'read' },
  });
});

test('secrets reach the one step that needs them: the model’s key nobody who may write, a pull request’s run none', () => {
  const found = steps.flatMap(({ at, step }) =>
    Object.entries(step.env ?? {})
      .filter(([, value]) => value.includes('secrets.'))
      .map(([name]) => `${at} ${name}`),
  );
  assert.deepEqual(found, [
    'nightly/claim ROLLOUTS_TOKEN',
    'nightly/read ROLLOUTS_TOKEN',
    'nightly/read OPENAI_API_KEY',
    'nightly/remember ROLLOUTS_TOKEN',
    'nightly/remember OPENAI_API_KEY',
    'nightly/propose GITHUB_TOKEN',
    'nightly/propose ROLLOUTS_TOKEN',
  ]);
  const everywhere = names.map((name) => workflowText(name)).join('\n');
  assert.equal(everywhere.match(/secrets\.[A-Z]/g)?.length, found.length);
});

test('no checkout leaves its token behind', () => {
  const checkouts = steps.filter(({ step }) => step.uses?.startsWith('actions/checkout@'));
  assert.equal(checkouts.length, jobs.length);
  for (const { at, step } of checkouts) assert.equal(step.with?.['persist-credentials'], false, at);
});

test('nothing from outside is written into a command: it comes through the environment', () => {
  for (const { at, step } of steps) assert.ok(!step.run?.includes('${{'), at);
});

test('what a step runs is what cron runs', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  for (const { at, step } of steps.filter((one) => one.step.run !== undefined)) {
    const [, script] = /^npm (?:ci|test|run --silent (\S+))(?: |$)/.exec(step.run ?? '') ?? [];
    if (script === undefined) assert.match(step.run ?? '', /^(?:npm (?:ci|test)\b|git fetch )/, at);
    else assert.ok(script in scripts, `${at}: npm run ${script}`);
  }
});

test('every job has a time-out, and the lease outlives those of the night', () => {
  const minutes = (one: { 'timeout-minutes'?: number }) => one['timeout-minutes'] ?? assert.fail('no time-out');
  for (const { job } of jobs) assert.ok(minutes(job) <= 120);
  const lease = (vars: object, inputs: object) =>
    Number(filledIn(nightly.env?.CTM_LEASE_MINUTES ?? '', { vars, inputs }));
  const sum = (jobs: readonly Job[]) => jobs.reduce((total, job) => total + minutes(job), 0);
  const { read = assert.fail(), remember = assert.fail(), ...others } = nightly.jobs;
  const unsplit = sum([...Object.values(others), remember]);
  for (const nothing of [{}, { MEMORY_SHARDS: '1' }]) assert.ok(lease(nothing, {}) >= unsplit + 15);
  assert.equal(lease({}, {}), 150, 'what is not split is as it was');
  for (const split of [lease({ MEMORY_SHARDS: '4' }, {}), lease({}, { shards: '4' })])
    assert.ok(split >= unsplit + minutes(read) + 15);
  assert.equal(Number(nightly.env?.CTM_REMEMBER_MINUTES), minutes(remember));
  assert.equal(Number(nightly.env?.CTM_SHARD_MINUTES), minutes(read));
  const work = (job: Job, wanted: string) => job.steps.find(({ name }) => name === wanted) ?? assert.fail();
  assert.ok(minutes(work(remember, 'Remember')) <= minutes(remember) - 10);
  assert.ok(minutes(work(read, 'Read')) <= minutes(read) - 10);
});

test('of several machines that read none stops another, and remember waits for all and goes on whatever became of them', () => {
  const { read, remember } = nightly.jobs;
  assert.equal(read?.strategy?.['fail-fast'], false);
  assert.deepEqual(remember?.needs, ['claim', 'read']);
  assert.match(remember?.if ?? '', /!cancelled\(\)/);
});

test('a night that is under way is not cut off', () => {
  assert.deepEqual(nightly.concurrency, { group: 'memory-nightly', 'cancel-in-progress': false });
});

test('the schedule has an odd minute and says whose time it is', () => {
  const [{ cron = '', timezone = '' } = {}] = nightly.on.schedule as { cron?: string; timezone?: string }[];
  assert.match(cron, /^[1-5]?[13579] (?:1?\d|2[0-3]) \* \* \*$/);
  assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: timezone }));
});

test('what the jobs hand over lives for days, and the journal is kept however the night ends', () => {
  const uploads = steps.filter(({ step }) => step.uses?.startsWith('actions/upload-artifact@'));
  const nameOf = ({ at, step }: { at: string; step: Step }) =>
    `${at} ${step.with?.name} ${step.if}`.replace(/\$\{\{ (.*?) \}\}/, '<$1>');
  assert.deepEqual(uploads.map(nameOf), [
    'check/memory memory-check always()',
    "nightly/claim journal steps.claim.outputs.claimed == 'true'",
    "nightly/claim night-start steps.claim.outputs.claimed == 'true'",
    'nightly/read shard-<matrix.shard> always()',
    'nightly/remember journal always()',
    'nightly/remember night-result always()',
  ]);
  for (const { step } of uploads) {
    assert.ok(Number(step.with?.['retention-days']) <= 3);
    assert.deepEqual([step.with?.['include-hidden-files'], step.with?.overwrite], [true, true]);
  }
});

test('code owners stand for what the nightly job runs, is told and may do, and for paths that exist', () => {
  const lines = readFileSync(join(root, '.github/CODEOWNERS'), 'utf8').split('\n');
  const owned = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split(/\s+/));
  for (const [path = '', ...owners] of owned) {
    assert.ok(existsSync(join(root, path)), path);
    assert.ok(owners.length > 0 && owners.every((owner) => /^@[\w-]+(?:\/[\w-]+)?$/.test(owner)), path);
  }
  const paths = owned.map(([path]) => path);
  for (const path of ['/scripts/', '/prompts/', '/.github/', '/package.json']) assert.ok(paths.includes(path), path);
  assert.ok(!paths.some((path) => path?.startsWith('/memories')));
});
