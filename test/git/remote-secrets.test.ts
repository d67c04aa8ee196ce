import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { openRemote } from '../../scripts/git/remote.ts';
import type { Remote, RemoteOptions } from '../../scripts/git/remote-types.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { aGitServer, type GitRequest, type GitServer } from '../support/git-server.ts';
import { aRemote, type BackendName, backends, commitThere, processesWith, rights, writer } from '../support/remotes.ts';
import { env, git, temporaryFolder } from '../support/repository.ts';

const state = 'refs/memory/state';
const forms = [
  writer,
  Buffer.from(`x-access-token:${writer}`).toString('base64'),
  Buffer.from(`:${writer}`).toString('base64').slice(2, -4),
];

function assertSilent(text: string, where: string): void {
  for (const form of forms) assert.ok(!text.includes(form), `${where} shows the token`);
}

/** Everything that a person, a log or a debugger could get to see of it. */
function everythingOf(value: unknown): string {
  const parts = [inspect(value, { depth: 12, showHidden: true, getters: true })];
  if (value instanceof Error) parts.push(String(value.stack), value instanceof MemoryError ? value.hint : '');
  return parts.join('\n');
}

async function errorOf(work: Promise<unknown>): Promise<Error> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error);
  return error;
}

function assertFolderSilent(dir: string): void {
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const path = join(dir, name);
    if (statSync(path).isFile()) assertSilent(readFileSync(path, 'latin1'), path);
  }
}

function assertRequestsSilent(requests: readonly GitRequest[]): void {
  assert.ok(requests.length > 0);
  for (const { url, headers } of requests) {
    const { authorization, ...others } = headers;
    assert.ok(authorization === undefined || /^basic [A-Za-z0-9+/=]+$/i.test(authorization));
    assertSilent(url + JSON.stringify(others), 'a request');
  }
}

const places: Readonly<Record<string, (server: GitServer, dir: string) => RemoteOptions>> = {
  'an option': (server) => ({ url: server.url('team'), token: writer, env }),
  'an option with a line break after it': (server) => ({ url: server.url('team'), token: `${writer}\n`, env }),
  'the address': (server) => ({ url: withUser(server.url('team'), `x-access-token:${writer}`), env }),
  'the address, with a user': (server) => ({ url: withUser(server.url('team'), 'oauth2'), token: writer, env }),
  "the clone's configuration": (server, dir) => {
    git(dir, 'remote', 'add', 'origin', withUser(server.url('team'), `me:${writer}`));
    return { name: 'origin', env };
  },
};

function withUser(url: string, user: string): string {
  return url.replace('//', `//${user}@`);
}

async function useAll(t: TestContext, backend: BackendName, place: string): Promise<void> {
  const { server, repository, dir, commit } = await aRemote(t, backend);
  git(dir, 'config', 'core.logAllRefUpdates', 'always');
  const options = places[place]?.(server, dir);
  assert.ok(options !== undefined);
  const config = readFileSync(join(dir, '.git/config'), 'utf8');
  const remote = await openRemote(repository, { ...options, backend });
  assertSilent(everythingOf(remote), 'the remote');
  assert.equal(remote.url, server.url('team'));
  const first = await commit('first');
  await remote.push([{ ref: state, expected: null, next: first }]);
  const theirs = commitThere(server, 'refs/heads/main', 'theirs');
  await remote.fetch([state, 'refs/heads/main']);
  assert.deepEqual(await remote.head(), { branch: 'main', oid: theirs });
  assertRequestsSilent(server.requests);
  const errors = place.startsWith('an option with') ? [] : await failuresOf(remote, server, first);
  for (const error of errors) assertSilent(everythingOf(error), error.name);
  assert.equal(readFileSync(join(dir, '.git/config'), 'utf8'), config);
  if (place !== "the clone's configuration") assertFolderSilent(dir);
}

async function failuresOf(remote: Remote, server: GitServer, first: string): Promise<Error[]> {
  const errors: Error[] = [];
  const fail = async (work: Promise<unknown>) => errors.push(await errorOf(work));
  const echo = `bad token ${writer} in ${withUser(server.url('team'), `x:${writer}`)} or ${forms[1]}`;
  const remove = { ref: state, expected: first, next: null };
  for (const status of [403, 500]) {
    server.fault = () => ({ kind: 'status', status, body: echo });
    await fail(remote.fetch([state]));
    await fail(remote.push([remove]));
  }
  server.fault = () => ({ kind: 'drop' });
  await fail(remote.fetch([state]));
  server.fault = () => ({ kind: 'page' });
  await fail(remote.listRefs(['refs/']));
  server.fault = null;
  server.refuse('team', 'refs/*', echo);
  await fail(remote.push([remove]));
  server.refuse('team', '', '');
  await fail(
    remote.push(
      [{ ref: state, expected: null, next: null }].map((update) => ({ ...update, expected: '1'.repeat(40) })),
    ),
  );
  return errors;
}

