import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { playWorkflow, type Trigger, token } from '../support/actions.ts';
import { aRunner, artifactsIn } from '../support/actions-steps.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { loadWorkflow } from '../support/workflows.ts';

/**
 * Stands for the stages: tells what each was given and leaves what it hands on. What the real ones do has tests of its
 * own; here it is the jobs, their conditions, rights and hand-overs that are tried.
 */
const stage = `
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
const stage = args[args.indexOf('--stage') + 1];
const { OPENAI_API_KEY = '', GITHUB_TOKEN = '', ROLLOUTS_TOKEN = '', GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, PLAN } = process.env;
const at = (path) => '.git/memory/' + path;
const read = (path) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : null);
const plan = JSON.parse(PLAN);
const shard = args.includes('--claimed') ? args[args.indexOf('--shard') + 1] : null;
const shards = existsSync(at('shards')) ? readdirSync(at('shards')).sort() : null;
if (plan.diesIn !== undefined && plan.diesIn === shard) process.exit(1);
const got = { args, key: OPENAI_API_KEY, token: GITHUB_TOKEN, rollouts: ROLLOUTS_TOKEN, start: read('night/start.json'),
  result: read('night/night.json'), bundle: read('night/night.bundle'), journal: read('journal/answers.jsonl'), shards };
process.stdout.write(JSON.stringify(got));
appendFileSync(GITHUB_STEP_SUMMARY, 'stage ' + stage + '\\n');
for (const folder of ['night', 'journal']) mkdirSync(at(folder), { recursive: true });
if (stage === 'claim' && plan.claimed) {
  appendFileSync(GITHUB_OUTPUT, 'claimed=true\\n');
  writeFileSync(at('night/start.json'), 'start');
  const asked = args.find((arg) => arg.startsWith('--shards='))?.slice(9) ?? '1';
  const parts = Array.from({ length: Number(asked) }, (_, index) => index + 1);
  if (asked !== '1') appendFileSync(GITHUB_OUTPUT, 'shards=' + JSON.stringify(parts) + '\\n');
  if (plan.unfinished) appendFileSync(GITHUB_OUTPUT, 'unfinished_run=' + plan.unfinished + '\\n');
}
if (shard !== null) {
  mkdirSync(at('shard'));
  writeFileSync(at('shard/shard.json'), shard);
}
if (stage === 'remember') {
  appendFileSync(at('journal/answers.jsonl'), 'paid ');
  if (plan.dies) process.exit(1);
  writeFileSync(at('night/night.json'), 'result');
  writeFileSync(at('night/night.bundle'), 'bundle');
}
`;

interface Got {
  readonly args: readonly string[];
  readonly key: string;
  readonly token: string;
  readonly rollouts: string;
  readonly start: string | null;
  readonly result: string | null;
  readonly bundle: string | null;
  readonly journal: string | null;
  /** Folders that shards left. */
  readonly shards: readonly string[] | null;
}

interface Plan {
  readonly claimed: boolean;
  readonly dies?: boolean;
  /** The shard that dies, such as `2/3`. */
  readonly diesIn?: string;
  /** The run whose journal is taken over. */
  readonly unfinished?: number;
}

const secrets = { OPENAI_API_KEY: 'the-key', ROLLOUTS_READ_TOKEN: 'may-read', ROLLOUTS_WRITE_TOKEN: 'may-write' };

