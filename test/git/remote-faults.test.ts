import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { test } from 'node:test';
import { openRemote } from '../../scripts/git/remote.ts';
import { RemoteUnreachableError } from '../../scripts/git/remote-errors.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import type { Fault, GitRequest } from '../support/git-server.ts';
import { aRemote, type Bench, backends, commitThere, processesWith, writer } from '../support/remotes.ts';
import { env, git } from '../support/repository.ts';

const state = 'refs/memory/state';
const advertisement = 'application/x-git-upload-pack-advertisement';

function leftovers({ dir }: Bench): string[] {
  const names = readdirSync(`${dir}/.git`, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.lock$|tmp_/.test(name));
}

const wrongAnswers: Readonly<Record<string, Fault>> = {
  busy: { kind: 'status', status: 503 },
  broken: { kind: 'status', status: 500, body: 'oops' },
  dropped: { kind: 'drop' },
  'a page': { kind: 'page' },
  'a page with an end of line': { kind: 'status', status: 200, body: 'Sign in\n', type: 'text/html' },
  nothing: { kind: 'status', status: 200 },
  'half of a list': { kind: 'status', status: 200, body: '001e# service', type: advertisement },
  'a complaint': { kind: 'status', status: 200, body: '000eERR nothing0000', type: advertisement },
  'a login page elsewhere': { kind: 'redirect', to: 'http://login.invalid/' },
};

for (const backend of backends) {
  test(`${backend}: a server that answers wrongly is unreachable, and nothing is taken for absent`, async (t) => {
    const bench = await aRemote(t, backend);
    const { server, remote } = bench;
    const theirs = commitThere(server, state, 'theirs');
    const next = await bench.commit('x');
    for (const [what, fault] of Object.entries(wrongAnswers)) {
      server.fault = () => fault;
      for (const work of [
        () => remote.listRefs(['refs/memory/']),
        () => remote.fetch([state]),
        () => remote.head(),
        () => remote.push([{ ref: state, expected: theirs, next }]),
      ])
        await assert.rejects(work, (error) => {
          assert.ok(error instanceof RemoteUnreachableError, `${what}: ${error}`);
          assert.ok(error.message.includes(server.url('team')) && error.hint !== '');
          return true;
        });
      assert.equal(git(server.dir('team'), 'rev-parse', state), theirs);
    }
    assert.deepEqual(leftovers(bench), []);
  });

  test(`${backend}: a repository that is not there is named as that`, async (t) => {
    const { server, repository, commit } = await aRemote(t, backend);
    const remote = await openRemote(repository, { url: server.url('none'), token: writer, env, backend });
    const next = await commit('x');
    for (const work of [
      () => remote.listRefs(['refs/memory/']),
      () => remote.fetch([state]),
      () => remote.push([{ ref: state, expected: null, next }]),
    ])
      await assert.rejects(work, { name: 'RemoteNotFoundError', message: /no repository at .{0,99}none\.git/ });
  });

  test(`${backend}: nobody at the port, no such host, no TLS: each is unreachable`, async (t) => {
    const { server, repository } = await aRemote(t, backend);
    const closed = createServer();
    const port = await listening(closed);
    await new Promise((done) => closed.close(done));
    for (const url of [
      `http://127.0.0.1:${port}/x.git`,
      'http://nobody.invalid/x.git',
      server.url('team').replace('http:', 'https:'),
    ]) {
      const remote = await openRemote(repository, { url, token: writer, env, backend });
      await assert.rejects(remote.fetch([state]), { name: 'RemoteUnreachableError' });
    }
  });

  test(`${backend}: a stalled server is given up after its time`, async (t) => {
    const { server, repository } = await aRemote(t, backend);
    server.fault = () => ({ kind: 'stall' });
    const options = { url: server.url('team'), token: writer, env, backend, stallSeconds: 1 };
    const remote = await openRemote(repository, options);
    await assert.rejects(remote.fetch([state]), { name: 'RemoteUnreachableError' });
  });

  for (const [what, at] of [
    ['listing', (request: GitRequest) => request.method === 'GET'],
    ['sending', (request: GitRequest) => request.method === 'POST' && request.url.endsWith('receive-pack')],
  ] as const) {
    test(`${backend}: an abort while ${what} ends it at once with its reason, and leaves no process and no lock`, async (t) => {
      const bench = await aRemote(t, backend);
      const { server, remote, commit } = bench;
      const next = await commit('x');
      const stop = new AbortController();
      const reason = new MemoryError('Stopped by a test.', 'Go on.');
      server.fault = (request) => {
        if (!at(request)) return null;
        setImmediate(() => stop.abort(reason));
        return { kind: 'stall' };
      };
      await assert.rejects(
        remote.push([{ ref: state, expected: null, next }], stop.signal),
        (error) => error === reason,
      );
      await assert.rejects(remote.fetch([state], { signal: stop.signal }), (error) => error === reason);
      assert.deepEqual(processesWith(server.url('team')), []);
      assert.deepEqual(leftovers(bench), []);
    });
  }

  test(`${backend}: a repository that has moved on the same server is followed, and the token goes along`, async (t) => {
    const { server, repository, commit } = await aRemote(t, backend);
    const remote = await openRemote(repository, { url: server.url('old'), token: writer, env, backend });
    server.fault = ({ url }) =>
      url.startsWith('/old.git') ? { kind: 'redirect', status: 301, to: url.replace('/old', '/team') } : null;
    const next = await commit('x');
    await remote.push([{ ref: state, expected: null, next }]);
    assert.deepEqual(await remote.fetch([state]), new Map([[state, next]]));
  });
}

test('isomorphic: a proxy that would be needed is said to need the git program, except for exempt hosts', async (t) => {
  const { server, repository } = await aRemote(t, 'isomorphic');
  const opened = (more: Record<string, string>) =>
    openRemote(repository, { url: server.url('team'), token: writer, env: { ...env, ...more }, backend: 'isomorphic' });
  const proxy = { http_proxy: 'http://127.0.0.1:9' };
  await assert.rejects((await opened(proxy)).fetch([state]), {
    name: 'RemoteUnreachableError',
    message: /proxy of http_proxy/,
    hint: /Install git/,
  });
  assert.deepEqual(await (await opened({ ...proxy, NO_PROXY: 'example.org,127.0.0.1' })).listRefs([state]), new Map());
});

test('git: a proxy is used, and one that fails is unreachable', async (t) => {
  const { server, repository } = await aRemote(t, 'git');
  const options = { url: server.url('team'), token: writer, backend: 'git' as const };
  const remote = await openRemote(repository, { ...options, env: { ...env, http_proxy: 'http://127.0.0.1:9' } });
  await assert.rejects(remote.fetch([state]), { name: 'RemoteUnreachableError' });
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
