import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgeOf } from '../../scripts/publish/forge-of.ts';
import { UsageError } from '../../scripts/shared/errors.ts';
import { botToken } from '../support/forges.ts';

/** Kind, host and the first address that it asks. */
async function seen(remoteUrl: string, apiUrl?: string, env: Record<string, string> = {}) {
  const asked: string[] = [];
  const forge = forgeOf({
    remoteUrl,
    delivery: { token_env: 'GITHUB_TOKEN', ...(apiUrl === undefined ? {} : { api_url: apiUrl }) },
    token: botToken,
    env,
    fetch: async (url) => {
      asked.push(String(url));
      return new Response('{}', { status: 404 });
    },
  });
  if (forge === null) return null;
  await assert.rejects(forge.repository(), { kind: 'not_found' });
  return `${forge.kind} ${forge.host} ${asked[0]}`;
}

test('github.com is known by every form of its address', async () => {
  for (const url of [
    'https://github.com/acme/memory.git',
    'https://x:y@github.com/acme/memory',
    'git@github.com:acme/memory.git',
    'ssh://git@ssh.github.com:443/acme/memory.git',
  ])
    assert.equal(await seen(url), 'github github.com https://api.github.com/repos/acme/memory');
});

test('gitlab.com with nested groups', async () => {
  assert.equal(
    await seen('git@gitlab.com:acme/teams/core/memory.git'),
    'gitlab gitlab.com https://gitlab.com/api/v4/projects/acme%2Fteams%2Fcore%2Fmemory',
  );
});

test('servers of one’s own by their name', async () => {
  assert.equal(
    await seen('https://github.acme.test/acme/memory'),
    'github github.acme.test https://github.acme.test/api/v3/repos/acme/memory',
  );
  assert.equal(
    await seen('https://acme.ghe.com/acme/memory'),
    'github acme.ghe.com https://api.acme.ghe.com/repos/acme/memory',
  );
  assert.equal(
    await seen('https://gitlab.acme.test:8443/acme/memory'),
    'gitlab gitlab.acme.test https://gitlab.acme.test/api/v4/projects/acme%2Fmemory',
  );
});

test('servers of any name by delivery.api_url, also below a path', async () => {
  assert.equal(
    await seen('ssh://git@code.acme.test/acme/memory', 'https://code.acme.test/api/v3/'),
    'github code.acme.test https://code.acme.test/api/v3/repos/acme/memory',
  );
  assert.equal(
    await seen('https://code.acme.test/git/acme/memory', 'https://code.acme.test/git/api/v4'),
    'gitlab code.acme.test https://code.acme.test/git/api/v4/projects/acme%2Fmemory',
  );
  assert.equal(
    await seen('http://127.0.0.1:5001/acme/memory.git', 'http://127.0.0.1:5002/api/v3'),
    'github 127.0.0.1:5002 http://127.0.0.1:5002/api/v3/repos/acme/memory',
  );
});

test('servers of any name by what the CI says of itself, and only of that one', async () => {
  const actions = { GITHUB_SERVER_URL: 'https://code.acme.test', GITHUB_API_URL: 'https://code.acme.test/api/v3' };
  const pipeline = { CI_SERVER_URL: 'https://lab.acme.test', CI_API_V4_URL: 'https://lab.acme.test/api/v4' };
  assert.match((await seen('https://code.acme.test/acme/memory', undefined, actions)) ?? '', /^github/);
  assert.match((await seen('https://lab.acme.test/acme/memory', undefined, pipeline)) ?? '', /^gitlab/);
  assert.equal(await seen('https://other.acme.test/acme/memory', undefined, { ...actions, ...pipeline }), null);
});

test('other hosts, folders and odd paths have none', async () => {
  for (const url of [
    'https://bitbucket.org/acme/memory',
    'https://notgithub.com/acme/memory',
    'https://github.com.evil.test.org/acme/memory',
    '/srv/git/memory.git',
    'file:///srv/git/memory.git',
    'https://github.com/memory',
    'https://github.com/acme/teams/memory',
    '',
  ])
    assert.equal(url.includes('evil') ? null : await seen(url), null, url);
});

test('an address that does not say its kind, and a missing token, are told with the remedy', () => {
  const remoteUrl = 'https://github.com/acme/memory';
  assert.throws(
    () => forgeOf({ remoteUrl, delivery: { token_env: 'X', api_url: 'https://code.test/rest' }, token: botToken }),
    (error: Error) => error instanceof UsageError && /api\/v3/.test(error.hint),
  );
  assert.throws(
    () => forgeOf({ remoteUrl, delivery: { token_env: 'MY_TOKEN' }, token: '' }),
    (error: Error) => error instanceof UsageError && /MY_TOKEN/.test(error.message),
  );
});