async function aNight(t: TestContext, plan: Plan, given: Partial<Trigger> = {}) {
  const origin = aRepository(t);
  const scripts = { nightly: 'node stage.mjs', phase1: 'node stage.mjs' };
  writeFiles(origin, { 'package.json': JSON.stringify({ type: 'module', scripts }), 'stage.mjs': stage });
  const sha = commitAll(origin, 'Start');
  const folder = temporaryFolder(t);
  const payload = { repository: { fork: false, default_branch: 'main' } };
  const trigger = { event: 'schedule', payload, ref: 'refs/heads/main', sha, secrets, ...given };
  writeFiles(folder, {
    'run-41/journal/answers.jsonl': 'paid before, ',
    'run-41/shard-1/shard.json': '1/2',
    'run-41/shard-2/shard.json': '2/2',
  });
  const runner = aRunner(folder, origin, trigger, { PLAN: JSON.stringify(plan) });
  const jobs = await playWorkflow(loadWorkflow('nightly'), trigger, runner);
  const results = Object.entries(jobs).map(([id, { result }]) => `${id} ${result}`);
  const got = (id: string): Got => {
    const steps = jobs[id]?.steps ?? assert.fail(id);
    return JSON.parse(steps.find(({ stdout }) => stdout.startsWith('{'))?.stdout ?? assert.fail(id));
  };
  return { jobs, results, got, folder };
}

test('a night is claimed, remembered and proposed, and each job gets what it needs and no more', async (t) => {
  const { jobs, results, got, folder } = await aNight(t, { claimed: true });
  assert.deepEqual(results, ['claim success', 'read skipped', 'remember success', 'propose success']);
  const common = { token, start: 'start', result: null, bundle: null, journal: null, shards: null };
  assert.deepEqual(got('claim'), {
    ...common,
    args: ['--stage', 'claim'],
    key: '',
    rollouts: 'may-read',
    start: null,
  });
  assert.deepEqual(got('remember'), { ...common, args: ['--stage', 'remember'], key: 'the-key', rollouts: 'may-read' });
  assert.deepEqual(got('propose'), {
    ...common,
    args: ['--stage', 'propose'],
    key: '',
    rollouts: 'may-write',
    result: 'result',
    bundle: 'bundle',
  });
  assert.deepEqual(artifactsIn(folder), {
    journal: ['answers.jsonl'],
    'night-result': ['night.bundle', 'night.json'],
    'night-start': ['start.json'],
  });
  assert.deepEqual(
    Object.values(jobs).map(({ summary }) => summary),
    ['stage claim\n', '', 'stage remember\n', 'stage propose\n'],
  );
});

test('a night that somebody else has, or that has nothing to do, ends after its claim', async (t) => {
  const { results, folder } = await aNight(t, { claimed: false });
  assert.deepEqual(results, ['claim success', 'read skipped', 'remember skipped', 'propose skipped']);
  assert.deepEqual(readdirSync(join(folder, 'artifacts')), []);
});

test('a night that dies keeps what it paid for, and still lets go of the lease', async (t) => {
  const { results, got, folder } = await aNight(t, { claimed: true, dies: true });
  assert.deepEqual(results, ['claim success', 'read skipped', 'remember failure', 'propose success']);
  assert.deepEqual(Object.keys(artifactsIn(folder)), ['journal', 'night-start']);
  assert.deepEqual([got('propose').start, got('propose').result], ['start', null]);
});

test('a night goes on from what an unfinished one paid for, and without it where that has expired', async (t) => {
  const after = await aNight(t, { claimed: true, unfinished: 41 });
  assert.equal(after.got('remember').journal, 'paid before, ');
  const expired = await aNight(t, { claimed: true, unfinished: 40 });
  assert.deepEqual(expired.results, ['claim success', 'read skipped', 'remember success', 'propose success']);
  assert.equal(expired.got('remember').journal, null);
});

