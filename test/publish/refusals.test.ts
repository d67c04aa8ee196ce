import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ForgeError, type ForgeErrorKind } from '../../scripts/publish/errors.ts';
import type { ForgeSettings } from '../support/forge-types.ts';
import { actionsToken, aDraft, aQuery, botToken, kinds, serveForge } from '../support/forges.ts';

async function refusalOf(work: Promise<unknown>): Promise<ForgeError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof ForgeError, String(error));
    return error;
  }
  return assert.fail('nothing was refused');
}

const noTip = (branch: string) => ({ tipOf: (name: string) => (name === branch ? null : '1'.repeat(40)) });

const refusals: readonly {
  readonly name: string;
  readonly on: readonly ('github' | 'gitlab')[];
  readonly settings: Partial<ForgeSettings>;
  readonly token?: string;
  readonly kind: ForgeErrorKind;
  readonly says: RegExp;
  readonly hint: RegExp;
}[] = [
  {
    name: 'an expired token',
    on: ['github', 'gitlab'],
    settings: { tokens: { [botToken]: { login: 'memory-bot', kind: 'user', expired: true } } },
    kind: 'auth',
    says: /refuses the token \(401/,
    hint: /token_env/,
  },
  {
    name: 'a token without the right',
    on: ['github'],
    settings: { tokens: { [botToken]: { login: 'memory-bot', kind: 'user', pulls: 'read' } } },
    kind: 'rights',
    says: /Resource not accessible by personal access token/,
    hint: /pull_requests=write/,
  },
  {
    name: 'a token without the scope',
    on: ['gitlab'],
    settings: { tokens: { [botToken]: { login: 'memory-bot', kind: 'user', pulls: 'read' } } },
    kind: 'rights',
    says: /insufficient_scope: The request/,
    hint: /scope “api”/,
  },
  {
    name: 'the setting that keeps Actions from opening any',
    on: ['github'],
    settings: { actionsMayOpenPulls: false },
    token: actionsToken,
    kind: 'setting',
    says: /does not let Actions open/,
    hint: /Allow GitHub Actions to create and approve pull requests/,
  },
  {
    name: 'a repository that is not there',
    on: ['github', 'gitlab'],
    settings: { name: 'elsewhere' },
    kind: 'not_found',
    says: /404/,
    hint: /remote’s address/,
  },
  {
    name: 'a branch without anything new',
    on: ['github'],
    settings: { isAhead: () => false },
    kind: 'no_commits',
    says: /No commits between main and memory\/nightly/,
    hint: /Nothing to do/,
  },
  {
    name: 'a branch that was not pushed',
    on: ['github', 'gitlab'],
    settings: noTip('memory/nightly'),
    kind: 'branch',
    says: /branch/,
    hint: /pushed/,
  },
  {
    name: 'a base that does not exist',
    on: ['github', 'gitlab'],
    settings: noTip('main'),
    kind: 'branch',
    says: /base|target/,
    hint: /delivery\.base/,
  },
  {
    name: 'an archived repository',
    on: ['github'],
    settings: { isArchived: true },
    kind: 'rights',
    says: /archived/,
    hint: /permissions/,
  },
];

for (const { name, on, settings, token, kind, says, hint } of refusals) {
  for (const host of on) {
    test(`${host}: ${name} is ${kind}, with its remedy, asked once`, async (t) => {
      const { forge, waits } = await serveForge(t, host, settings, token === undefined ? {} : { token });
      const error = await refusalOf(forge.open(aDraft()));
      assert.equal(error.kind, kind);
      assert.match(error.message, says);
      assert.match(error.hint, hint);
      assert.deepEqual(waits, []);
    });
  }
}

test('github: a title or body that it finds wrong is a validation', async (t) => {
  const { forge } = await serveForge(t, 'github');
  const error = await refusalOf(forge.open(aDraft({ body: 'x'.repeat(70_000) })));
  assert.equal(error.kind, 'validation');
  assert.match(error.message, /body is too long/);
});

test('github: single sign-on that was not granted is named', async (t) => {
  const { forge, server } = await serveForge(t, 'github');
  server.faults.set(0, {
    status: 403,
    headers: { 'x-github-sso': 'required; url=https://github.com/orgs/acme/sso' },
    body: { message: 'Resource protected by organization SAML enforcement.' },
  });
  const error = await refusalOf(forge.repository());
  assert.equal(error.kind, 'rights');
  assert.match(error.hint, /single sign-on/);
});

for (const host of kinds) {
  test(`${host}: a token that no longer sees the repository is unknown, not “no pull request”`, async (t) => {
    const { forge, server } = await serveForge(t, host);
    await forge.open(aDraft());
    server.settings.name = 'hidden';
    assert.equal((await refusalOf(forge.find({ ...aQuery, number: 1 }))).kind, 'not_found');
  });

  for (const [status, kind] of [
    [500, 'server'],
    [502, 'server'],
    [503, 'server'],
    [429, 'rate_limit'],
  ] as const) {
    test(`${host}: ${status} is tried again, and after four tries is ${kind}`, async (t) => {
      const { forge, server, waits } = await serveForge(t, host);
      server.faults.set(0, { status, body: '<html>' });
      await forge.repository();
      assert.equal(waits.length, 1);
      const { forge: other, server: down, waits: more } = await serveForge(t, host);
      for (let index = 0; index < 9; index += 1) down.faults.set(index, { status, body: { message: 'down' } });
      assert.equal((await refusalOf(other.repository())).kind, kind);
      assert.equal(down.requests.length, 4);
      assert.equal(more.length, 3);
    });
  }
}
