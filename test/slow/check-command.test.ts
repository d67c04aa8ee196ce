import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aMemory } from '../support/memories.ts';
import { command } from '../support/nights.ts';
import { aRepository, git, temporaryFolder } from '../support/repository.ts';

const handbook = 'memories/MEMORY.md';

test('check judges the working tree, and with --committed what HEAD holds', async (t) => {
  const repo = await aMemory(t);
  const clean = await command('check', ['--repo', repo]);
  assert.deepEqual([clean.code, clean.stderr], [0, '']);
  assert.match(clean.stdout, /^Clean: /);
  appendFileSync(join(repo, handbook), '<<<<<<< HEAD\n');
  const last = readFileSync(join(repo, handbook), 'utf8').trimEnd().split('\n').length;
  const broken = await command('check', ['--repo', repo]);
  assert.equal(broken.code, 1);
  assert.match(broken.stdout, new RegExp(`^${handbook}:${last}: error text\\.conflict: .+\\n {4}Settle`, 'm'));
  assert.equal((await command('check', ['--repo', repo, '--committed'])).code, 0);
});

test('links, programs, binary files and odd names are named, with control characters escaped', async (t) => {
  const repo = await aMemory(t);
  symlinkSync('/etc/hostname', join(repo, 'memories/extensions'));
  writeFileSync(join(repo, 'memories/blob.md'), Buffer.from([0xff, 0, 1]));
  writeFileSync(join(repo, 'memories/\u001b[31m.md'), 'red\n');
  chmodSync(join(repo, handbook), 0o755);
  const found = async (...more: string[]) => {
    const { code, stdout } = await command('check', ['--repo', repo, '--json', ...more]);
    const { findings }: { findings: { rule: string; path: string }[] } = JSON.parse(stdout);
    return { code, stdout, rules: findings.map(({ rule, path }) => `${rule} ${path}`) };
  };
  const expected = [
    `file.mode ${handbook}`,
    'file.link memories/extensions',
    'file.text memories/blob.md',
    'path.name memories/\u001b[31m.md',
  ];
  const working = await found();
  assert.equal(working.code, 1);
  assert.deepEqual(working.rules.sort(), [...expected].sort());
  assert.ok(!working.stdout.includes('\u001b'));
  git(repo, 'add', '--all');
  git(repo, 'commit', '--quiet', '--message', 'Odd things');
  assert.deepEqual((await found('--committed')).rules.sort(), [...expected].sort());
  const text = await command('check', ['--repo', repo]);
  assert.ok(text.stdout.includes('\\u{1b}[31m.md:1') && !text.stdout.includes('\u001b'));
});

test('a repository within the memory, in the folder or as a submodule, and a pipe are no memory files', async (t) => {
  const repo = await aMemory(t);
  git(repo, 'init', '--quiet', 'memories/inner');
  execFileSync('mkfifo', [join(repo, 'memories/pipe')]);
  const found = async (...more: string[]) => {
    const { code, stdout } = await command('check', ['--repo', repo, '--json', ...more]);
    const { findings }: { findings: { rule: string; path: string }[] } = JSON.parse(stdout);
    return [code, ...findings.map(({ rule, path }) => `${rule} ${path}`).sort()];
  };
  assert.deepEqual(await found(), [1, 'file.kind memories/inner', 'file.kind memories/pipe']);
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${git(repo, 'rev-parse', 'HEAD').trim()},memories/inner`);
  git(repo, 'commit', '--quiet', '--message', 'A submodule');
  assert.deepEqual(await found('--committed'), [1, 'file.kind memories/inner']);
});

test('on GitHub Actions each finding is an annotation at its line, beside the report and its summary', async (t) => {
  const repo = await aMemory(t);
  writeFileSync(join(repo, 'memories/a,b: c%.md'), '::error::me\n');
  const summary = join(temporaryFolder(t), 'summary.md');
  const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
  const { code, stderr, stdout } = await command('check', ['--repo', repo, '--json'], { env });
  assert.equal(code, 1);
  assert.match(stderr, /^::error file=memories\/a%2Cb%3A c%25\.md,line=1,title=path\.unknown::No such file/m);
  assert.equal(JSON.parse(stdout).outcome, 'errors');
  assert.match(readFileSync(summary, 'utf8'), /## Memory check[\s\S]*path/);
});

test('before the first night check and status are quiet, and outside a repository they say what to do', async (t) => {
  const repo = aRepository(t);
  const [check, status] = await Promise.all([command('check', ['--repo', repo]), command('status', ['--repo', repo])]);
  assert.deepEqual([check.code, status.code], [0, 0]);
  assert.match(check.stdout, /no memory yet/);
  assert.match(status.stdout, /No night has run here yet/);
  const outside = await command('check', ['--repo', temporaryFolder(t)]);
  assert.equal(outside.code, 1);
  assert.match(outside.stderr, /no Git repository at[\s\S]*git init/);
});

test('a bare repository is judged by its HEAD, and a wrong configuration is a usage error', async (t) => {
  const repo = await aMemory(t);
  const bare = join(temporaryFolder(t), 'bare.git');
  git(repo, 'clone', '--quiet', '--bare', repo, bare);
  const clean = await command('check', ['--repo', bare]);
  assert.match(clean.stdout, /^Clean: /);
  assert.equal(clean.code, 0);
  const wrong = aRepository(t, { '.github/memory.yml': 'audience: everyone\n' });
  const refused = await command('check', ['--repo', wrong]);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /audience/);
});
