import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { aMemory, someSessions } from '../support/memories.ts';
import { command, tips } from '../support/nights.ts';
import { commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';
import { claudeId, claudeLine } from '../support/sessions.ts';

const [{ agent, path }] = someSessions;

test('status shows the last runs, every repository and what the night would read, and writes nothing', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const { code, stdout } = await command('status', ['--repo', repo, '--source', `${agent}:${path}`]);
  assert.equal(code, 0);
  assert.match(stdout, /^state +refs\/memory\/state [0-9a-f]{12}, \d+ KB/m);
  assert.match(stdout, /^ {2}2026-12-01T03:17:00Z {2}done +\d+ extracted/m);
  assert.match(stdout, /^git.example.test.acme.etl-job +1 +0 +0 +2026-12-01T03:17:00Z by builtin +nothing to do$/m);
  assert.match(stdout, /^ {2}\d+ up to date: read already/m);
  assert.deepEqual(tips(repo), before);
  assert.equal(git(repo, 'status', '--porcelain'), '');
});

test('--usage names every block and session, also where nothing was ever cited', async (t) => {
  const repo = await aMemory(t);
  const before = tips(repo);
  const { code, stdout } = await command('status', ['--repo', repo, '--usage']);
  assert.equal(code, 0);
  assert.match(stdout, /^agents +none was given memory$/m);
  assert.match(stdout, /^block +found +given +read +cited +last +about$/m);
  assert.match(stdout, /^MEMORY\.md:\d+ +0 +0 +0 +0 +never +\S/m);
  assert.match(stdout, /^[a-z2-7]{8} +0 +0 +0 +0 +never +\S/m);
  assert.deepEqual(tips(repo), before);
});

test('--cost says what was spent and what this month comes to; --json the same', async (t) => {
  const repo = await aMemory(t);
  const plain = await command('status', ['--repo', repo, '--cost']);
  assert.equal(plain.code, 0, plain.stderr);
  assert.match(plain.stdout, /^Nothing was spent: no night has asked a model/);
  const { code, stdout } = await command('status', ['--repo', repo, '--cost', '--json']);
  assert.equal(code, 0);
  assert.deepEqual(Object.keys(JSON.parse(stdout).cost), ['month', 'forecast', 'months', 'nights']);
});

test('every session that is not read has its reason, and no secret of its words is shown', async (t) => {
  const repo = await aMemory(t);
  const folder = temporaryFolder(t);
  const key = ['gh', 'p_', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('');
  const line = (content: string, at: string) =>
    `${JSON.stringify(claudeLine('user', content, { timestamp: at, cwd: folder }))}\n`;
  writeFiles(folder, {
    [`${claudeId}.jsonl`]: line(`Use ${key} for it`, '2026-12-01T01:00:00.000Z'),
    [`${claudeId.replace(/1$/, '2')}.jsonl`]: line('An old wish', '2026-01-01T01:00:00.000Z').replaceAll(
      claudeId,
      claudeId.replace(/1$/, '2'),
    ),
    'notes.txt': 'no session\n',
  });
  const { code, stdout } = await command('status', ['--repo', repo, '--source', `claude-code:${folder}`, '--json']);
  assert.equal(code, 0);
  assert.ok(!stdout.includes(key));
  const { sources, scopes, warnings } = JSON.parse(stdout);
  assert.deepEqual(
    sources.skipped.map((one: { thread_id: string; reason: string }) => [one.thread_id, one.reason]),
    [
      [claudeId, 'not_idle'],
      [claudeId.replace(/1$/, '2'), 'too_old'],
    ],
  );
  assert.deepEqual([sources.found, sources.ready, sources.ignored.length], [2, [], 1]);
  assert.ok(scopes.length > 3);
  assert.deepEqual(warnings, []);
});

test('it works on a detached HEAD and on the published copy, and names a damaged ref with the way back', async (t) => {
  const repo = await aMemory(t);
  const good = git(repo, 'rev-parse', 'refs/memory/state');
  git(repo, 'checkout', '--quiet', '--detach');
  const detached = await command('status', ['--repo', repo]);
  assert.equal(detached.code, 0);
  assert.match(detached.stdout, /^memory +of HEAD/m);
  git(repo, 'update-ref', '-d', 'refs/memory/state');
  const published = await command('status', ['--repo', repo]);
  assert.match(published.stdout, /^state +the published copy in HEAD/m);
  const worktree = join(temporaryFolder(t), 'state');
  git(repo, 'worktree', 'add', '--quiet', '--detach', worktree, good);
  writeFileSync(join(worktree, 'state.sqlite.json'), '<<<<<<< HEAD\n');
  git(repo, 'update-ref', 'refs/memory/state', commitAll(worktree, 'Damage'));
  const damaged = await command('status', ['--repo', repo]);
  assert.equal(damaged.code, 1);
  assert.match(
    damaged.stderr,
    /line 1: [\s\S]*refs\/memory\/state[\s\S]*git update-ref refs\/memory\/state <last good>/,
  );
});

test('a source that cannot be read is an error that says which, and a wrong one is a usage error', async (t) => {
  const repo = await aMemory(t);
  const [missing, wrong] = await Promise.all([
    command('status', ['--repo', repo, '--source', 'codex:/nowhere/at/all']),
    command('status', ['--repo', repo, '--source', 'emacs:/tmp']),
  ]);
  assert.deepEqual([missing.code, wrong.code], [1, 2]);
  assert.match(missing.stderr, /\/nowhere\/at\/all/);
  assert.match(wrong.stderr, /codex, claude-code, copilot, gemini, opencode or pi\./);
});
