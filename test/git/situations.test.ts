import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createRepository } from '../../scripts/git/create.ts';
import { GitError } from '../../scripts/git/errors.ts';
import { type OpenOptions, openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = { 'memories/a.md': 'a\n', 'memories/b.md': 'b\n', 'src/x.ts': 'x\n' };
const program: OpenOptions = { backend: 'git', env };
const without: OpenOptions = { backend: 'isomorphic' };

/** Reads, commits, moves the branch and refreshes: what a night does. @returns the new commit. */
async function night(repository: Repository): Promise<string> {
  const head = await repository.head();
  assert.equal(head.kind, 'branch');
  assert.deepEqual(await repository.uncommitted(['memories']), []);
  const from = head.oid ?? '';
  assert.equal((await repository.readFiles(from, ['memories'])).get('memories/a.md'), 'a\n');
  const changes = new Map([
    ['memories/a.md', 'A\n'],
    ['memories/c.md', 'c\n'],
  ]);
  const author = { name: 'M', email: 'm@example.org' };
  const to = await repository.writeCommit({ base: from, parents: [from], changes, message: 'x', author, at: 1 });
  await repository.swapRef(head.kind === 'branch' ? head.ref : '', from, to);
  await repository.refresh(from, to);
  return to;
}

async function works(dir: string, options: OpenOptions): Promise<void> {
  const to = await night(await openRepository(dir, options));
  assert.equal(git(dir, 'rev-parse', 'HEAD'), to);
  assert.equal(git(dir, 'status', '--porcelain'), '');
  git(dir, 'fsck', '--strict');
}

function refused(dir: string, why: RegExp, options: OpenOptions): Promise<void> {
  return assert.rejects(openRepository(dir, options).then(night), (error) => {
    assert.ok(error instanceof GitError, String(error));
    assert.match(error.message, why);
    assert.ok(error.hint.length > 10);
    return true;
  });
}

test('what is no repository is refused', async (t) => {
  const dir = temporaryFolder(t);
  await refused(dir, /no Git repository at/, program);
  await refused(join(dir, 'nowhere'), /cannot be opened/, program);
  writeFiles(dir, { '.git': 'gitdir: ../gone\n' });
  await refused(dir, /does not lead to a repository/, program);
});

test('without the git program a plain repository is opened, with it the program is preferred', async (t) => {
  const dir = aRepository(t, start);
  assert.equal((await openRepository(dir, { env })).backend, 'git');
  assert.equal((await openRepository(dir, { env: { PATH: '/nowhere' } })).backend, 'isomorphic');
  await refused(dir, /not installed/, { backend: 'git', env: { PATH: '/nowhere' } });
});

for (const options of [program, without]) {
  const name = options.backend;

  test(`${name}: a repository is found from a folder inside it`, async (t) => {
    const dir = aRepository(t, start);
    assert.equal((await openRepository(join(dir, 'src'), options)).workTree, dir);
    await works(dir, options);
  });

  test(`${name}: a detached HEAD is reported`, async (t) => {
    const dir = aRepository(t, start);
    git(dir, 'checkout', '--quiet', '--detach');
    const repository = await openRepository(dir, options);
    assert.deepEqual(await repository.head(), { kind: 'detached', oid: git(dir, 'rev-parse', 'HEAD') });
  });

  test(`${name}: a shallow clone works, and its history ends where it was cut`, async (t) => {
    const origin = aRepository(t, start);
    for (const text of ['1', '2', '3']) {
      writeFiles(origin, { 'src/x.ts': text });
      commitAll(origin, text);
    }
    const dir = join(temporaryFolder(t), 'clone');
    git(origin, 'clone', '--quiet', '--depth=2', `file://${origin}`, dir);
    const repository = await openRepository(dir, options);
    assert.equal(await repository.rootCommit(), null);
    assert.equal((await repository.history(git(dir, 'rev-parse', 'HEAD'), 10)).length, 2);
    assert.deepEqual([...(await repository.remotes())], [['origin', `file://${origin}`]]);
    await works(dir, options);
  });

  test(`${name}: a bare repository is committed to, and has no working tree`, async (t) => {
    const dir = join(temporaryFolder(t), 'bare.git');
    git(aRepository(t, start), 'clone', '--quiet', '--bare', '.', dir);
    const repository = await openRepository(dir, options);
    assert.equal(repository.workTree, null);
    assert.equal(await night(repository), git(dir, 'rev-parse', 'main'));
    assert.ok(!existsSync(join(dir, 'memories')));
  });

  test(`${name}: rights of files, a submodule beside and an odd name survive`, async (t) => {
    const inner = aRepository(t, { 'i.md': 'i' });
    const dir = aRepository(t, start);
    git(dir, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'sub');
    writeFiles(dir, { 'src/run.sh': '#!/bin/sh\n', 'src/a "b"\n.txt': 'odd' });
    chmodSync(join(dir, 'src/run.sh'), 0o755);
    commitAll(dir, 'More');
    const before = git(dir, 'ls-files', '--stage', '--', 'sub', 'src');
    await works(dir, options);
    assert.equal(git(dir, 'ls-files', '--stage', '--', 'sub', 'src'), before);
    assert.equal(statSync(join(dir, 'src/run.sh')).mode & 0o111, 0o111);
  });

  test(`${name}: a repository that we made is an ordinary one`, async (t) => {
    const dir = join(temporaryFolder(t), 'new/demo');
    const repository = await createRepository(dir, { branch: 'main', ...options });
    const author = { name: 'M', email: 'm@example.org' };
    const changes = new Map([['memories/a.md', 'a\n']]);
    const to = await repository.writeCommit({ base: null, parents: [], changes, message: 'x', author, at: 1 });
    await repository.swapRef('refs/heads/main', null, to);
    await repository.refresh(null, to);
    assert.equal(git(dir, 'status', '--porcelain', '--branch'), '## main');
    assert.ok(!existsSync(join(dir, '.git/hooks')));
    await works(dir, options);
    await assert.rejects(createRepository(dir, { branch: 'main' }), /already/);
  });

  test(`${name}: a format that this git does not know is refused`, async (t) => {
    const dir = aRepository(t, start);
    git(dir, 'config', 'core.repositoryFormatVersion', '1');
    git(dir, 'config', 'extensions.fromTheFuture', 'true');
    await refused(dir, /format that the installed git does not know|uses extensions\.fromthefuture/, options);
  });
}

const onlyProgram: Readonly<Record<string, { make(t: TestContext): string; why: RegExp }>> = {
  'a linked worktree': {
    make(t) {
      const dir = join(temporaryFolder(t), 'linked');
      git(aRepository(t, start), 'worktree', 'add', '--quiet', '-b', 'side', dir);
      return dir;
    },
    why: /linked worktree/,
  },
  'a split index': {
    make(t) {
      const dir = aRepository(t, start);
      git(dir, 'update-index', '--split-index');
      return dir;
    },
    why: /index is split/,
  },
  'an index of version 4': {
    make(t) {
      const dir = aRepository(t, start);
      git(dir, 'update-index', '--index-version', '4');
      return dir;
    },
    why: /of version 4/,
  },
  'a sparse checkout': {
    make(t) {
      const dir = aRepository(t, start);
      git(dir, 'sparse-checkout', 'set', 'src');
      return dir;
    },
    why: /sparse|extensions\.worktreeconfig/,
  },
  'a SHA-256 repository': { make: (t) => aRepository(t, start, ['--object-format=sha256']), why: /SHA-256/ },
  'a clone that borrows objects': {
    make(t) {
      const dir = join(temporaryFolder(t), 'shared');
      const origin = aRepository(t, start);
      git(origin, 'clone', '--quiet', '--shared', '.', dir);
      return dir;
    },
    why: /borrows objects/,
  },
  'a partial clone': {
    make(t) {
      const origin = aRepository(t, start);
      git(origin, 'config', 'uploadpack.allowFilter', 'true');
      git(origin, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
      const dir = join(temporaryFolder(t), 'partial');
      git(origin, 'clone', '--quiet', '--filter=blob:none', `file://${origin}`, dir);
      return dir;
    },
    why: /partial clone/,
  },
};

for (const [name, { make, why }] of Object.entries(onlyProgram)) {
  test(`${name} works with the git program and is refused without`, async (t) => {
    const dir = make(t);
    await refused(dir, why, without);
    assert.equal(git(dir, 'status', '--porcelain'), '');
    await works(dir, program);
  });
}

test('a linked worktree moves its own branch, its journal lies with the main one', async (t) => {
  const main = aRepository(t, start);
  const dir = join(temporaryFolder(t), 'linked');
  git(main, 'worktree', 'add', '--quiet', '-b', 'side', dir);
  const before = git(main, 'rev-parse', 'main');
  const repository = await openRepository(dir, program);
  assert.equal(repository.commonDir, join(main, '.git'));
  await night(repository);
  assert.equal(git(main, 'rev-parse', 'main'), before);
  assert.equal(readFileSync(join(main, 'memories/a.md'), 'utf8'), 'a\n');
});

for (const damage of ['cut', 'flipped', 'empty'] as const) {
  test(`an index that is damaged (${damage}) is not taken for a clean one`, async (t) => {
    for (const options of [program, without]) {
      const dir = aRepository(t, start);
      const path = join(dir, '.git/index');
      const bytes = readFileSync(path);
      if (damage === 'flipped') bytes[70] = (bytes[70] ?? 0) ^ 1;
      rmSync(path);
      const kept = { cut: bytes.subarray(0, 90), flipped: bytes, empty: Buffer.alloc(0) };
      writeFiles(dir, { '.git/index': kept[damage] });
      const repository = await openRepository(dir, options);
      if (options === without) await assert.rejects(repository.uncommitted(['memories']), /index is damaged/);
      // Whether the git program looks at an entry's bytes depends on the file's time: it checks no sum when it reads.
      else if (damage !== 'flipped')
        assert.notEqual(String(await repository.uncommitted(['memories']).catch(String)), '');
    }
  });
}
