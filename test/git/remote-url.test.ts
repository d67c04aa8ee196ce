import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GitError } from '../../scripts/git/errors.ts';
import { trackingRef } from '../../scripts/git/remote-types.ts';
import { parseAddress } from '../../scripts/git/remote-url.ts';
import { credentialsOf } from '../../scripts/git/remote-words.ts';

const secret = ['pass', 'word', '1234'].join('-');

test('what is shown and passed on of an address holds neither password nor query; ssh keeps its user', () => {
  for (const [text, kind, shown, argument = shown] of [
    [`https://me:${secret}@Host.example/a/b.git?x=${secret}#${secret}`, 'http', 'https://host.example/a/b.git'],
    ['https://host.example:8443/a/', 'http', 'https://host.example:8443/a'],
    ['HTTP://host.example/a', 'http', 'http://host.example/a'],
    ['git@host.example:a/b.git', 'ssh', 'host.example:a/b.git', 'git@host.example:a/b.git'],
    [`me:${secret}@host.example:a/b`, 'ssh', 'host.example:a/b', 'me@host.example:a/b'],
    ['host.example:a/b', 'ssh', 'host.example:a/b'],
    [`ssh://git:${secret}@host.example:22/a`, 'ssh', 'ssh://host.example:22/a', 'ssh://git@host.example:22/a'],
    ['git://host.example/a', 'git', 'git://host.example/a'],
    ['file:///srv/a.git', 'file', 'file:///srv/a.git'],
    ['/srv/a b.git', 'file', '/srv/a b.git'],
    ['../a.git', 'file', '../a.git'],
    ['C:\\a\\b', 'file', 'C:\\a\\b'],
  ] as const) {
    const address = parseAddress(text, false);
    assert.deepEqual({ ...address, user: '', password: '' }, { kind, shown, argument, user: '', password: '' }, text);
  }
});

test('user and password come out decoded', () => {
  const { user, password } = parseAddress('https://a%40b:p%2Fq%25@host.example/a', false);
  assert.deepEqual([user, password], ['a@b', 'p/q%']);
});

test('an address that would be an option, start a program or break a line is refused, and not repeated', () => {
  for (const text of [
    '',
    `--upload-pack=${secret}`,
    '-x',
    `ext::sh -c ${secret}`,
    `codecommit::region://${secret}`,
    `https://host.example/${secret}\nx`,
    `https://host.example/${secret}\0x`,
    `ssh://-oProxyCommand=${secret}/a`,
    `-oProxyCommand=${secret}:a`,
    `git@-oProxyCommand=${secret}:a`,
    `ftp://host.example/${secret}`,
    `https://`,
    `https://a b${secret}@/`,
    `https://host.example/${secret.repeat(1000)}`,
  ])
    assert.throws(
      () => parseAddress(text, false),
      (error) => error instanceof GitError && !error.message.includes(secret),
      text.slice(0, 80),
    );
});

test("a helper is allowed where the clone's own configuration names it, and shown by its name alone", () => {
  const address = parseAddress(`codecommit::region://me:${secret}@a`, true);
  assert.equal(address.kind, 'helper');
  assert.equal(address.shown, 'codecommit::…');
});

test('what a server says is one short line without controls, users in addresses and the token in any form', () => {
  const { words } = credentialsOf(parseAddress('https://me@host.example/a', false), secret);
  const basic = Buffer.from(`me:${secret}`).toString('base64');
  assert.equal(
    words(`a\r\n\u001b[1m ${secret} ${basic}\n\nsee https://x:y@host.example/z \u202e`),
    'a; \\u{1b}[1m [REDACTED_SECRET] [REDACTED_SECRET]; see https://host.example/z \\u{202e}',
  );
  assert.equal(words('x'.repeat(100_000)).length, 600);
});

test('a token goes with http only', () => {
  assert.equal(credentialsOf(parseAddress('ssh://host.example/a', false), secret).authorization, null);
  assert.equal(credentialsOf(parseAddress('https://host.example/a', false), '').authorization, null);
});

test('a fetched ref is kept apart from every other', () => {
  assert.equal(trackingRef('refs/heads/main'), 'refs/memory/remote/heads/main');
});
