import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { GitError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = { 'memories/a.md': 'a\n', 'memories/old/b.md': 'b\n', 'memories/keep.md': 'k\n', 'src/x.ts': 'x\n' };
const changes = new Map([
  ['memories/a.md', 'A\n'],
  ['memories/old/b.md', null],
  ['memories/new/c.md', 'c\n'],
]);

/** A commit over HEAD that the branch has been moved to. */
async function moved(repository: Repository): Promise<{ from: string | null; to: string }> {
  const head = await repository.head();
  const from = head.oid;
  const author = { name: 'M', email: 'm@example.org' };
  const parents = from === null ? [] : [from];
  const kept = new Map([...changes].filter(([, text]) => from !== null || text !== null));
  const to = await repository.writeCommit({ base: from, parents, changes: kept, message: 'x', author, at: 1 });
  assert.equal(head.kind, 'branch');
  await repository.swapRef('refs/heads/main', from, to);
  return { from, to };
}

for (const backend of ['git', 'isomorphic'] as const) {
  test(`${backend}: a file that a killed refresh left with its beginning only is completed; a person’s is not touched`, async (t) => {
    const dir = aRepository(t, start);
    const repository = await openRepository(dir, { backend, env });
    const { from, to } = await moved(repository);
    writeFiles(dir, { 'memories/new/c.md': 'c' });
    await repository.refresh(from, to);
    assert.equal(git(dir, 'status', '--porcelain'), '');
    assert.equal(readFileSync(join(dir, 'memories/new/c.md'), 'utf8'), 'c\n');
    for (const edited of ['', 'x', 'A\nmore\n']) {
      const other = aRepository(t, start);
      const beside = await openRepository(other, { backend, env });
      const there = await moved(beside);
      writeFiles(other, { 'memories/a.md': edited });
      await assert.rejects(beside.refresh(there.from, there.to), /memories\/a\.md was edited/);
      assert.equal(readFileSync(join(other, 'memories/a.md'), 'utf8'), edited);
    }
  });

  test(`${backend}: a clean working tree follows the branch`, async (t) => {
    const dir = aRepository(t, start);
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.uncommitted(['memories']), []);
    const { from, to } = await moved(repository);
    await repository.refresh(from, to);
    assert.equal(git(dir, 'status', '--porcelain'), '');
    assert.equal(readFileSync(join(dir, 'memories/new/c.md'), 'utf8'), 'c\n');
    assert.ok(!existsSync(join(dir, 'memories/old')));
    assert.deepEqual(await repository.uncommitted(['memories']), []);
    await repository.refresh(from, to);
    assert.equal(git(dir, 'status', '--porcelain'), '');
  });

  test(`${backend}: what a person edited, staged or left untracked elsewhere stays as it is`, async (t) => {
    const dir = aRepository(t, start);
    writeFiles(dir, { 'src/x.ts': 'staged\n', 'src/new.ts': 'new\n', 'memories/a.md.bak': 'mine\n' });
    git(dir, 'add', 'src');
    writeFiles(dir, { 'src/x.ts': 'edited\n', 'memories/keep.md': 'mine\n' });
    const before = git(dir, 'status', '--porcelain');
    const repository = await openRepository(dir, { backend, env });
    const { from, to } = await moved(repository);
    await repository.refresh(from, to);
    assert.equal(git(dir, 'status', '--porcelain'), before);
    assert.equal(git(dir, 'show', ':src/x.ts'), 'staged');
    assert.equal(readFileSync(join(dir, 'memories/a.md.bak'), 'utf8'), 'mine\n');
  });

  for (const [what, edit] of [
    ['edited', (dir: string) => writeFiles(dir, { 'memories/a.md': 'mine\n' })],
    ['deleted', (dir: string) => rmSync(join(dir, 'memories/a.md'))],
    ['a file where a folder is needed', (dir: string) => writeFiles(dir, { 'memories/new': 'mine\n' })],
    ['untracked', (dir: string) => writeFiles(dir, { 'memories/new/c.md': 'mine\n' })],
    [
      'ignored',
      (dir: string) => writeFiles(dir, { '.git/info/exclude': 'memories/new\n', 'memories/new/c.md': 'mine\n' }),
    ],
    [
      'staged',
      (dir: string) => {
        writeFiles(dir, { 'memories/a.md': 'mine\n' });
        git(dir, 'add', 'memories');
      },
    ],
  ] as const) {
    test(`${backend}: a file that is ${what} is never written over`, async (t) => {
      const dir = aRepository(t, start);
      edit(dir);
      const repository = await openRepository(dir, { backend, env });
      const { from, to } = await moved(repository);
      const before = [git(dir, 'status', '--porcelain'), git(dir, 'ls-files', '--stage')];
      await assert.rejects(repository.refresh(from, to), (error) => {
        assert.ok(error instanceof GitError);
        assert.match(error.message, /memories\/(a\.md|new)/);
        return true;
      });
      assert.deepEqual([git(dir, 'status', '--porcelain'), git(dir, 'ls-files', '--stage')], before);
      assert.ok(existsSync(join(dir, 'memories/old/b.md')));
    });
  }

  test(`${backend}: uncommitted work is named, and only below the given paths`, async (t) => {
    const dir = aRepository(t, { ...start, 'state.sqlite.json': '{}\n', '.gitignore': '*.log\n' });
    writeFiles(dir, {
      'memories/a.md': 'mine\n',
      'memories/ü n.md': 'new\n',
      'memories/x.log': 'l\n',
      'src/x.ts': 'y\n',
    });
    rmSync(join(dir, 'memories/old/b.md'));
    writeFiles(dir, { 'state.sqlite.json': '{"a":1}\n', 'state.sqlite.json.bak': '' });
    git(dir, 'add', 'state.sqlite.json');
    writeFiles(dir, { 'state.sqlite.json': '{}\n' });
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.uncommitted(['memories', 'state.sqlite.json']), [
      'memories/a.md',
      'memories/old/b.md',
      'memories/ü n.md',
      'state.sqlite.json',
    ]);
    assert.deepEqual(await repository.uncommitted(['memories/keep.md', 'nowhere']), []);
  });

  test(`${backend}: an unborn branch gets its first files, a foreign one in the way stays`, async (t) => {
    const dir = aRepository(t);
    writeFiles(dir, { 'README.md': 'mine\n' });
    git(dir, 'add', 'README.md');
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.uncommitted(['memories']), []);
    const { from, to } = await moved(repository);
    assert.equal(from, null);
    await repository.refresh(null, to);
    assert.equal(git(dir, 'status', '--porcelain'), 'A  README.md');
    assert.equal(readFileSync(join(dir, 'memories/a.md'), 'utf8'), 'A\n');
  });

  test(`${backend}: a refresh that was killed half-way is completed by the next`, async (t) => {
    const dir = aRepository(t, start);
    const repository = await openRepository(dir, { backend, env });
    const { from, to } = await moved(repository);
    writeFiles(dir, { 'memories/a.md': 'A\n', 'memories/new/c.md': 'c\n' });
    await repository.refresh(from, to);
    assert.equal(git(dir, 'status', '--porcelain'), '');
  });

  test(`${backend}: a merge under way, a lock and a missing index are refused with the way out`, async (t) => {
    const dir = aRepository(t, start);
    git(dir, 'branch', 'side');
    writeFiles(dir, { 'src/x.ts': 'main\n' });
    commitAll(dir, 'Main');
    git(dir, 'checkout', '--quiet', 'side');
    writeFiles(dir, { 'src/x.ts': 'side\n' });
    commitAll(dir, 'Side');
    assert.throws(() => git(dir, 'merge', 'main'));
    const repository = await openRepository(dir, { backend, env });
    await assert.rejects(repository.uncommitted(['memories']), /A merge is under way/);
    git(dir, 'merge', '--abort');
    assert.throws(() => git(dir, 'rebase', 'main'));
    await assert.rejects(repository.uncommitted(['memories']), /A rebase is under way/);
    assert.equal((await repository.head()).kind, 'detached');
    git(dir, 'rebase', '--abort');
    writeFiles(dir, { '.git/index.lock': '' });
    await assert.rejects(repository.uncommitted(['memories']), /index\.lock is in the way \(since 2/);
    await assert.rejects(
      repository.refresh(git(dir, 'rev-parse', 'main'), git(dir, 'rev-parse', 'side')),
      /index\.lock/,
    );
    rmSync(join(dir, '.git/index.lock'));
    rmSync(join(dir, '.git/index'));
    await assert.rejects(repository.uncommitted(['memories']), /index of .* is missing/);
    git(dir, 'reset', '--quiet');
    assert.deepEqual(await repository.uncommitted(['memories']), []);
  });

  test(`${backend}: a memories folder that is a link is refused, and nothing is written behind it`, async (t) => {
    const dir = aRepository(t, start);
    const outside = temporaryFolder(t);
    const repository = await openRepository(dir, { backend, env });
    const { from, to } = await moved(repository);
    rmSync(join(dir, 'memories'), { recursive: true });
    symlinkSync(outside, join(dir, 'memories'));
    await assert.rejects(repository.uncommitted(['memories']), /memories is a symbolic link/);
    await assert.rejects(repository.refresh(from, to), /memories is a symbolic link/);
    assert.ok(!existsSync(join(outside, 'a.md')));
  });

  test(`${backend}: with core.autocrlf a file that differs in line ends only is clean`, async (t) => {
    const dir = aRepository(t, start);
    git(dir, 'config', 'core.autocrlf', 'true');
    rmSync(join(dir, 'memories/a.md'));
    git(dir, 'checkout', '--', 'memories/a.md');
    assert.equal(readFileSync(join(dir, 'memories/a.md'), 'utf8'), 'a\r\n');
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.uncommitted(['memories']), []);
    const { from, to } = await moved(repository);
    await repository.refresh(from, to);
    assert.equal(readFileSync(join(dir, 'memories/a.md'), 'utf8').replace('\r', ''), 'A\n');
    assert.equal(git(dir, 'status', '--porcelain'), '');
  });

  test(`${backend}: a repository inside memories shows as one path`, async (t) => {
    const dir = aRepository(t, start);
    mkdirSync(join(dir, 'memories/inner'));
    git(join(dir, 'memories/inner'), 'init', '--quiet');
    writeFileSync(join(dir, 'memories/inner/x'), 'x');
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.uncommitted(['memories']), ['memories/inner/']);
  });
}
