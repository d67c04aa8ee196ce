import assert from 'node:assert/strict';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { ConsentError, formatConsent, parseConsent } from '../../scripts/collect/consent.ts';
import { collectSpec } from '../../scripts/collect/flags.ts';
import { init } from '../../scripts/collect/init.ts';
import { laptopOf } from '../../scripts/collect/laptop.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { parseFlags } from '../../scripts/shared/flags.ts';
import { createLog } from '../../scripts/shared/log.ts';
import { temporaryFolder } from '../support/repository.ts';

const salt = '0123456789abcdef0123456789abcdef';

test('what a laptop agreed to is read back as it was written', () => {
  const consent = {
    salt,
    author: 'dana',
    optOut: ['a: "b"', '- c'],
    agreements: [
      { memory: 'github.com/acme/memory', include: ['github.com/acme/*'], allowPublic: true, isPrivate: false },
      { memory: '/home/dana/team memory', include: [], allowPublic: false, isPrivate: true },
    ],
  };
  assert.deepEqual(parseConsent(formatConsent(consent), 'collect.yml'), consent);
  const empty = { salt, author: null, optOut: [], agreements: [] };
  assert.deepEqual(parseConsent(formatConsent(empty), 'collect.yml'), empty);
});

test('every mistake in it is named at once, and then nothing is allowed', () => {
  const text = [
    'version: 2',
    'salt: x',
    'author: "dana@team.example and more"',
    'alow_public: true',
    'memories:',
    '  - repo: github.com/acme/memory',
    '    include: [shop, 7]',
    '    allow_public: "yes"',
    '  - nothing',
  ].join('\n');
  assert.throws(
    () => parseConsent(text, 'collect.yml'),
    (error) =>
      error instanceof ConsentError &&
      error.exitCode === 2 &&
      [
        'version',
        '“alow_public”',
        'salt',
        'author',
        'list of a repository',
        '“shop”',
        'allow_public',
        'memories[1]',
      ].every((word) => error.message.includes(word)),
  );
  for (const bad of ['', '[]', 'memories: {', 'version: 1\nmemories: &a []\n', '\0']) {
    assert.throws(() => parseConsent(bad, 'collect.yml'), ConsentError);
  }
});

function answering(t: TestContext, answers: readonly string[], ...args: readonly string[]) {
  const home = temporaryFolder(t);
  const laptop = laptopOf({ CTM_HOME: home }, home);
  const said: string[] = [];
  const left = [...answers];
  const world = {
    flags: parseFlags(collectSpec, ['--init', ...args]),
    env: {},
    cwd: home,
    home,
    log: createLog({ write: () => true }, { write: (text) => said.push(text) }, {}),
    ask: (question: string) => {
      said.push(question);
      return Promise.resolve(left.shift() ?? '');
    },
    streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
    clock: fixedClock(0),
    signal: new AbortController().signal,
    self: { token: home, host: 'here', pid: 1, isAlive: () => true, program: '', args: [] },
    peakMemory: () => 0,
    cpuTime: () => 0,
  };
  const offer = { memory: 'github.com/acme/memory', include: ['github.com/acme/shop'], retentionDays: 30 };
  return { laptop, said, answer: () => init(world, laptop, offer) };
}

test('on a terminal it explains, proposes what the team includes, and writes only after a yes', async (t) => {
  const no = answering(t, ['', '', 'y', 'n']);
  assert.match(await no.answer(), /Nothing was written/);
  assert.throws(() => statSync(no.laptop.consent), /ENOENT/);

  const yes = answering(t, ['', 'dana', 'y', 'y']);
  await yes.answer();
  const { agreements, author } = parseConsent(readFileSync(yes.laptop.consent, 'utf8'), '');
  assert.deepEqual(agreements, [
    { memory: 'github.com/acme/memory', include: ['github.com/acme/shop'], allowPublic: false, isPrivate: true },
  ]);
  assert.equal(author, 'dana');
  const words = yes.said.join('\n');
  for (const word of ['your team', 'secrets', '30 days', '--dry-run', '[github.com/acme/shop]'])
    assert.ok(words.includes(word), word);
  assert.ok(!words.includes('allow_public'));
});

test('agreeing anew keeps the salt, the opt-outs and what is agreed for other repositories', async (t) => {
  const { laptop, answer } = answering(t, ['github.com/acme/shop, github.com/acme/tools', '', '', 'yes']);
  const other = { memory: 'github.com/other/memory', include: ['none'], allowPublic: true, isPrivate: false };
  const before = {
    salt,
    author: 'dana',
    optOut: ['a'],
    agreements: [other, { ...other, memory: 'github.com/acme/memory' }],
  };
  writeFileSync(laptop.consent, formatConsent(before));
  await answer();
  const after = parseConsent(readFileSync(laptop.consent, 'utf8'), '');
  const include = ['github.com/acme/shop', 'github.com/acme/tools'];
  const now = { memory: 'github.com/acme/memory', include, allowPublic: false, isPrivate: false };
  assert.deepEqual(after, { ...before, agreements: [other, now] });
});

test('every laptop has a salt of its own', async (t) => {
  const salts = [];
  for (const _ of [1, 2]) {
    const { laptop, answer } = answering(t, ['', '', '', 'y']);
    await answer();
    salts.push(parseConsent(readFileSync(laptop.consent, 'utf8'), '').salt);
    rmSync(laptop.consent);
  }
  assert.notEqual(salts[0], salts[1]);
});

test('a laptop’s folders are CTM_HOME, else those of XDG', () => {
  assert.equal(laptopOf({ CTM_HOME: '/c' }, '/h').consent, '/c/collect.yml');
  assert.equal(laptopOf({}, '/h').consent, '/h/.config/commit-to-memory/collect.yml');
  assert.equal(laptopOf({ XDG_STATE_HOME: '/s' }, '/h').spool, join('/s/commit-to-memory/spool'));
});
