import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GitError, RefMovedError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const state = 'refs/memory/state';

function twoCommits(t: Parameters<typeof aRepository>[0]): { dir: string; first: string; second: string } {
  const dir = aRepository(t, { 'a.md': 'a' });
  const first = git(dir, 'rev-parse', 'HEAD');
  writeFiles(dir, { 'a.md': 'b' });
  return { dir, first, second: commitAll(dir, 'Second') };
}

for (const backend of ['git', 'isomorphic'] as const) {
  test(`${backend}: a ref is created, moved and deleted only from the value it has`, async (t) => {
    const { dir, first, second } = twoCommits(t);
    const repository = await openRepository(dir, { backend, env });
    assert.equal(repository.backend, backend);
    assert.equal(await repository.readRef(state), null);
    await repository.swapRef(state, null, first);
    assert.equal(git(dir, 'rev-parse', state), first);
    await assert.rejects(repository.swapRef(state, null, second), (error) => {
      assert.ok(error instanceof RefMovedError);
      assert.deepEqual([error.ref, error.expected, error.actual], [state, null, first]);
      return true;
    });
    await assert.rejects(repository.swapRef(state, second, second), RefMovedError);
    await repository.swapRef(state, first, second);
    await assert.rejects(repository.swapRef(state, first, null), RefMovedError);
    await repository.swapRef(state, second, null);
    assert.equal(await repository.readRef(state), null);
    await assert.rejects(repository.swapRef(state, second, first), RefMovedError);
    await assert.rejects(repository.swapRef(state, null, '1'.repeat(40)), /no such object/);
  });

  test(`${backend}: packed refs are read, moved and deleted, and none shows through`, async (t) => {
    const { dir, first, second } = twoCommits(t);
    git(dir, 'tag', '-a', '-m', 'x', 'v1');
    for (const name of [state, 'refs/memory/lease', 'refs/heads/other']) git(dir, 'update-ref', name, first);
    git(dir, 'pack-refs', '--all', '--prune');
    const repository = await openRepository(dir, { backend, env });
    assert.deepEqual(
      [...(await repository.listRefs('refs/memory/'))],
      [
        ['refs/memory/lease', first],
        [state, first],
      ],
    );
    await repository.swapRef(state, first, second);
    assert.equal(await repository.readRef(state), second);
    await repository.swapRef(state, second, null);
    assert.equal(await repository.readRef(state), null);
    assert.equal(git(dir, 'for-each-ref', '--format=%(refname)', 'refs/memory'), 'refs/memory/lease');
    await repository.swapRef('refs/memory/lease', first, null);
    git(dir, 'fsck', '--strict');
    assert.equal(git(dir, 'rev-parse', 'v1^{commit}'), second);
  });

  test(`${backend}: a ref that stands in the folder's place of another is refused, an empty folder gives way`, async (t) => {
    const { dir, first } = twoCommits(t);
    const repository = await openRepository(dir, { backend, env });
    await repository.swapRef('refs/heads/memory/nightly', null, first);
    await assert.rejects(repository.swapRef('refs/heads/memory', null, first), GitError);
    await assert.rejects(repository.swapRef('refs/heads/memory/nightly/x', null, first), GitError);
    await repository.swapRef('refs/heads/memory/nightly', first, null);
    await repository.swapRef('refs/heads/memory', null, first);
    assert.equal(git(dir, 'rev-parse', 'memory'), first);
  });

  test(`${backend}: a lock that a killed program left is explained, and the ref is as before`, async (t) => {
    const { dir, first, second } = twoCommits(t);
    const lock = join(dir, '.git/refs/heads/main.lock');
    writeFileSync(lock, '');
    const repository = await openRepository(dir, { backend, env });
    await assert.rejects(repository.swapRef('refs/heads/main', second, first), (error) => {
      assert.ok(error instanceof GitError && !(error instanceof RefMovedError));
      assert.match(error.message, /main\.lock is in the way/);
      assert.match(error.hint, /rm '/);
      return true;
    });
    assert.equal(await repository.readRef('refs/heads/main'), second);
    assert.ok(existsSync(lock));
    rmSync(lock);
    await repository.swapRef('refs/heads/main', second, first);
  });

  test(`${backend}: a damaged ref is never taken for an absent one`, async (t) => {
    const { dir, first } = twoCommits(t);
    for (const damage of ['', 'half a line', `${first.slice(0, 20)}\n`]) {
      writeFiles(dir, { [`.git/${state}`]: damage });
      const repository = await openRepository(dir, { backend, env });
      await assert.rejects(repository.readRef(state), GitError);
      await assert.rejects(repository.swapRef(state, null, first), GitError);
      assert.equal(readFileSync(join(dir, '.git', state), 'utf8'), damage);
    }
  });

  test(`${backend}: what is no full ref name is refused`, async (t) => {
    const { dir, first } = twoCommits(t);
    const repository = await openRepository(dir, { backend, env });
    for (const ref of [
      'main',
      'HEAD',
      'refs/x',
      'refs/heads/../x',
      'refs/heads/a b',
      'refs/heads/x.lock',
      'refs/heads/.a',
    ])
      await assert.rejects(repository.swapRef(ref, null, first), /no name for a ref/, ref);
  });

  test(`${backend}: of eight processes that move one ref exactly one wins`, async (t) => {
    const { dir, first } = twoCommits(t);
    git(dir, 'update-ref', state, first);
    const opened = await openRepository(dir, { backend, env });
    const author = { name: 'M', email: 'm@example.org' };
    const oids = [];
    for (let at = 1; at <= 8; at += 1)
      oids.push(
        await opened.writeCommit({ base: first, parents: [first], changes: new Map(), message: 'x', author, at }),
      );
    const outcomes = await Promise.all(oids.map((oid) => race(dir, backend, first, oid)));
    assert.deepEqual(
      outcomes.sort(),
      ['RefMovedError', 'won'].flatMap((name) => Array(name === 'won' ? 1 : 7).fill(name)),
    );
    assert.ok(oids.includes((await opened.readRef(state)) ?? ''));
    assert.ok(!existsSync(join(dir, '.git', `${state}.lock`)));
  });
}

test('git: a ref is read from Git’s own files; what they cannot tell alone the program is asked', async (t) => {
  const { dir, first, second } = twoCommits(t);
  git(dir, 'update-ref', state, first);
  git(dir, 'update-ref', 'refs/memory/lease', first);
  git(dir, 'pack-refs', '--all', '--prune');
  git(dir, 'update-ref', 'refs/memory/lease', second);
  git(dir, 'update-ref', 'refs/heads/deep/down', second);
  git(dir, 'symbolic-ref', 'refs/memory/linked', state);
  const bin = temporaryFolder(t);
  const program = join(bin, 'git');
  symlinkSync(join(git(dir, '--exec-path'), 'git'), program);
  const repository = await openRepository(dir, { backend: 'git', env: { PATH: bin } });
  const refs = [state, 'refs/memory/lease', 'refs/heads/deep', 'refs/memory/none', `${state}/none`];
  const read = async () => [
    await repository.head(),
    ...(await Promise.all(refs.map((ref) => repository.readRef(ref)))),
  ];
  assert.equal(await repository.readRef('refs/memory/linked'), first);
  rmSync(program);
  const head = { kind: 'branch', ref: 'refs/heads/main', oid: second };
  assert.deepEqual(await read(), [head, first, second, null, null, null]);
  await assert.rejects(repository.readRef('refs/memory/linked'), GitError);
  git(dir, 'checkout', '--quiet', '--detach', first);
  assert.deepEqual(await repository.head(), { kind: 'detached', oid: first });
  writeFiles(dir, { '.git/refs/memory/zero': `${'0'.repeat(40)}\n`, '.git/refs/memory/half': first.slice(0, 20) });
  symlinkSync('state', join(dir, '.git/refs/memory/old-link'));
  renameSync(join(dir, '.git/HEAD'), join(dir, '.git/HEAD-file'));
  symlinkSync('HEAD-file', join(dir, '.git/HEAD'));
  for (const ref of ['zero', 'half', 'old-link'])
    await assert.rejects(repository.readRef(`refs/memory/${ref}`), GitError, `the program would be asked for ${ref}`);
  await assert.rejects(repository.head(), GitError);
});

function race(dir: string, backend: string, expected: string, next: string): Promise<string> {
  const racer = fileURLToPath(new URL('../support/swap-ref.ts', import.meta.url));
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, ['--import', 'tsx', racer, dir, backend, state, expected, next], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
    });
    child.on('error', fail);
    child.on('close', () => done(text));
  });
}

test('without the program a damaged ref elsewhere does not keep another from moving', async (t) => {
  const { dir, first, second } = twoCommits(t);
  writeFiles(dir, { '.git/refs/heads/broken': 'x' });
  const repository = await openRepository(dir, { backend: 'isomorphic' });
  await repository.swapRef('refs/heads/main', second, first);
  assert.equal(await repository.readRef('refs/heads/main'), first);
});
