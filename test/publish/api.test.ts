import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ForgeError } from '../../scripts/publish/errors.ts';
import { createGitHub } from '../../scripts/publish/github.ts';
import { UsageError } from '../../scripts/shared/errors.ts';
import { aDraft, aQuery, botToken, kinds, serveForge } from '../support/forges.ts';

test('a host that says how long to wait is waited for that long', async (t) => {
  const { forge, server, waits } = await serveForge(t, 'github');
  server.faults.set(0, { status: 429, headers: { 'retry-after': '7' }, body: { message: 'slow down' } });
  server.faults.set(1, { status: 503, headers: { 'retry-after': '5' }, body: '<html>' });
  await forge.repository();
  assert.equal(waits[0], 7);
});

test('a secondary limit without a time is waited for a minute; it is a 403 and no matter of rights', async (t) => {
  const { forge, server, waits } = await serveForge(t, 'github');
  server.faults.set(0, { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } });
  await forge.repository();
  assert.deepEqual(waits, [60]);
});

test('a 403 that says when to come back is a limit, whatever its words', async (t) => {
  const { forge, server, waits } = await serveForge(t, 'github');
  server.faults.set(0, { status: 403, headers: { 'retry-after': '3' }, body: { message: 'Forbidden' } });
  await forge.repository();
  assert.deepEqual(waits, [3]);
});

test('a primary limit is waited for by the host’s own clock', async (t) => {
  const { forge, server, waits } = await serveForge(t, 'github');
  const date = 'Mon, 30 Nov 2026 03:17:00 GMT';
  const headers = { date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Date.parse(date) / 1000 + 40) };
  server.faults.set(0, { status: 403, headers, body: { message: 'API rate limit exceeded' } });
  await forge.repository();
  assert.deepEqual(waits, [40]);
});

test('a limit that lasts longer than a night may wait ends at once', async (t) => {
  const { forge, server, waits } = await serveForge(t, 'github');
  server.faults.set(0, { status: 429, headers: { 'retry-after': '3600' }, body: { message: 'slow down' } });
  await assert.rejects(forge.repository(), { kind: 'rate_limit' });
  assert.deepEqual(waits, []);
});

test('a host that never answers is given up', async (t) => {
  const { forge, server } = await serveForge(t, 'github', {}, { timeoutSeconds: 0.05 });
  for (let index = 0; index < 4; index += 1) server.faults.set(index, { stall: true });
  await assert.rejects(forge.repository(), { kind: 'network', message: /no whole answer in time/ });
  assert.equal(server.requests.length, 4);
});

test('a run that is stopped stops, in a request and in a pause', async (t) => {
  const stop = new AbortController();
  const { forge, server } = await serveForge(t, 'github', {}, { signal: stop.signal });
  server.faults.set(0, { stall: true });
  const waiting = forge.repository();
  stop.abort();
  await assert.rejects(waiting, { kind: 'aborted' });

  const pausing = new AbortController();
  const wait = async () => pausing.abort();
  const other = await serveForge(t, 'github', {}, { signal: pausing.signal, wait });
  other.server.faults.set(0, { status: 500 });
  await assert.rejects(other.forge.repository(), { kind: 'aborted' });
  assert.equal(other.server.requests.length, 1);
});

test('an address that answers with a page is no interface, and its page is not shown', async (t) => {
  for (const kind of kinds) {
    const { forge, server } = await serveForge(t, kind);
    server.faults.set(0, { status: 200, body: '<html>Please log in</html>' });
    await assert.rejects(forge.repository(), (error: Error) => {
      assert.match(error.message, /not as its interface/);
      assert.doesNotMatch(error.message, /log in/);
      return true;
    });
    assert.equal(server.requests.length, 1);
  }
});

test('answers that lack what is needed are refused, each by its name', async (t) => {
  for (const kind of kinds) {
    for (const body of [null, {}, [], 7, 'null']) {
      const { forge, server } = await serveForge(t, kind);
      server.faults.set(0, { status: 200, body });
      await assert.rejects(forge.repository(), ForgeError);
      server.faults.set(1, { status: 200, body: { number: 'one', iid: null } });
      await assert.rejects(forge.refresh(1, aDraft()), { kind: 'server', message: /without a number/ });
    }
  }
});

test('an address of the host that is no plain one is not shown', async (t) => {
  for (const url of ['javascript:alert(1)', 'https://user:word@host/x', 'http://host/a b', 'x'.repeat(600), 7]) {
    const { forge, server } = await serveForge(t, 'github');
    server.faults.set(0, { status: 200, body: { full_name: 'a/b', default_branch: 'main', html_url: url } });
    assert.equal((await forge.repository()).url, '');
  }
});

