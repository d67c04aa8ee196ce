import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkoutsOnDisk, remotesIn } from '../../scripts/rollout/checkouts.ts';
import { aRepository, git, temporaryFolder } from '../support/repository.ts';

test('a folder below a checkout finds its remotes, origin first', async (t) => {
  const dir = aRepository(t, { 'src/a.ts': 'x\n' });
  git(dir, 'remote', 'add', 'upstream', 'https://git.example.test/acme/web.git');
  git(dir, 'remote', 'add', 'origin', 'git@git.example.test:dana/web.git');
  const expected = {
    root: dir,
    remotes: ['git@git.example.test:dana/web.git', 'https://git.example.test/acme/web.git'],
    rootCommit: null,
  };
  assert.deepEqual(await checkoutsOnDisk().of(join(dir, 'src')), expected);
  assert.deepEqual(await checkoutsOnDisk().of(join(dir, 'src/gone/deep')), expected);
});

test("a linked worktree has its own root and the repository's remotes", async (t) => {
  const dir = aRepository(t, { 'a.txt': 'x\n' });
  git(dir, 'remote', 'add', 'origin', 'https://git.example.test/acme/web.git');
  const tree = join(temporaryFolder(t), 'tree');
  git(dir, 'worktree', 'add', '--quiet', tree, '-b', 'side');
  assert.deepEqual(await checkoutsOnDisk().of(tree), {
    root: tree,
    remotes: ['https://git.example.test/acme/web.git'],
    rootCommit: null,
  });
});

test('a folder in no checkout has none, and a path that is no absolute one neither', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'x'));
  assert.equal(await checkoutsOnDisk().of(join(folder, 'x')), null);
  assert.equal(await checkoutsOnDisk().of('C:\\work'), null);
  assert.equal(await checkoutsOnDisk().of('../x'), null);
  assert.equal(await checkoutsOnDisk().of(`${folder}/a\u0000b`), null);
});

test('remotes are read as git writes them', () => {
  const config = [
    '[core]\r\n\turl = no\r\n',
    '[remote "fork"]\n  URL=https://h.test/b # mine\n',
    '[remote "origin"]\n\turl = "https://h.test/a"\n\tpushurl = https://h.test/push\n\turl = https://h.test/second\n',
    '[branch "main"]\n\tremote = origin\n',
  ].join('');
  assert.deepEqual(remotesIn(config), ['https://h.test/a', 'https://h.test/b']);
});
