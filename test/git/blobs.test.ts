import assert from 'node:assert/strict';
import { chmodSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { GitError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { userEmail } from '../../scripts/git/user-email.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

for (const backend of ['git', 'isomorphic'] as const) {
  test(`${backend}: files are listed with their oids and read by them, as the bytes they are`, async (t) => {
    const dir = aRepository(t, { 'a/b.jsonl': 'one\r\ntwo\n', 'a/c.bin': Buffer.from([0, 255, 10]), 'd.txt': 'd\n' });
    symlinkSync('d.txt', join(dir, 'a/link'));
    const commit = commitAll(dir, 'More');
    const repository = await openRepository(dir, { backend, env });
    const listed = await repository.listFiles(commit, ['a']);
    assert.deepEqual(
      [...listed],
      ['a/b.jsonl', 'a/c.bin'].map((path) => [path, git(dir, 'rev-parse', `HEAD:${path}`)]),
    );
    assert.deepEqual(await repository.readBlobs([...listed.values()].reverse()), [
      Buffer.from([0, 255, 10]),
      Buffer.from('one\r\ntwo\n'),
    ]);
    assert.deepEqual([...(await repository.listFiles(commit, [''])).keys()], ['a/b.jsonl', 'a/c.bin', 'd.txt']);
    await assert.rejects(repository.readBlobs(['1'.repeat(40)]), GitError);
    await assert.rejects(repository.readBlobs([git(dir, 'rev-parse', 'HEAD^{tree}')]), GitError);
  });
}

test('what is packed and what is not is read alike, in the order that was asked for, and damage is told', async (t) => {
  const dir = aRepository(t, { 'a.txt': 'one\n' });
  const packed = git(dir, 'rev-parse', 'HEAD:a.txt');
  git(dir, 'repack', '-a', '-d', '--quiet');
  writeFiles(dir, { 'a.txt': 'two\n' });
  commitAll(dir, 'Two');
  const loose = git(dir, 'rev-parse', 'HEAD:a.txt');
  const repository = await openRepository(dir, { backend: 'git', env });
  const read = async (...oids: string[]) => (await repository.readBlobs(oids)).map((bytes) => bytes.toString());
  assert.deepEqual(await read(loose, packed, loose), ['two\n', 'one\n', 'two\n']);
  assert.deepEqual(
    await read(...Array.from({ length: 70 }, () => loose)),
    Array.from({ length: 70 }, () => 'two\n'),
  );
  const file = join(dir, '.git/objects', loose.slice(0, 2), loose.slice(2));
  chmodSync(file, 0o600);
  truncateSync(file, 5);
  await assert.rejects(read(packed, loose), GitError);
});

test('the email is the repository’s own, else the user’s, else there is none', async (t) => {
  const home = temporaryFolder(t);
  const withGit = { ...env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const withoutGit = { ...withGit, PATH: '/nowhere' };
  const dir = aRepository(t, { 'a.txt': 'a\n' });
  for (const settings of [withGit, withoutGit]) assert.equal(await userEmail(dir, home, settings), null);
  writeFiles(home, { '.gitconfig': '[user]\n\temail = dana@users.example\n' });
  for (const settings of [withGit, withoutGit])
    assert.equal(await userEmail(dir, home, settings), 'dana@users.example');
  git(dir, 'config', 'user.email', 'Dana@Team.Example');
  for (const settings of [withGit, withoutGit]) assert.equal(await userEmail(dir, home, settings), 'Dana@Team.Example');
});

for (const backend of ['git', 'isomorphic'] as const) {
  test(`${backend}: one file's oid in many commits is null where it did not stand, was no file, or no commit is here`, async (t) => {
    const dir = aRepository(t, { 'other.txt': 'o\n' });
    const before = git(dir, 'rev-parse', 'HEAD');
    writeFiles(dir, { 'a/b.md': 'one\n' });
    const first = commitAll(dir, 'One');
    writeFiles(dir, { 'a/b.md': 'two\n' });
    const second = commitAll(dir, 'Two');
    git(dir, 'rm', '--quiet', 'a/b.md');
    symlinkSync('other.txt', join(dir, 'a'));
    const link = commitAll(dir, 'A link in its folder’s place');
    const repository = await openRepository(dir, { backend, env });
    const commits = [link, second, before, first, second, '1'.repeat(40)];
    const [one, two] = [git(dir, 'rev-parse', `${first}:a/b.md`), git(dir, 'rev-parse', `${second}:a/b.md`)];
    assert.deepEqual(await repository.oidsAt(commits, 'a/b.md'), [null, two, null, one, two, null]);
    assert.deepEqual(await repository.oidsAt([second], 'a'), [null], 'a folder is no file');
    assert.deepEqual(await repository.oidsAt([], 'a/b.md'), []);
  });
}