test('a renamed repository is followed on the same host, whatever the method', async (t) => {
  const { forge, server } = await serveForge(t, 'github');
  const location = (path: string) => ({ location: `${server.githubApi}${path}` });
  server.faults.set(0, { status: 301, headers: location('/repos/acme/memory') });
  assert.equal((await forge.repository()).name, 'acme/memory');
  server.faults.set(2, { status: 307, headers: location('/repos/acme/memory/pulls') });
  assert.equal((await forge.open(aDraft())).pullRequest.number, 1);
});

test('a token does not follow to another host, and a POST not where it would become a GET', async (t) => {
  const { forge, server } = await serveForge(t, 'github');
  const other = await serveForge(t, 'github');
  server.faults.set(0, { status: 302, headers: { location: `${other.server.githubApi}/repos/acme/memory` } });
  await assert.rejects(forge.repository(), { kind: 'server', message: /does not follow/ });
  server.faults.set(1, { status: 302, headers: { location: `${server.githubApi}/repos/acme/memory/pulls` } });
  await assert.rejects(forge.open(aDraft()), { kind: 'server' });
  for (let index = 2; index < 12; index += 1)
    server.faults.set(index, { status: 302, headers: { location: `${server.githubApi}/repos/acme/memory` } });
  await assert.rejects(forge.repository(), { kind: 'server' });
  assert.deepEqual(other.server.requests, []);
});

test('a next page on another host is not asked for', async (t) => {
  const { forge, server } = await serveForge(t, 'github');
  const other = await serveForge(t, 'github');
  const link = `<${other.server.githubApi}/repos/acme/memory/pulls?page=2>; rel="next"`;
  server.faults.set(1, { status: 200, headers: { link }, body: [] });
  assert.equal((await forge.find(aQuery)).open, null);
  assert.deepEqual(other.server.requests, []);
});

test('an endless list is left after its tenth page', async (t) => {
  const { forge, server } = await serveForge(t, 'gitlab');
  const link = `<${server.gitlabApi}/projects/acme%2Fmemory/merge_requests>; rel="next"`;
  for (let index = 0; index < 30; index += 1) server.faults.set(index, { status: 200, headers: { link }, body: [] });
  assert.equal((await forge.find(aQuery)).open, null);
  assert.equal(server.requests.length, 10);
});

test('the token goes into one header and comes out nowhere: not of errors, warnings, results or objects', async (t) => {
  for (const kind of kinds) {
    const { forge, server } = await serveForge(t, kind);
    const seen: unknown[] = [forge];
    const echo = { message: `token ${botToken} is bad`, errors: [{ message: botToken }], error: botToken };
    for (const status of [400, 401, 403, 404, 409, 422, 500]) {
      const from = server.requests.length;
      for (let index = from; index < from + 9; index += 1)
        server.faults.set(index, { status, body: echo, headers: { 'x-accepted-github-permissions': botToken } });
      for (const work of [() => forge.open(aDraft()), () => forge.find(aQuery), () => forge.refresh(1, aDraft())])
        seen.push(await work().catch((error: unknown) => error));
      server.faults.clear();
    }
    for (const fault of [
      { drop: 'before' },
      { status: 302, headers: { location: `http://${botToken}.test/` } },
    ] as const) {
      for (let index = 0; index < 9; index += 1) server.faults.set(server.requests.length + index, fault);
      seen.push(await forge.repository().catch((error: unknown) => error));
      server.faults.clear();
    }
    seen.push(await forge.open(aDraft({ reviewers: ['nobody'] })), await forge.find(aQuery));
    assert.ok(seen.filter((one) => one instanceof Error).length > 20);
    assert.equal(inspect(seen, { depth: 20, showHidden: true, getters: true }).includes(botToken), false);
    assert.ok(server.requests.every(({ path, body }) => !`${path}${body}`.includes(botToken)));
    assert.ok(server.requests.every(({ headers }) => headers.authorization === `Bearer ${botToken}`));
  }
});

test('a server that is not there is a matter of the network', async () => {
  const forge = createGitHub({
    apiUrl: 'http://127.0.0.1:9/api/v3',
    owner: 'acme',
    repo: 'memory',
    token: botToken,
    wait: async () => undefined,
  });
  await assert.rejects(forge.repository(), { kind: 'network' });
});

test('addresses and tokens that no request should be made with are refused before any', () => {
  const options = { apiUrl: 'https://host.test/api/v3', owner: 'acme', repo: 'memory', token: botToken };
  for (const apiUrl of [
    '',
    'host.test',
    'ftp://host.test/api/v3',
    'https://user:word@host.test/api/v3',
    'https://host.test/api/v3?key=1',
    'https://host.test/api/v3#x',
    'http://host.test/api/v3',
    'http://127.0.0.1.host.test/api/v3',
  ])
    assert.throws(() => createGitHub({ ...options, apiUrl }), UsageError, apiUrl);
  for (const token of ['', 'a b', 'a\nb', 'ключ', ' ', `x${'y'.repeat(5_000)}`])
    assert.throws(
      () => createGitHub({ ...options, token }),
      (error: Error) => error instanceof UsageError && (token.trim() === '' || !error.message.includes(token)),
    );
});
