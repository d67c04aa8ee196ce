import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRemote } from '../../scripts/git/remote.ts';
import { GitPushError, PushRejectedError } from '../../scripts/git/remote-errors.ts';
import { aRemote, type Bench, backends, commitThere, limited, reader } from '../support/remotes.ts';
import { env, git, writeFiles } from '../support/repository.ts';

const state = 'refs/memory/state';

function there({ server }: Bench, ref = state): string | null {
  return git(server.dir('team'), 'for-each-ref', '--format=%(objectname)', ref) || null;
}

for (const backend of backends) {
  test(`${backend}: a ref is made, replaced by a parentless commit, and deleted, each by what it held`, async (t) => {
    const bench = await aRemote(t, backend);
    const { remote, commit, server } = bench;
    const first = await commit('first');
    await remote.push([{ ref: state, expected: null, next: first }]);
    assert.equal(there(bench), first);
    const second = await commit('second');
    await remote.push([{ ref: state, expected: first, next: second }]);
    const third = await commit('third', second);
    await remote.push([
      { ref: state, expected: second, next: third },
      { ref: 'refs/heads/memory/nightly', expected: null, next: first },
    ]);
    assert.equal(there(bench), third);
    assert.equal(there(bench, 'refs/heads/memory/nightly'), first);
    git(server.dir('team'), 'fsck', '--strict');
    await remote.push([{ ref: state, expected: third, next: null }]);
    assert.equal(there(bench), null);
    assert.deepEqual([...(await bench.repository.listRefs('refs/')).keys()], []);
  });

  test(`${backend}: a push that finds the ref at its goal has succeeded, whatever it expected`, async (t) => {
    const { remote, commit } = await aRemote(t, backend);
    const next = await commit('x');
    const make = { ref: state, expected: null, next };
    await remote.push([make]);
    await remote.push([make]);
    await remote.push([{ ref: state, expected: next, next }]);
    const remove = { ref: state, expected: next, next: null };
    await remote.push([remove]);
    await remote.push([remove]);
  });

  test(`${backend}: a ref that holds something else is left alone, and the error says what it holds`, async (t) => {
    const bench = await aRemote(t, backend);
    const { remote, commit, server } = bench;
    const theirs = commitThere(server, state, 'theirs');
    const [old, mine] = [await commit('old'), await commit('mine')];
    for (const [expected, next] of [
      [null, mine],
      [old, mine],
      [old, null],
    ] as const) {
      await assert.rejects(remote.push([{ ref: state, expected, next }]), (error) => {
        assert.ok(error instanceof PushRejectedError, String(error));
        assert.deepEqual(error.refused, { ref: state, expected, actual: theirs });
        return true;
      });
    }
    await assert.rejects(remote.push([{ ref: 'refs/memory/none', expected: old, next: mine }]), (error) => {
      assert.ok(error instanceof PushRejectedError, String(error));
      assert.equal(error.refused.actual, null);
      return true;
    });
    assert.equal(there(bench), theirs);
  });

  test(`${backend}: the first update that fails ends the push, and those before it stand`, async (t) => {
    const bench = await aRemote(t, backend);
    const next = await bench.commit('x');
    commitThere(bench.server, 'refs/memory/b', 'theirs');
    const updates = ['a', 'b', 'c'].map((name) => ({ ref: `refs/memory/${name}`, expected: null, next }));
    await assert.rejects(bench.remote.push(updates), PushRejectedError);
    assert.equal(there(bench, 'refs/memory/a'), next);
    assert.equal(there(bench, 'refs/memory/c'), null);
  });

  test(`${backend}: a hook's refusal is told in its words, and the ref is said to be as it was`, async (t) => {
    const bench = await aRemote(t, backend);
    bench.server.refuse('team', 'refs/memory/*', 'no memory here \u001b[31m@everyone');
    await assert.rejects(
      bench.remote.push([{ ref: state, expected: null, next: await bench.commit('x') }]),
      (error) => {
        assert.ok(error instanceof GitPushError, String(error));
        assert.match(error.message, /pre-receive hook declined; no memory here \\u\{1b\}\[31m@everyone/);
        assert.deepEqual(error.refused, { ref: state, expected: null, actual: null });
        assert.match(error.hint, /rule of the server/);
        return true;
      },
    );
    assert.equal(there(bench), null);
  });

  test(`${backend}: a long refusal is cut`, async (t) => {
    const bench = await aRemote(t, backend);
    bench.server.refuse('team', 'refs/memory/*', 'no '.repeat(2000));
    await assert.rejects(
      bench.remote.push([{ ref: state, expected: null, next: await bench.commit('x') }]),
      (error) => {
        assert.ok(error instanceof GitPushError && error.message.length < 800);
        return true;
      },
    );
  });

  test(`${backend}: a server that refuses to replace or delete is a refusal, not a lost race`, async (t) => {
    const bench = await aRemote(t, backend);
    const { remote, commit, server } = bench;
    const first = await commit('first');
    await remote.push([{ ref: 'refs/heads/main', expected: null, next: first }]);
    git(server.dir('team'), 'config', 'receive.denyNonFastForwards', 'true');
    git(server.dir('team'), 'config', 'receive.denyDeletes', 'true');
    for (const next of [await commit('other'), null]) {
      await assert.rejects(remote.push([{ ref: 'refs/heads/main', expected: first, next }]), (error) => {
        assert.ok(error instanceof GitPushError, String(error));
        assert.equal(error.refused.actual, first);
        return true;
      });
    }
  });

  test(`${backend}: somebody who is faster after the server has said what it holds is a lost race`, async (t) => {
    const bench = await aRemote(t, backend);
    const { remote, commit, server } = bench;
    const next = await commit('mine');
    let theirs = '';
    server.fault = ({ method }) => {
      if (method === 'POST' && theirs === '') theirs = commitThere(server, state, 'theirs');
      return null;
    };
    await assert.rejects(remote.push([{ ref: state, expected: null, next }]), (error) => {
      assert.ok(error instanceof GitPushError, String(error));
      assert.equal(error.refused.actual, theirs);
      assert.match(error.hint, /start again/);
      return true;
    });
  });

  test(`${backend}: a token without a right says so: unknown, read-only, or for other refs`, async (t) => {
    const bench = await aRemote(t, backend);
    const { server, repository } = bench;
    const next = await bench.commit('x');
    const opened = (token: string | undefined) =>
      openRemote(repository, { url: server.url('team'), token, env, backend });
    for (const token of ['wrong', undefined, '']) {
      const remote = await opened(token);
      await assert.rejects(remote.listRefs(['refs/']), { name: 'RemoteAuthError' });
      await assert.rejects(remote.fetch([state]), { name: 'RemoteAuthError' });
      await assert.rejects(remote.head(), { name: 'RemoteAuthError' });
      await assert.rejects(remote.push([{ ref: state, expected: null, next }]), { name: 'RemoteAuthError' });
    }
    const readOnly = await opened(reader);
    assert.deepEqual(await readOnly.fetch([state]), new Map([[state, null]]));
    await assert.rejects(readOnly.push([{ ref: state, expected: null, next }]), {
      name: 'RemoteAuthError',
      hint: /read and write the contents/,
    });
    const branchesOnly = await opened(limited);
    await branchesOnly.push([{ ref: 'refs/heads/memory/lease', expected: null, next }]);
    await assert.rejects(branchesOnly.push([{ ref: 'refs/memory/lease', expected: null, next }]), {
      name: 'GitPushError',
      message: /may not push to refs\/memory\/lease/,
    });
  });

  test(`${backend}: a commit that is not here, and names that are none, are refused before anything is asked`, async (t) => {
    const { remote, server, commit } = await aRemote(t, backend);
    const next = await commit('x');
    for (const update of [
      { ref: state, expected: null, next: '1'.repeat(40) },
      { ref: state, expected: null, next: 'main' },
      { ref: state, expected: '--force', next },
      { ref: 'main', expected: null, next },
      { ref: 'refs/heads/x:refs/heads/main', expected: null, next },
    ])
      await assert.rejects(remote.push([update]), { name: 'GitError' });
    assert.deepEqual(server.requests, []);
  });
}

test('git: ten changed rows of a 5 MB state with its parent are a push of less than 100 KB', async (t) => {
  const { server, remote, repository } = await aRemote(t, 'git');
  const rows = Array.from({ length: 5000 }, (_, at) => `["${at}","${row(at)}"]`);
  const write = (text: string, parent: string | null) =>
    repository.writeCommit({
      base: null,
      parents: parent === null ? [] : [parent],
      changes: new Map([['state.sqlite.json', text]]),
      message: 'State',
      author: { name: 'M', email: 'm@example.org' },
      at: 1,
    });
  const first = await write(rows.join('\n'), null);
  await remote.push([{ ref: state, expected: null, next: first }]);
  for (let at = 0; at < 10; at += 1) rows[at * 500] = `["${at * 500}","${row(at + 9000)}"]`;
  const second = await write(rows.join('\n'), first);
  server.fault = null;
  await remote.push([{ ref: state, expected: first, next: second }]);
  const sent = server.requests.reduce((sum, request) => sum + request.received, 0);
  assert.ok(sent < 100_000, `${sent} bytes`);
  assert.ok(sent > 100, `${sent} bytes`);
});

/** About 1 KB that does not compress to nothing. */
function row(seed: number): string {
  let value = (seed + 1) * 2_654_435_761;
  let text = '';
  while (text.length < 1000) {
    value = (value * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += value.toString(36);
  }
  return text;
}

test('git: hooks, push options, tags and signatures that the user has set are left out', async (t) => {
  const { server, remote, repository, dir, commit } = await aRemote(t, 'git');
  writeFiles(dir, { 'hooks/pre-push': '#!/bin/sh\nexit 1\n', 'hooks/reference-transaction': '#!/bin/sh\nexit 1\n' });
  git(dir, 'config', 'core.hooksPath', join(dir, 'hooks'));
  git(dir, 'config', 'push.pushOption', 'ci.skip');
  git(dir, 'config', 'push.followTags', 'true');
  git(dir, 'config', 'push.gpgSign', 'true');
  git(dir, 'config', 'remote.pushDefault', 'elsewhere');
  git(dir, 'config', 'fetch.prune', 'true');
  const next = await commit('x');
  await repository.swapRef('refs/tags/v1', null, next);
  await remote.push([{ ref: state, expected: null, next }]);
  assert.equal(git(server.dir('team'), 'for-each-ref', '--format=%(refname)'), state);
});
