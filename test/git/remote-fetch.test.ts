import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { RemoteUnreachableError } from '../../scripts/git/remote-errors.ts';
import { aRemote, backends, commit, commitThere, reader, writer } from '../support/remotes.ts';
import { commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const state = 'refs/memory/state';
const tracking = 'refs/memory/remote/memory/state';

for (const backend of backends) {
  test(`${backend}: an empty server has no refs and no default branch, and every ref is absent`, async (t) => {
    const { remote, repository } = await aRemote(t, backend);
    assert.deepEqual(await remote.listRefs(['refs/']), new Map());
    assert.equal(await remote.head(), null);
    assert.deepEqual(
      await remote.fetch([state, 'refs/heads/main']),
      new Map([
        [state, null],
        ['refs/heads/main', null],
      ]),
    );
    assert.deepEqual(await repository.listRefs('refs/memory/'), new Map());
  });

  test(`${backend}: refs are listed by prefix or by their very name, and the default branch is found`, async (t) => {
    const { server, remote } = await aRemote(t, backend, reader);
    const oids = Object.fromEntries(
      ['refs/heads/main', 'refs/heads/refs/memory/state', 'refs/memory/rollouts', 'refs/memory/state'].map((ref) => [
        ref,
        commitThere(server, ref, ref),
      ]),
    );
    commitThere(server, 'refs/memory/state-old', 'old');
    assert.deepEqual(Object.fromEntries(await remote.listRefs([state])), { [state]: oids[state] });
    assert.deepEqual(
      [...(await remote.listRefs(['refs/memory/', 'refs/heads/main'])).keys()],
      ['refs/heads/main', 'refs/memory/rollouts', 'refs/memory/state', 'refs/memory/state-old'],
    );
    assert.deepEqual(await remote.head(), { branch: 'main', oid: oids['refs/heads/main'] });
    assert.deepEqual(await remote.listRefs(['refs/memory/none']), new Map());
  });

  test(`${backend}: a fetched ref stands under its tracking name, files and all, and no other local ref has moved`, async (t) => {
    const { server, remote, repository, commit } = await aRemote(t, backend, reader);
    const mine = await commit('mine');
    await repository.swapRef(state, null, mine);
    const theirs = commitThere(server, state, 'theirs');
    const before = git(repository.commonDir, 'config', '--local', '--list');
    assert.deepEqual(
      await remote.fetch([state, 'refs/memory/lease']),
      new Map([
        [state, theirs],
        ['refs/memory/lease', null],
      ]),
    );
    assert.deepEqual(
      await repository.listRefs('refs/'),
      new Map([
        [tracking, theirs],
        [state, mine],
      ]),
    );
    assert.equal(
      (await repository.readFiles(theirs, [''])).get('state') ??
        (await repository.readFiles(theirs, ['state'])).get('state'),
      'theirs',
    );
    assert.equal(git(repository.commonDir, 'config', '--local', '--list'), before);
    git(repository.commonDir, 'fsck', '--strict');
  });

  test(`${backend}: a ref that was replaced by one without its history is fetched anew; a deleted one is null and its copy stays`, async (t) => {
    const { server, remote, repository } = await aRemote(t, backend, reader);
    const first = commitThere(server, state, 'first');
    await remote.fetch([state]);
    const second = commitThere(server, state, 'second');
    assert.deepEqual(await remote.fetch([state]), new Map([[state, second]]));
    assert.equal(await repository.readRef(tracking), second);
    const third = commitThere(server, state, 'third', second);
    assert.deepEqual(await remote.fetch([state]), new Map([[state, third]]));
    git(server.dir('team'), 'update-ref', '-d', state);
    assert.deepEqual(await remote.fetch([state]), new Map([[state, null]]));
    assert.equal(await repository.readRef(tracking), third);
    assert.notEqual(first, second);
  });

  test(`${backend}: what is unchanged is asked for once and not sent again`, async (t) => {
    const { server, remote } = await aRemote(t, backend, reader);
    commitThere(server, state, 'x');
    await remote.fetch([state]);
    server.fault = null;
    await remote.fetch([state]);
    assert.ok(server.requests.length <= 2);
    assert.ok(server.requests.every(({ url, method }) => method === 'GET' || url.endsWith('git-upload-pack')));
  });

  test(`${backend}: a ref that moves between listing and fetching comes as it is afterwards`, async (t) => {
    const { server, remote } = await aRemote(t, backend, reader);
    commitThere(server, state, 'first');
    let moved: string | null = null;
    server.fault = ({ method, n }) => {
      if (method === 'POST' && moved === null && n > 1) {
        moved = commitThere(server, state, 'second');
        git(server.dir('team'), 'reflog', 'expire', '--expire=now', '--all');
        git(server.dir('team'), 'gc', '--prune=now', '--quiet');
      }
      return null;
    };
    const fetched = await remote.fetch([state]);
    assert.equal(fetched.get(state), moved);
  });

  test(`${backend}: a hidden ref is as if absent, and cannot be made either`, async (t) => {
    const { server, remote, commit } = await aRemote(t, backend);
    commitThere(server, state, 'x');
    git(server.dir('team'), 'config', 'transfer.hideRefs', 'refs/memory');
    assert.deepEqual(await remote.fetch([state]), new Map([[state, null]]));
    await assert.rejects(remote.push([{ ref: state, expected: null, next: await commit('mine') }]), {
      name: 'GitPushError',
      message: /hidden ref/,
    });
  });

  test(`${backend}: depth brings that much history, more when asked later, and never cuts what is there`, async (t) => {
    const { server, remote, repository, dir } = await aRemote(t, backend, reader);
    let tip: string | null = null;
    for (let at = 1; at <= 6; at += 1) tip = commitThere(server, state, `${at}`, tip);
    assert.ok(tip !== null);
    const length = async (depth?: number | null) => {
      const fetched = await remote.fetch([state], depth === undefined ? {} : { depth });
      return (await repository.history(fetched.get(state) ?? '', 99)).length;
    };
    assert.equal(await length(1), 1);
    assert.equal(await length(4), 4);
    assert.equal(await length(2), 4);
    tip = commitThere(server, state, '7', tip);
    assert.equal(await length(1), 5);
    assert.equal(await length(null), 7);
    assert.equal(git(dir, 'rev-parse', '--is-shallow-repository'), 'false');
    git(dir, 'fsck', '--strict');
  });

  test(`${backend}: a branch of a complete clone is never made shallow, and its root commit stays known`, async (t) => {
    const { server, remote, repository, dir } = await aRemote(t, backend, reader);
    writeFiles(dir, { 'a.md': 'a' });
    const root = commitAll(dir, 'Root');
    git(dir, 'push', '--quiet', server.dir('team'), 'main');
    let tip = root;
    for (let at = 1; at <= 3; at += 1) tip = commitThere(server, 'refs/heads/main', `${at}`, tip);
    let lease = commitThere(server, 'refs/memory/lease', '1');
    lease = commitThere(server, 'refs/memory/lease', '2', lease);
    await remote.fetch(['refs/heads/main', 'refs/memory/lease'], { depth: 1 });
    assert.equal((await repository.history(tip, 99)).length, 4);
    assert.equal((await repository.history(lease, 99)).length, 1);
    assert.equal(await repository.rootCommit(), root);
  });

  test(`${backend}: a shallow clone fetches what it needs and can be deepened`, async (t) => {
    const { server } = await aRemote(t, backend, reader);
    let tip: string | null = null;
    for (let at = 1; at <= 6; at += 1) tip = commitThere(server, 'refs/heads/main', `${at}`, tip);
    const old = commitThere(server, state, '1');
    const now = commitThere(server, state, '2', old);
    const dir = temporaryFolder(t);
    git(dir, 'clone', '--quiet', '--depth=1', `file://${server.dir('team')}`, '.');
    const repository = await openRepository(dir, { env, backend });
    const remote = await openRemote(repository, { url: server.url('team'), token: writer, env, backend });
    assert.equal(await repository.rootCommit(), null);
    await remote.fetch([state, 'refs/heads/main']);
    assert.equal((await repository.history(now, 9)).length, 2);
    assert.equal((await repository.history(tip ?? '', 9)).length, 1);
    await remote.fetch(['refs/heads/main'], { depth: 3 });
    assert.equal((await repository.history(tip ?? '', 9)).length, 3);
    const mine = await commit(repository, 'mine', now);
    await remote.push([{ ref: state, expected: now, next: mine }]);
    await remote.push([{ ref: 'refs/heads/memory/nightly', expected: null, next: await commit(repository, 'n', tip) }]);
    await remote.fetch(['refs/heads/main'], { depth: null });
    assert.equal((await repository.history(tip ?? '', 9)).length, 6);
    git(dir, 'fsck', '--strict');
    git(server.dir('team'), 'fsck', '--strict');
  });

  test(`${backend}: a bare repository fetches and pushes too`, async (t) => {
    const { server } = await aRemote(t, backend, reader);
    const theirs = commitThere(server, state, 'theirs');
    const dir = temporaryFolder(t);
    git(dir, 'init', '--quiet', '--bare');
    const repository = await openRepository(dir, { env, backend });
    const remote = await openRemote(repository, { url: server.url('team'), token: writer, env, backend });
    await remote.fetch([state]);
    const mine = await commit(repository, 'mine', theirs);
    await remote.push([{ ref: state, expected: theirs, next: mine }]);
    assert.equal(git(server.dir('team'), 'rev-parse', state), mine);
  });

  test(`${backend}: a lock that a killed program left is named with what to do`, async (t) => {
    const { server, remote, repository } = await aRemote(t, backend);
    commitThere(server, state, 'x');
    writeFiles(repository.commonDir, { [`${tracking}.lock`]: '' });
    await assert.rejects(remote.fetch([state]), {
      name: 'GitError',
      message: /state\.lock is in the way/,
      hint: /rm '/,
    });
  });

  test(`${backend}: what is no commit, no name or no depth is refused`, async (t) => {
    const { server, remote } = await aRemote(t, backend, reader);
    const tip = commitThere(server, state, 'x');
    git(server.dir('team'), 'update-ref', 'refs/memory/blob', git(server.dir('team'), 'rev-parse', `${tip}:state`));
    await assert.rejects(remote.fetch(['refs/memory/blob']), { name: 'GitError', message: /is a blob/ });
    for (const ref of ['main', '../x', 'refs/heads/a b', '--upload-pack=x', 'refs/memory/*', ''])
      await assert.rejects(remote.fetch([ref]), { name: 'GitError' });
    await assert.rejects(remote.listRefs(['memory/']), { name: 'GitError' });
    for (const depth of [0, -1, 1.5, Number.NaN])
      await assert.rejects(remote.fetch([state], { depth }), { name: 'GitError' });
  });
}

test('git: a linked worktree fetches into the common repository; without the program that is refused', async (t) => {
  const { server, dir } = await aRemote(t, 'git', reader);
  const theirs = commitThere(server, state, 'theirs');
  writeFiles(dir, { 'a.md': 'a' });
  commitAll(dir, 'Start');
  const linked = `${temporaryFolder(t)}/linked`;
  git(dir, 'worktree', 'add', '--quiet', '-b', 'other', linked);
  const repository = await openRepository(linked, { env, backend: 'git' });
  const options = { url: server.url('team'), token: reader, env };
  const remote = await openRemote(repository, options);
  assert.equal(remote.backend, 'git');
  assert.deepEqual(await remote.fetch([state]), new Map([[state, theirs]]));
  assert.equal(git(dir, 'rev-parse', tracking), theirs);
  await assert.rejects(openRemote(repository, { ...options, backend: 'isomorphic' }), { message: /linked worktree/ });
});

test('isomorphic: a pack that arrives damaged is kept nowhere', async (t) => {
  const { server, remote, repository } = await aRemote(t, 'isomorphic', reader);
  commitThere(server, state, 'x');
  server.fault = ({ method, n }) => (method === 'POST' && n > 2 ? { kind: 'cut' } : null);
  await assert.rejects(remote.fetch([state]), RemoteUnreachableError);
  assert.equal(await repository.readRef(tracking), null);
  git(repository.commonDir, 'fsck', '--strict');
});

test('git: to list refs takes one request', async (t) => {
  const { server, remote } = await aRemote(t, 'git', reader);
  const oid = commitThere(server, state, 'theirs');
  server.fault = null;
  assert.deepEqual(await remote.listRefs(['refs/memory/']), new Map([[state, oid]]));
  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ['GET'],
  );
});

for (const backend of backends) {
  test(`${backend}: what was pushed to a ref that was fetched before is not fetched again`, async (t) => {
    const { server, remote, repository, commit } = await aRemote(t, backend);
    const theirs = commitThere(server, state, 'theirs');
    await remote.fetch([state]);
    const next = await commit('mine', theirs);
    await remote.push([{ ref: state, expected: theirs, next }]);
    assert.equal(await repository.readRef(tracking), next);
    server.fault = null;
    assert.deepEqual(await remote.fetch([state]), new Map([[state, next]]));
    const listing = server.requests.length;
    server.fault = null;
    await remote.listRefs([state]);
    assert.equal(server.requests.length, listing);
    await remote.push([{ ref: state, expected: next, next: null }]);
    assert.equal(await repository.readRef(tracking), next);
  });
}
