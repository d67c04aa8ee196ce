import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Action, playWorkflow, type Runner, token } from '../support/actions.ts';
import { aRunner, artifactsIn } from '../support/actions-steps.ts';
import { startApiServer } from '../support/api-server.ts';
import { correcting } from '../support/codex-session.ts';
import { startForgeServer } from '../support/forge-server.ts';
import { aGitServer } from '../support/git-server.ts';
import { configFor, sound } from '../support/model-nights.ts';
import { root } from '../support/nights.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { collectInto } from '../support/stages.ts';
import { loadWorkflow } from '../support/workflows.ts';

/** The team's repository as the template makes it, on servers that speak Git and GitHub's interface. */
async function aTeam(t: TestContext, model = 'model: { provider: builtin }\n') {
  const server = await aGitServer(t, { tokens: { [token]: { write: true } } });
  const dir = server.create('acme/memory');
  const tip = (ref: string) => git(dir, 'for-each-ref', '--format=%(objectname)', ref) || null;
  const forge = await startForgeServer({
    tokens: { [token]: { login: 'memory-bot', kind: 'user', pulls: 'write' } },
    tipOf: (branch) => tip(`refs/heads/${branch}`),
    runs: { '4711': { attempts: { '1': 'in_progress' } } },
  });
  t.after(() => forge.close());
  const seed = temporaryFolder(t);
  for (const name of ['scripts', 'prompts', 'package.json', 'tsconfig.json'])
    cpSync(join(root, name), join(seed, name), { recursive: true });
  writeFiles(seed, {
    '.github/memory.yml': `version: 1\ninclude: [git.example.test/acme/*]\n${model}delivery: { mode: pull-request, api_url: "${forge.githubApi}" }\n`,
  });
  git(seed, 'init', '--quiet', '--initial-branch=main');
  const sha = commitAll(seed, 'Start');
  git(seed, 'push', '--quiet', dir, 'main');
  return { dir, url: server.url('acme/memory'), tip, forge, sha };
}

/** Checks out from the disk, as the server is in this process, and leaves its address as the remote. */
function served(url: string, runner: Runner): Runner {
  const checkout = runner.actions['actions/checkout'];
  const action: Action = async (inputs, workspace) => {
    const outputs = await checkout?.(inputs, workspace);
    git(workspace, 'remote', 'set-url', 'origin', url);
    return outputs;
  };
  return { ...runner, actions: { ...runner.actions, 'actions/checkout': action } };
}

test('the workflow’s jobs play a real night: claimed, remembered, proposed, and the lease is gone', async (t) => {
  const { dir, url, tip, forge, sha } = await aTeam(t);
  await collectInto(t, dir, correcting(1, 'No, prices are integer cents in lib/price1.ts.', '2026-11-20T10:00:00Z'));
  const folder = temporaryFolder(t);
  const payload = { repository: { fork: false, default_branch: 'main' } };
  const trigger = { event: 'schedule', payload, ref: 'refs/heads/main', sha, secrets: {} };
  const runner = served(url, aRunner(folder, dir, trigger, { CTM_CLOCK: '2026-11-22T03:17:00Z' }));
  const jobs = await playWorkflow(loadWorkflow('nightly'), trigger, runner);
  const said = Object.values(jobs).flatMap(({ steps }) => steps.map(({ stdout, stderr }) => `${stdout}${stderr}`));
  assert.deepEqual(
    Object.entries(jobs).map(([id, { result }]) => `${id} ${result}`),
    ['claim success', 'read skipped', 'remember success', 'propose success'],
    said.join('\n'),
  );
  assert.match(git(dir, 'show', 'refs/heads/memory/nightly:memories/MEMORY.md'), /integer cents/);
  assert.equal(forge.pulls.length, 1);
  assert.equal(tip('refs/memory/lease'), null);
  const { 'night-result': result, 'night-start': start } = artifactsIn(folder);
  assert.deepEqual([start, result], [['start.json'], ['night.bundle', 'night.json']]);
  assert.match(jobs.remember?.summary ?? '', /Memory, run/);
  assert.ok(!said.join('\n').includes(token));
  for (const name of ['night-start/start.json', 'night-result/night.json']) {
    const path = join(folder, 'artifacts', name);
    assert.ok(existsSync(path) && !readFileSync(path, 'utf8').includes(token));
  }
});

test('split between machines, the same night: each asks a model for its part, and nothing is asked for twice', async (t) => {
  const api = await startApiServer({ behave: sound, apiKey: 'the-key' });
  t.after(() => api.close());
  const { dir, url, tip, sha } = await aTeam(t, configFor(api.baseUrl));
  const sessions = [1, 2, 3, 4, 5].map((n) =>
    correcting(n, `No, number ${n} is kept in lib/price${n}.ts.`, `2026-11-2${n - 1}T0${n}:00:00Z`),
  );
  await collectInto(t, dir, ...sessions);
  const folder = temporaryFolder(t);
  const payload = { repository: { fork: false, default_branch: 'main' } };
  const given = { secrets: { OPENAI_API_KEY: 'the-key' }, vars: { MEMORY_SHARDS: '2' } };
  const trigger = { event: 'schedule', payload, ref: 'refs/heads/main', sha, ...given };
  const runner = served(url, aRunner(folder, dir, trigger, { CTM_CLOCK: '2026-11-25T03:17:00Z' }));
  const jobs = await playWorkflow(loadWorkflow('nightly'), trigger, runner);
  const said = Object.values(jobs).flatMap(({ steps }) => steps.map(({ stdout, stderr }) => `${stdout}${stderr}`));
  assert.deepEqual(
    Object.entries(jobs).map(([id, { result }]) => `${id} ${result}`),
    ['claim', 'read (1)', 'read (2)', 'read', 'remember', 'propose'].map((id) => `${id} success`),
    said.join('\n'),
  );
  assert.equal(api.requests.filter(isExtraction).length, sessions.length);
  assert.match(said.join('\n'), /Shards paid for 5 answers/);
  assert.match(jobs['read (1)']?.summary ?? '', /## Shard 1\/2\n\nDone: part 1\/2/);
  const handbook = git(dir, 'show', 'refs/heads/memory/nightly:memories/MEMORY.md');
  for (const n of [1, 2, 3, 4, 5]) assert.match(handbook, new RegExp(`number ${n} is kept`));
  assert.equal(tip('refs/memory/lease'), null);
  for (const [name, files] of Object.entries(artifactsIn(folder)))
    for (const file of files) {
      const text = readFileSync(join(folder, 'artifacts', name, file), 'utf8');
      assert.ok(!text.includes(token) && !text.includes('the-key'), `${name}/${file}`);
    }
});
