import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type JobResult, playWorkflow, type Trigger, token } from '../support/actions.ts';
import { aRunner } from '../support/actions-steps.ts';
import { aMemory } from '../support/memories.ts';
import { root, theNight } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { loadWorkflow } from '../support/workflows.ts';

const workflow = loadWorkflow('check');
const handbook = 'memories/MEMORY.md';

/** One job of check.yml for the pull request from `topic` to `main`. */
async function playJob(t: TestContext, repo: string, id: string): Promise<JobResult> {
  const [base, head] = ['main', 'topic'].map((branch) => git(repo, 'rev-parse', branch));
  const origin = join(temporaryFolder(t), 'origin.git');
  git(repo, 'clone', '--quiet', '--bare', repo, origin);
  git(origin, 'fetch', '--quiet', repo, '+refs/memory/*:refs/memory/*', '+refs/heads/topic:refs/pull/7/head');
  git(origin, 'branch', '--quiet', '-D', 'topic');
  const trigger: Trigger = {
    event: 'pull_request',
    payload: { pull_request: { number: 7, base: { sha: base }, head: { sha: head } } },
    ref: 'refs/pull/7/merge',
    sha: head ?? '',
  };
  const runner = aRunner(temporaryFolder(t), origin, trigger, { CTM_CLOCK: theNight });
  const job = workflow.jobs[id] ?? assert.fail();
  return (await playWorkflow({ ...workflow, jobs: { [id]: job } }, trigger, runner))[id] ?? assert.fail();
}

function withProject(repo: string): void {
  for (const path of ['scripts', 'prompts', 'package.json', '.nvmrc', '.gitattributes', 'tsconfig.json'])
    cpSync(join(root, path), join(repo, path), { recursive: true });
}

async function aTeamsMemory(t: TestContext): Promise<string> {
  const repo = await aMemory(t);
  withProject(repo);
  commitAll(repo, 'The project');
  git(repo, 'switch', '--quiet', '--create', 'topic');
  return repo;
}

// The last step keeps the findings.
const check = (job: JobResult) => job.steps.at(-2) ?? assert.fail();

test('a person’s line passes, and half of a merge is told at its line', async (t) => {
  const repo = await aTeamsMemory(t);
  const text = readFileSync(join(repo, handbook), 'utf8');
  const added = text.replace('## User preferences\n', '## User preferences\n- Ask before you deploy.\n');
  writeFileSync(join(repo, handbook), added);
  commitAll(repo, 'A rule');
  const fine = await playJob(t, repo, 'memory');
  assert.deepEqual([fine.result, check(fine).stderr], ['success', '']);
  assert.match(fine.summary, /## Memory check/);
  writeFileSync(join(repo, handbook), `${added}<<<<<<< ours\n`);
  commitAll(repo, 'Half of a merge');
  const broken = await playJob(t, repo, 'memory');
  assert.equal(broken.result, 'failure');
  assert.ok(!JSON.stringify(broken.steps.map(({ stdout, stderr }) => [stdout, stderr])).includes(token));
  assert.ok(!readFileSync(join(broken.workspace, '.git/config'), 'utf8').includes(token));
  assert.match(check(broken).stderr, /^::error file=memories\/MEMORY\.md,line=\d+,title=text\.conflict::/m);
});

test('nothing of a pull request is executed, and it cannot change what it is judged by', async (t) => {
  const repo = await aTeamsMemory(t);
  const pwned = join(temporaryFolder(t), 'pwned');
  const touch = `require('node:fs').writeFileSync(${JSON.stringify(pwned)}, '')`;
  writeFiles(repo, {
    'package.json': JSON.stringify({ scripts: { check: `node -e "${touch}"`, preinstall: `node -e "${touch}"` } }),
    'scripts/check.ts': `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(pwned)}, '');`,
    '.github/memory.yml': 'this: is no configuration\n',
    '.gitattributes': '* filter=evil merge=evil diff=evil\n',
    '.npmrc': `node-options=--eval ${touch}\n`,
    '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "touch pwned"\n',
    [handbook]: `${readFileSync(join(repo, handbook), 'utf8')}>>>>>>> theirs\n`,
  });
  commitAll(repo, 'Hostile');
  const judged = await playJob(t, repo, 'memory');
  assert.equal(judged.result, 'failure');
  assert.match(check(judged).stderr, /text\.conflict/);
  assert.ok(!existsSync(pwned));
  assert.ok(!existsSync(join(judged.workspace, '.npmrc')));
  assert.equal(git(judged.workspace, 'rev-parse', 'refs/memory/pull-request'), git(repo, 'rev-parse', 'topic'));
});

test('before the first night there is nothing to judge, and that passes', async (t) => {
  const repo = aRepository(t);
  withProject(repo);
  commitAll(repo, 'From the template');
  git(repo, 'switch', '--quiet', '--create', 'topic');
  writeFiles(repo, { 'README.md': 'Ours\n' });
  commitAll(repo, 'A word');
  const job = await playJob(t, repo, 'memory');
  assert.equal(job.result, 'success');
  assert.match(check(job).stdout, /no memory yet/);
});

test('Git is given the token by its environment', async (t) => {
  const step = workflow.jobs.memory?.steps.find(({ run }) => run?.startsWith('git fetch')) ?? assert.fail();
  const env = { PATH: process.env.PATH, ...step.env, GITHUB_TOKEN: token };
  const input = 'protocol=https\nhost=github.com\n\n';
  const answer = execFileSync('git', ['credential', 'fill'], { input, env, cwd: temporaryFolder(t), encoding: 'utf8' });
  assert.match(answer, new RegExp(`^username=x-access-token$[\\s\\S]*^password=${token}$`, 'm'));
});

test('types, lint and tests of a pull request run as they do for a person', async (t) => {
  const repo = aRepository(t);
  for (const path of ['package.json', 'tsconfig.json', 'biome.json', '.nvmrc', 'test/run.ts', '.gitignore'])
    cpSync(join(root, path), join(repo, path), { recursive: true });
  // A page of its own, as far as `npm run types` needs one.
  const page = 'scripts/report/page';
  cpSync(join(root, page, 'tsconfig.json'), join(repo, page, 'tsconfig.json'));
  writeFiles(repo, { [`${page}/main.ts`]: "document.title = 'A page';\n" });
  const sum = 'export function sum(a: number, b: number): number {\n  return a + b;\n}\n';
  const proof =
    "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { sum } from '../scripts/sum.ts';\n\n" +
    "test('a sum', () => {\n  assert.equal(sum(1, 2), 3);\n});\n";
  writeFiles(repo, { 'scripts/sum.ts': sum, 'test/sum.test.ts': proof });
  commitAll(repo, 'A small project');
  git(repo, 'switch', '--quiet', '--create', 'topic');
  const fine = await playJob(t, repo, 'code');
  assert.equal(fine.result, 'success', fine.steps.map(({ stdout, stderr }) => stdout + stderr).join('\n'));
  writeFiles(repo, { 'scripts/sum.ts': sum.replace('a + b', "'three'") });
  commitAll(repo, 'A mistake');
  const wrong = await playJob(t, repo, 'code');
  const failed = wrong.steps.find(({ outcome }) => outcome === 'failure');
  assert.match(failed?.stdout ?? '', /sum\.ts.+error TS2322/);
});