for (const backend of backends) {
  for (const place of Object.keys(places)) {
    test(`${backend}: a token from ${place} works, and shows in no file, object, error or request`, (t) =>
      useAll(t, backend, place));
  }

  test(`${backend}: the token stands in no process's arguments`, async (t) => {
    const { server, remote, commit } = await aRemote(t, backend);
    const next = await commit('x');
    const seen: string[] = [];
    server.fault = () => {
      seen.push(...processesWith('team.git'), ...processesWith(writer));
      return null;
    };
    await remote.fetch([state]);
    await remote.push([{ ref: state, expected: null, next }]);
    if (backend === 'git' && existsSync('/proc/self/cmdline')) assert.ok(seen.length > 0);
    assertSilent(seen.join('\n'), 'a command line');
  });

  test(`${backend}: a redirect to another server gets no token, and is not followed`, async (t) => {
    const { server, remote, commit } = await aRemote(t, backend);
    const other = await aGitServer(t, { ...rights, anonymous: 'write' });
    other.create('team');
    const next = await commit('x');
    for (const status of [301, 302, 307, 308]) {
      for (const method of ['GET', 'POST']) {
        server.fault = (request) =>
          request.method === method ? { kind: 'redirect', status, to: other.origin + request.url } : null;
        await errorOf(remote.push([{ ref: state, expected: null, next }]));
        if (method === 'GET') await errorOf(remote.fetch([state]));
      }
    }
    assert.deepEqual(
      other.requests.filter(({ headers }) => headers.authorization !== undefined),
      [],
    );
    assert.equal(git(other.dir('team'), 'for-each-ref'), '');
  });

  test(`${backend}: a token with a line break inside is refused without repeating it`, async (t) => {
    const { server, repository } = await aRemote(t, backend);
    const token = `${writer}\r\nX-Other: 1`;
    const error = await errorOf(openRemote(repository, { url: server.url('team'), token, env, backend }));
    assert.equal(error.name, 'GitError');
    assertSilent(everythingOf(error), 'the error');
  });
}

test('git: a header that a checkout left in the configuration does not go along with the token', async (t) => {
  const { server, remote, dir } = await aRemote(t, 'git');
  git(dir, 'config', `http.${server.origin}/.extraheader`, 'AUTHORIZATION: basic b2xk');
  git(dir, 'config', `http.${server.url('team')}.extraheader`, 'AUTHORIZATION: basic b2xkZXI=');
  git(dir, 'config', 'credential.helper', '!echo username=x; echo password=y; touch asked;:');
  await remote.fetch([state]);
  const sent = server.requests.map(({ headers }) => headers.authorization);
  assert.deepEqual(new Set(sent), new Set([`Basic ${forms[1]}`]));
  server.fault = () => ({ kind: 'status', status: 401 });
  assert.equal((await errorOf(remote.fetch([state]))).name, 'RemoteAuthError');
  assert.ok(!existsSync(join(dir, 'asked')));
});

test('git: without a token the credential helpers and headers of the user apply, and nobody is asked', async (t) => {
  const { server, repository, dir } = await aRemote(t, 'git');
  const options = { url: withUser(server.url('team'), 'me'), env };
  git(dir, 'config', 'credential.helper', `!echo password=${writer};:`);
  const remote = await openRemote(repository, options);
  assert.deepEqual(await remote.fetch([state]), new Map([[state, null]]));
  const pair = Buffer.from(`me:${writer}`).toString('base64');
  assert.ok(server.requests.some(({ headers }) => headers.authorization === `Basic ${pair}`));
  git(dir, 'config', 'credential.helper', '');
  assert.equal((await errorOf(remote.fetch([state]))).name, 'RemoteAuthError');
});

test("git: variables that would write down what is sent are not passed on, and a person's settings by variables are", async (t) => {
  const { server, repository, dir } = await aRemote(t, 'git');
  const trace = join(temporaryFolder(t), 'trace');
  const remote = await openRemote(repository, {
    url: server.url('team'),
    token: writer,
    env: {
      ...env,
      GIT_TRACE: trace,
      GIT_TRACE_CURL: trace,
      GIT_TRACE_REDACT: '0',
      GIT_CURL_VERBOSE: '1',
      GIT_DIR: '/nowhere',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: `http.${server.origin}.userAgent`,
      GIT_CONFIG_VALUE_0: 'git/mine',
    },
  });
  await remote.fetch([state]);
  assert.ok(!existsSync(trace));
  assert.ok(server.requests.every(({ headers }) => headers['user-agent'] === 'git/mine'));
  assertFolderSilent(dir);
});
