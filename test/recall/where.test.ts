import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { whereIs } from '../../scripts/recall/where.ts';
import { aRepository, git, temporaryFolder } from '../support/repository.ts';

test('a repository is known by all its remotes, origin first, whatever form their addresses have', async (t) => {
  const dir = aRepository(t, { 'packages/api/a.ts': 'x\n' });
  git(dir, 'remote', 'add', 'upstream', 'https://GitHub.com/acme/app.git');
  git(dir, 'remote', 'add', 'origin', 'git@github.com:dana/app.git');
  git(dir, 'remote', 'add', 'ssh', 'ssh://git@github.com:22/dana/app');
  git(dir, 'remote', 'add', 'disk', '/srv/app.git');
  const expected = { root: dir, repositories: ['github.com/dana/app', 'github.com/acme/app'] };
  for (const folder of ['', 'packages/api', 'gone/deep']) assert.deepEqual(await whereIs(join(dir, folder)), expected);
  const link = join(temporaryFolder(t), 'link');
  symlinkSync(join(dir, 'packages/api'), link);
  assert.deepEqual(await whereIs(link), expected);
});

test('a linked worktree is its main repository; a submodule is its own', async (t) => {
  const dir = aRepository(t, { 'a.txt': 'x\n' });
  git(dir, 'remote', 'add', 'origin', 'https://github.com/acme/app');
  const tree = join(temporaryFolder(t), 'tree');
  git(dir, 'worktree', 'add', '--quiet', tree, '-b', 'side');
  assert.deepEqual(await whereIs(tree), { root: tree, repositories: ['github.com/acme/app'] });

  const lib = aRepository(t, { 'lib.txt': 'x\n' });
  git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', lib, 'lib');
  git(join(dir, 'lib'), 'remote', 'set-url', 'origin', 'https://github.com/acme/lib.git');
  assert.deepEqual(await whereIs(join(dir, 'lib')), { root: join(dir, 'lib'), repositories: ['github.com/acme/lib'] });
});

test('what has no remote, or is no repository, has no id', async (t) => {
  const dir = aRepository(t, { 'a.txt': 'x\n' });
  assert.deepEqual(await whereIs(dir), { root: dir, repositories: [] });
  const outside = temporaryFolder(t);
  assert.deepEqual(await whereIs(outside), { root: null, repositories: [] });
  assert.deepEqual(await whereIs(join(outside, 'a\u0000b')), { root: null, repositories: [] });
});

test('a configuration that is damaged or includes another names no repository of somebody else', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, '.git'));
  writeFileSync(join(folder, 'other'), '[remote "origin"]\n\turl = https://github.com/acme/other\n');
  writeFileSync(
    join(folder, '.git/config'),
    '[include]\n\tpath = ../other\n[remote "x\n\turl = https://github.com/a/b\n',
  );
  assert.deepEqual((await whereIs(folder)).repositories, []);
  writeFileSync(join(folder, '.git/config'), Buffer.alloc(2 * 1024 * 1024, 0x5b));
  assert.deepEqual((await whereIs(folder)).repositories, []);
});