test('where several machines read, each has its part, the key and the right to read, and hands on what it paid for', async (t) => {
  const { results, jobs, got, folder } = await aNight(t, { claimed: true }, { vars: { MEMORY_SHARDS: '3' } });
  const parts = ['read (1)', 'read (2)', 'read (3)'];
  const done = ['claim', ...parts, 'read', 'remember', 'propose'].map((id) => `${id} success`);
  assert.deepEqual(results, done);
  assert.deepEqual(got('claim').args, ['--stage', 'claim', '--shards=3']);
  for (const [index, id] of parts.entries()) {
    const { args, key, token: held, rollouts, start } = got(id);
    assert.deepEqual(args, ['--claimed', '--shard', `${index + 1}/3`, '--journal', '.git/memory/shard']);
    assert.deepEqual([key, held, rollouts, start], ['the-key', token, 'may-read', 'start']);
    assert.doesNotMatch(git(jobs[id]?.workspace ?? '', 'config', '--list'), /ghs_|extraheader/);
  }
  assert.deepEqual(got('remember').args, ['--stage', 'remember']);
  assert.deepEqual(got('remember').shards, ['shard-1', 'shard-2', 'shard-3']);
  assert.equal(got('propose').shards, null, 'who may push is handed the result alone');
  assert.deepEqual(Object.keys(artifactsIn(folder)), [
    'journal',
    'night-result',
    'night-start',
    'shard-1',
    'shard-2',
    'shard-3',
  ]);
});

test('a machine that dies loses its own part alone: the others go on, and so does the night', async (t) => {
  const given = { event: 'workflow_dispatch', inputs: { shards: '2' }, vars: { MEMORY_SHARDS: '3' } };
  const { results, got } = await aNight(t, { claimed: true, diesIn: '1/2' }, given);
  assert.deepEqual(results, [
    'claim success',
    'read (1) failure',
    'read (2) success',
    'read failure',
    'remember success',
    'propose success',
  ]);
  assert.deepEqual(got('remember').shards, ['shard-2'], 'what a person asks for comes before the variable');
});

test('what the shards of an unfinished night paid for comes with its journal', async (t) => {
  const { jobs } = await aNight(t, { claimed: true, unfinished: 41 });
  const left = join(jobs.remember?.workspace ?? '', '.git/memory/journal/shards');
  assert.deepEqual(readdirSync(left).sort(), ['shard-1', 'shard-2']);
});

test('what a person asks for reaches the claim as flags, whatever they typed', async (t) => {
  const event = 'workflow_dispatch';
  const since = '2026-11-01"; touch pwned; echo "$(touch pwned)';
  const asked = await aNight(
    t,
    { claimed: false },
    { event, inputs: { model: 'builtin', now: true, since, shards: '2; touch pwned', dry_run: true } },
  );
  const flags = [
    '--stage',
    'claim',
    '--model=builtin',
    '--now',
    `--since=${since}`,
    '--shards=2; touch pwned',
    '--dry-run',
  ];
  assert.deepEqual(asked.got('claim').args, flags);
  assert.ok(!readdirSync(asked.jobs.claim?.workspace ?? '').includes('pwned'));
  const inputs = { model: 'as configured', now: false, since: '', shards: '', dry_run: false };
  const plain = await aNight(t, { claimed: false }, { event, inputs });
  assert.deepEqual(plain.got('claim').args, ['--stage', 'claim']);
});

test('forks and branches other than the default one start no night', async (t) => {
  const fork = { payload: { repository: { fork: true, default_branch: 'main' } } };
  const branch = { event: 'workflow_dispatch', ref: 'refs/heads/memory/nightly' };
  const withoutRepository = { payload: {} };
  const started = await Promise.all(
    [fork, branch, withoutRepository].map(async (given) => (await aNight(t, { claimed: false }, given)).results[0]),
  );
  assert.deepEqual(started, ['claim skipped', 'claim skipped', 'claim success']);
});

test('with a token of the team’s own the pull request is proposed by it, and only there', async (t) => {
  const own = { secrets: { ...secrets, MEMORY_TOKEN: 'the-team’s' } };
  const { got } = await aNight(t, { claimed: true }, own);
  assert.deepEqual([got('claim').token, got('remember').token, got('propose').token], [token, token, 'the-team’s']);
});

test('no checkout of a night leaves a token in the repository', async (t) => {
  const { jobs } = await aNight(t, { claimed: true });
  for (const { workspace } of Object.values(jobs).filter(({ result }) => result !== 'skipped'))
    assert.doesNotMatch(git(workspace, 'config', '--list'), /ghs_|extraheader/);
});
