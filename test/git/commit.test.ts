import assert from 'node:assert/strict';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { GitError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { CommitSpec } from '../../scripts/git/types.ts';
import { aRepository, commitAll, env, git, writeFiles } from '../support/repository.ts';

const backends = ['git', 'isomorphic'] as const;

function aCommit(over: Partial<CommitSpec>): CommitSpec {
  const author = { name: 'Memory', email: 'memory@example.org' };
  return { base: null, parents: [], changes: new Map(), message: 'Learn', author, at: 1_790_000_000, ...over };
}

test('bytes are written as they are, and a file that is to be run stays one', async (t) => {
  for (const backend of backends) {
    const dir = aRepository(t, { 'a.txt': 'a\n' });
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
    const changes = new Map<string, string | Buffer>([
      ['run', '#!/bin/sh\n'],
      ['bytes', bytes],
    ]);
    const oid = await repository.writeCommit(
      aCommit({ base, parents: [base], changes, executable: new Set(['run', 'a.txt']) }),
    );
    assert.match(git(dir, 'ls-tree', oid), /^100644 .*a\.txt\n100644 .*bytes\n100755 .*run$/m);
    assert.equal(git(dir, 'cat-file', '-s', `${oid}:bytes`), '4');
  }
});

test('an annotated tag is read as the commit that it names', async (t) => {
  const dir = aRepository(t, { 'a.txt': 'a\n' });
  git(dir, 'tag', '--annotate', '--message', 'One', 'v1');
  git(dir, 'tag', '--annotate', '--message', 'Two', 'v2', 'v1');
  for (const backend of backends) {
    const repository = await openRepository(dir, { backend, env });
    const tag = git(dir, 'rev-parse', 'v2');
    assert.equal((await repository.readCommit(tag)).oid, git(dir, 'rev-parse', 'HEAD'));
    assert.deepEqual([...(await repository.listFiles(tag, ['a.txt'])).keys()], ['a.txt']);
  }
});

test('both backends write the same commit, and only what was asked', async (t) => {
  const oids = [];
  for (const backend of backends) {
    const dir = aRepository(t, { 'memories/a.md': 'a\n', 'memories/deep/er/b.md': 'b\n', 'src/run.sh': '#!/bin/sh\n' });
    chmodSync(join(dir, 'src/run.sh'), 0o755);
    symlinkSync('run.sh', join(dir, 'src/link'));
    const base = commitAll(dir, 'More');
    const repository = await openRepository(dir, { backend, env });
    const changes = new Map([
      ['memories/a.md', 'A\n'],
      ['memories/a/new.md', 'ü 漢\n'],
      ['memories/a.md.txt', ''],
      ['memories/deep/er/b.md', null],
      ['memories/nothing/here.md', null],
    ]);
    const oid = await repository.writeCommit(
      aCommit({ base, parents: [base], changes, message: 'Learn\r\n\r\nmore\n\n' }),
    );
    oids.push(oid);
    assert.equal(git(dir, 'rev-parse', 'main'), base);
    assert.equal(
      git(dir, 'diff', '--name-status', base, oid),
      'M\tmemories/a.md\nA\tmemories/a.md.txt\nA\tmemories/a/new.md\nD\tmemories/deep/er/b.md',
    );
    assert.equal(git(dir, 'ls-tree', oid, 'src/'), git(dir, 'ls-tree', base, 'src/'));
    assert.equal(git(dir, 'ls-tree', '-d', '--name-only', oid, 'memories/'), 'memories/a');
    git(dir, 'fsck', '--strict', '--full');
    assert.equal(
      git(dir, 'cat-file', 'commit', oid).replace(/^tree .*\n/, ''),
      `parent ${base}\nauthor Memory <memory@example.org> 1790000000 +0000\n` +
        'committer Memory <memory@example.org> 1790000000 +0000\n\nLearn\n\nmore',
    );
  }
  assert.equal(oids[0], oids[1]);
});

for (const backend of backends) {
  test(`${backend}: settings of the repository cannot change a commit`, async (t) => {
    const dir = aRepository(t, { 'memories/a.md': 'a\n' });
    const base = git(dir, 'rev-parse', 'HEAD');
    const plain = await (await openRepository(dir, { backend, env })).writeCommit(aCommit({ base, parents: [base] }));
    for (const setting of ['commit.gpgSign', 'core.autocrlf', 'core.quotePath', 'log.showSignature'])
      git(dir, 'config', setting, 'true');
    git(dir, 'config', 'i18n.commitEncoding', 'latin1');
    git(dir, 'config', 'core.hooksPath', '.hooks');
    writeFiles(dir, { '.hooks/reference-transaction': '#!/bin/sh\ntouch hooked\nexit 1\n' });
    chmodSync(join(dir, '.hooks/reference-transaction'), 0o755);
    const noisy = {
      ...env,
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere',
      GIT_AUTHOR_DATE: '0 +0000',
      LANG: 'de_DE',
    };
    const repository = await openRepository(dir, { backend, env: noisy });
    assert.equal(await repository.writeCommit(aCommit({ base, parents: [base] })), plain);
    await repository.swapRef('refs/heads/main', base, plain);
    assert.equal(git(dir, 'rev-parse', 'main'), plain);
  });

  test(`${backend}: names and contents that are no UTF-8 stay, and are no text files`, async (t) => {
    const dir = aRepository(t, {
      'memories/a.md': 'a\r\nb\n',
      'memories/bom.md': '\ufeffx',
      'memories/nul.bin': 'a\0b',
    });
    writeFiles(dir, { 'memories/latin.txt': Buffer.from([0x66, 0xfc, 0x72]) });
    const odd = git(dir, 'hash-object', '-w', 'memories/a.md');
    git(dir, 'add', '--all');
    const line = Buffer.concat([Buffer.from(`100644 ${odd}\tmemories/`), Buffer.from([0xff, 0x2e]), Buffer.from('\0')]);
    writeFiles(dir, { '.git/line': line });
    const shell = await import('node:child_process');
    shell.execFileSync('git', ['update-index', '-z', '--index-info'], { cwd: dir, input: line });
    git(dir, 'commit', '--quiet', '-m', 'Odd');
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(
      [...(await repository.readFiles(base, ['memories']))],
      [
        ['memories/a.md', 'a\nb\n'],
        ['memories/bom.md', '\ufeffx'],
      ],
    );
    const oid = await repository.writeCommit(
      aCommit({ base, parents: [base], changes: new Map([['memories/z.md', 'z']]) }),
    );
    assert.equal(git(dir, 'diff', '--name-status', base, oid), 'A\tmemories/z.md');
    git(dir, 'fsck', '--strict');
  });

  test(`${backend}: nothing is written through or onto a link, a submodule or a file`, async (t) => {
    const dir = aRepository(t, { 'a.md': 'a', 'real/b.md': 'b' });
    symlinkSync('/tmp', join(dir, 'memories'));
    symlinkSync('a.md', join(dir, 'link.md'));
    git(dir, 'update-index', '--add', '--cacheinfo', `160000,${git(dir, 'rev-parse', 'HEAD')},sub`);
    git(dir, 'add', 'memories', 'link.md');
    git(dir, 'commit', '--quiet', '-m', 'Links');
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    for (const [path, why] of [
      ['memories/x.md', /symbolic link/],
      ['memories', /symbolic link/],
      ['link.md', /symbolic link/],
      ['sub/x.md', /submodule/],
      ['sub', /submodule/],
      ['a.md/x.md', /is a file, not a folder/],
      ['real', /is a folder, not a regular file/],
      ['../x', /part \.\./],
      ['/etc/passwd', /absolute/],
      ['memories/.GIT/hooks', /\.git/],
    ] as const) {
      await assert.rejects(repository.writeCommit(aCommit({ base, changes: new Map([[path, 'x']]) })), (error) => {
        assert.ok(error instanceof GitError);
        assert.match(error.message, why);
        return true;
      });
    }
    const both = new Map([
      ['n', 'x'],
      ['n/x', 'x'],
    ]);
    await assert.rejects(repository.writeCommit(aCommit({ base, changes: both })), /both a file and a folder/);
    const oid = await repository.writeCommit(
      aCommit({ base, parents: [base], changes: new Map([['real/b.md', 'B']]) }),
    );
    assert.equal(git(dir, 'diff', '--name-only', base, oid), 'real/b.md');
  });

  test(`${backend}: a first commit, an empty tree and history`, async (t) => {
    const dir = aRepository(t);
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(await repository.head(), { kind: 'branch', ref: 'refs/heads/main', oid: null });
    assert.equal(await repository.rootCommit(), null);
    const first = await repository.writeCommit(aCommit({ changes: new Map([['memories/a.md', 'a']]) }));
    const second = await repository.writeCommit(
      aCommit({ base: first, parents: [first], changes: new Map([['memories/a.md', null]]), at: 1_790_000_001 }),
    );
    await repository.swapRef('refs/heads/main', null, second);
    git(dir, 'fsck', '--strict');
    assert.equal(git(dir, 'ls-tree', second), '');
    assert.equal(await repository.rootCommit(), first);
    assert.deepEqual(
      (await repository.history(second, 5)).map(({ oid, at }) => [oid, at]),
      [
        [second, 1_790_000_001],
        [first, 1_790_000_000],
      ],
    );
    assert.equal((await repository.history(second, 1)).length, 1);
    assert.deepEqual(await repository.readCommit(first), {
      oid: first,
      parents: [],
      message: 'Learn\n',
      author: { name: 'Memory', email: 'memory@example.org' },
      at: 1_790_000_000,
    });
  });

  test(`${backend}: packed objects are read, a missing one is an error`, async (t) => {
    const dir = aRepository(t, { 'memories/a.md': 'a\n', 'memories/b.md': 'a\nb\n' });
    git(dir, 'gc', '--quiet', '--prune=now');
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    assert.equal((await repository.readFiles(base, ['memories/b.md'])).get('memories/b.md'), 'a\nb\n');
    assert.deepEqual([...(await repository.readFiles(base, ['memories/b'])).keys()], []);
    await assert.rejects(repository.readCommit('1'.repeat(40)), /no commit/);
    await assert.rejects(repository.readCommit(git(dir, 'rev-parse', 'HEAD^{tree}')), /is a tree/);
    await assert.rejects(repository.readCommit('--help'), GitError);
  });

  test(`${backend}: an author or a message that would forge a commit's head is refused`, async (t) => {
    const repository = await openRepository(aRepository(t), { backend, env });
    const author = { name: 'x\nparent 1', email: 'e' };
    await assert.rejects(repository.writeCommit(aCommit({ author })), /cannot stand in a commit/);
    await assert.rejects(repository.writeCommit(aCommit({ message: 'a\0b' })), /NUL/);
    await assert.rejects(repository.writeCommit(aCommit({ at: 1.5 })), /time/);
    await assert.rejects(repository.writeCommit(aCommit({ parents: ['HEAD'] })), /no object id/);
  });
}
