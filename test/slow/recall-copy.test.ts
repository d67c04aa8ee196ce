import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readNote } from '../../scripts/recall/copy.ts';
import { type Refreshed, refreshCopy } from '../../scripts/recall/refresh.ts';
import { recallFor, type SessionMemory } from '../../scripts/recall/session.ts';
import { type Machine, sourceOf } from '../../scripts/recall/source.ts';
import { fixedClock, isoTime } from '../../scripts/shared/clock.ts';
import { aGitServer, type GitServer } from '../support/git-server.ts';
import { aHandbook, aSummary } from '../support/handbooks.ts';
import { aRepository, commitAll, env, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = 1_796_000_000;
const app = 'git.example.test/acme/app';
const calm = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' };

/** A machine, a server with a memory repository, and what a session gets from it at a time. */
interface Laptop {
  readonly server: GitServer;
  readonly url: string;
  readonly cache: string;
  readonly machine: Machine;
  /** The clone from which people push. */
  readonly people: string;
  push(files: Readonly<Record<string, string | Buffer>>): string;
  refresh(at?: number, largestRepository?: number): Promise<Refreshed>;
  session(at?: number, startRefresh?: () => Promise<void>): Promise<SessionMemory>;
}

async function aLaptop(t: TestContext, anonymous: 'read' | 'nothing' = 'read'): Promise<Laptop> {
  const server = await aGitServer(t, { tokens: { writer: { write: true }, reader: { write: false } }, anonymous });
  const bare = server.create('memory');
  const people = aRepository(t);
  const home = temporaryFolder(t);
  const url = anonymous === 'read' ? server.url('memory') : server.url('memory').replace('://', '://dana:reader@');
  const machine: Machine = { env: { ...env, ...calm, HOME: home }, home, cwd: home };
  const source = sourceOf(url, machine);
  assert.ok(source.kind === 'remote');
  const checkout = aRepository(t);
  git(checkout, 'remote', 'add', 'origin', `https://${app}.git`);
  return {
    server,
    url,
    cache: source.cache,
    machine,
    people,
    push: (files) => {
      writeFiles(people, files);
      const oid = commitAll(people, 'A change');
      git(people, 'push', '--quiet', '--force', bare, 'HEAD:refs/heads/main');
      return oid;
    },
    refresh: (at = start, largestRepository) =>
      refreshCopy(url, {
        machine,
        clock: fixedClock(at),
        mark: `test-${at}`,
        ...(largestRepository === undefined ? {} : { largestRepository }),
      }),
    session: (at = start, startRefresh = async () => undefined) =>
      recallFor({ memory: url, folder: checkout }, { machine, now: at, mark: 'session', startRefresh }),
  };
}

const tips = (...lines: readonly string[]) => ({ 'memories/memory_summary.md': aSummary({ tips: lines }) });

function everyFile(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

test('the first session is told that the memory is coming, and starts its fetch; the next one has it', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push({ ...tips('read first'), 'memories/MEMORY.md': aHandbook({ repo: app, preferences: ['use pnpm'] }) });
  let started = 0;
  const first = await laptop.session(start, async () => {
    started += 1;
  });
  assert.match(first.text, /^<commit-to-memory v="1">\nThe team’s memory is not on this machine yet.*\n<\/commit/);
  assert.deepEqual([started, laptop.server.requests.length], [1, 0]);
  assert.deepEqual(await laptop.refresh(), { outcome: 'fetched' });
  const next = await laptop.session();
  for (const line of ['- read first', '- use pnpm']) assert.ok(next.text.includes(`\n${line}\n`), line);
  assert.equal(next.notice, '');
});

test('only the default branch is read, and what it holds now replaces what it held', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('reviewed'));
  git(laptop.people, 'checkout', '--quiet', '-b', 'memory/nightly');
  writeFiles(laptop.people, tips('UNREVIEWED'));
  commitAll(laptop.people, 'A night');
  git(laptop.people, 'push', '--quiet', laptop.server.dir('memory'), 'HEAD:refs/heads/memory/nightly');
  await laptop.refresh();
  assert.match((await laptop.session()).text, /- reviewed\n/);
  assert.doesNotMatch((await laptop.session()).text, /UNREVIEWED/);
  git(laptop.people, 'checkout', '--quiet', 'main');
  laptop.push(tips('merged'));
  assert.deepEqual(await laptop.refresh(start + 900), { outcome: 'fetched' });
  assert.match((await laptop.session()).text, /- merged\n/);
  assert.equal(readdirSync(join(laptop.cache, 'copies')).length, 2);
  laptop.push(tips('merged again'));
  await laptop.refresh(start + 1_800);
  assert.equal(readdirSync(join(laptop.cache, 'copies')).length, 2);
});

test('what has not changed is not fetched again, and counts as fresh', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  laptop.server.fault = () => null;
  assert.deepEqual(await laptop.refresh(start + 3_600), { outcome: 'unchanged' });
  assert.ok(laptop.server.requests.every(({ received }) => received < 500));
  assert.equal(readNote(laptop.cache)?.fetchedAt, start + 3_600);
});

test('offline a session gets the last copy and is told how old it is', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  assert.equal((await laptop.session(start + 80_000)).notice, '');
  laptop.server.fault = () => ({ kind: 'status', status: 503, body: 'SERVER WORDS' });
  const refreshed = await laptop.refresh(start + 3 * 86_400);
  assert.equal(refreshed.outcome, 'failed');
  const { text, notice, failure } = await laptop.session(start + 3 * 86_400);
  assert.match(text, /- read first\n/);
  assert.match(
    notice,
    /^This copy of the memory is 3 days old, from 2026-11-30T00:53:20Z\. The last attempt to fetch it failed\.$/,
  );
  assert.ok(text.includes(notice) && !text.includes('SERVER WORDS'));
  assert.match(failure ?? '', /503/);
  laptop.server.fault = null;
  await laptop.refresh(start + 3 * 86_400 + 900);
  assert.equal((await laptop.session(start + 3 * 86_400 + 900)).notice, '');
});

test('a first fetch that fails leaves no copy, and the reason is there for a person', async (t) => {
  const laptop = await aLaptop(t);
  assert.match(((await laptop.refresh()) as { failure: string }).failure, /no default branch/);
  const { text, failure } = await laptop.session(start + 1);
  assert.match(text, /not on this machine yet.*failed\.\n/);
  assert.match(failure ?? '', /no default branch/);
  const elsewhere = await refreshCopy(laptop.server.url('nothing-here'), {
    machine: laptop.machine,
    clock: fixedClock(start),
    mark: 'x',
  });
  assert.equal(elsewhere.outcome, 'failed');
});

test('sessions ask for a refresh at most every quarter of an hour, and two at once fetch once', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  let started = 0;
  const count = async (): Promise<void> => {
    started += 1;
  };
  for (const at of [0, 1, 899, 900, 1_000, 900]) await laptop.session(start + at, count);
  assert.equal(started, 2);
  const outcomes = (await Promise.all([1, 2, 3, 4].map((n) => laptop.refresh(start + n)))).map(
    ({ outcome }) => outcome,
  );
  assert.deepEqual(outcomes.sort(), ['busy', 'busy', 'busy', 'fetched']);
});

test('where nothing can be written nothing is fetched, and the session begins all the same', async (t) => {
  const { machine, url } = await aLaptop(t);
  const file = join(machine.home, 'file');
  writeFileSync(file, '');
  const env = { ...machine.env, CTM_HOME: join(file, 'below') };
  const ports = { machine: { ...machine, env }, now: start, mark: 'x', startRefresh: () => assert.fail('started') };
  assert.match((await recallFor({ memory: url, folder: machine.home }, ports)).text, /not on this machine yet/);
});

test('the lock of a refresh that died is taken over, a younger one is respected', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  const lock = join(laptop.cache, 'refresh.lock');
  assert.ok(!existsSync(lock));
  writeFileSync(lock, isoTime(start));
  assert.deepEqual(await laptop.refresh(start + 60), { outcome: 'busy' });
  assert.deepEqual(await laptop.refresh(start + 3_600), { outcome: 'unchanged' });
  writeFileSync(lock, '');
  assert.deepEqual(await laptop.refresh(start + 3_600), { outcome: 'unchanged' });
  assert.deepEqual(readdirSync(laptop.cache).sort(), ['attempt.json', 'copies', 'current.json', 'sha1.git']);
});

test('a copy that somebody damaged is never half read: it is fetched anew', async (t) => {
  const laptop = await aLaptop(t);
  const oid = laptop.push(tips('read first'));
  await laptop.refresh();
  for (const text of [
    '',
    '{',
    '[]',
    '{"version":2}',
    `{"version":1,"oid":"../../etc","fetched_at":"2026-11-29T00:00:00Z"}`,
  ]) {
    writeFileSync(join(laptop.cache, 'current.json'), text);
    assert.match((await laptop.session()).text, /not on this machine yet/);
  }
  assert.deepEqual(await laptop.refresh(), { outcome: 'fetched' });
  rmSync(join(laptop.cache, 'copies', oid), { recursive: true });
  assert.deepEqual(await laptop.refresh(start + 900), { outcome: 'fetched' });
  assert.match((await laptop.session()).text, /- read first\n/);
});

test('a repository that switches its memory off gives sessions nothing from the next refresh on', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  laptop.push({ '.github/memory.yml': 'version: 1\nenabled: false\n' });
  await laptop.refresh(start + 900);
  const { text, notice } = await laptop.session(start + 900);
  assert.equal(text, '');
  assert.match(notice, /switched off/);
});

test('a password in the address reaches the server alone: no file, no name and no message holds it', async (t) => {
  const laptop = await aLaptop(t, 'nothing');
  laptop.push(tips('read first'));
  assert.deepEqual(await laptop.refresh(), { outcome: 'fetched' });
  laptop.server.fault = () => ({ kind: 'status', status: 403, body: 'dana:reader may not' });
  const refreshed = await laptop.refresh(start + 900);
  assert.ok(refreshed.outcome === 'failed' && !refreshed.failure.includes('reader@'));
  for (const path of everyFile(laptop.machine.home)) {
    assert.ok(!path.includes('reader'));
    assert.ok(!readFileSync(path, 'latin1').includes('dana:reader'), path);
  }
});

test('an address that would start a program, or is none, is refused', async (t) => {
  const { machine } = await aLaptop(t);
  for (const url of ['ext::sh -c touch% /tmp/x', '-u://x/y', 'ssh://-oProxyCommand=x/y', 'foo://x/y']) {
    const source = sourceOf(url, machine);
    if (source.kind === 'folder') continue;
    const refreshed = await refreshCopy(url, { machine, clock: fixedClock(start), mark: 'x' });
    assert.ok(refreshed.outcome === 'failed', url);
    assert.match(refreshed.failure, /address/);
  }
});

/** A commit that no git would make from a working tree: entries as they are given, names and modes included. */
function hostileCommit(bare: string, entries: readonly (readonly [mode: string, name: string, oid: string])[]): string {
  const bytes = Buffer.concat(
    entries.flatMap(([mode, name, oid]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')]),
  );
  return object(bare, 'tree', bytes);
}

function object(bare: string, type: string, bytes: Buffer | string): string {
  return execFileSync('git', ['hash-object', '-w', '-t', type, '--literally', '--stdin'], { cwd: bare, input: bytes })
    .toString()
    .trim();
}

function publish(bare: string, root: string): void {
  const person = 'A Person <person@example.org> 1767225600 +0000';
  const commit = object(bare, 'commit', `tree ${root}\nauthor ${person}\ncommitter ${person}\n\nHostile\n`);
  git(bare, 'update-ref', 'refs/heads/main', commit);
}

test('of a hostile repository only plain memory files are kept, and nothing outside of the cache is written', async (t) => {
  const laptop = await aLaptop(t);
  const bare = laptop.server.dir('memory');
  const text = object(bare, 'blob', aSummary({ tips: ['HOSTILE'] }));
  const good = object(bare, 'blob', aSummary({ tips: ['plain'] }));
  const target = object(bare, 'blob', '/etc/passwd');
  const large = object(bare, 'blob', Buffer.alloc(5 * 1024 * 1024, 'x'));
  const binary = object(bare, 'blob', Buffer.from([0x23, 0xff, 0xfe, 0x0a]));
  const commit = '1'.repeat(40);
  const skill = (mode: string, oid: string) => hostileCommit(bare, [[mode, 'SKILL.md', oid]]);
  const skills = hostileCommit(bare, [
    ['40000', '..', skill('100644', text)],
    ['40000', '.git', skill('100644', text)],
    ['40000', 'Clash', skill('100644', good)],
    ['40000', 'binary', skill('100644', binary)],
    ['40000', 'clash', skill('100644', text)],
    ['40000', 'executable', skill('100755', text)],
    ['40000', 'good', skill('100644', good)],
    ['40000', 'large', skill('100644', large)],
    ['40000', 'link', skill('120000', target)],
    ['120000', 'linked-folder', target],
    ['40000', 'odd', skill('100664', text)],
    ['160000', 'submodule', commit],
  ]);
  const memories = hostileCommit(bare, [
    ['120000', 'MEMORY.md', target],
    ['40000', '..', hostileCommit(bare, [['100644', 'escaped', text]])],
    ['100644', '../escaped', text],
    ['100644', '.gitattributes', object(bare, 'blob', '* filter=evil\n')],
    ['100644', 'memory_summary.md', good],
    ['40000', 'skills', skills],
  ]);
  const hooks = hostileCommit(bare, [
    ['100755', 'post-checkout', object(bare, 'blob', '#!/bin/sh\ntouch "$HOME/ran"\n')],
  ]);
  publish(
    bare,
    hostileCommit(bare, [
      ['40000', '.git', hostileCommit(bare, [['40000', 'hooks', hooks]])],
      ['40000', 'hooks', hooks],
      ['40000', 'memories', memories],
    ]),
  );
  assert.deepEqual(await laptop.refresh(), { outcome: 'fetched' });
  const note = readNote(laptop.cache);
  const copy = join(laptop.cache, 'copies', note?.oid ?? '');
  const kept = everyFile(copy).map((path) => path.slice(copy.length + 1));
  assert.deepEqual(kept.sort(), [
    'memories/memory_summary.md',
    'memories/skills/Clash/SKILL.md',
    'memories/skills/good/SKILL.md',
  ]);
  for (const path of everyFile(copy)) assert.equal(statSync(path).mode & 0o777, 0o600);
  const refused = (note?.refused ?? []).join('\n');
  for (const said of ['MEMORY.md is a symbolic link', 'executable', 'too large', 'no UTF-8', 'has the part ..', '.git'])
    assert.ok(refused.includes(said), said);
  const { text: given } = await laptop.session();
  assert.ok(given.includes('- plain\n') && !given.includes('HOSTILE') && !given.includes('root:'));
  for (const path of everyFile(laptop.machine.home)) assert.ok(path.startsWith(`${laptop.cache}/`), path);
});

test('a tree that unfolds into millions of files is refused before it is unfolded', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  const bare = laptop.server.dir('memory');
  let tree = hostileCommit(bare, [['100644', 'f.md', object(bare, 'blob', 'x')]]);
  for (let level = 0; level < 12; level += 1)
    tree = hostileCommit(
      bare,
      Array.from({ length: 10 }, (_, n) => ['40000', `d${n}`, tree] as const),
    );
  publish(bare, hostileCommit(bare, [['40000', 'memories', tree]]));
  const refreshed = await laptop.refresh(start + 900);
  assert.ok(refreshed.outcome === 'failed');
  assert.match(refreshed.failure, /larger than any memory/);
  assert.match((await laptop.session(start + 900)).text, /- read first\n/);
});

test('a repository larger than the cache may keep is refused, and the copy that is here stays', async (t) => {
  const laptop = await aLaptop(t);
  laptop.push(tips('read first'));
  await laptop.refresh();
  let noise = '';
  for (let n = 0; noise.length < 400_000; n += 1) noise += `${(n * 2_654_435_761) % 4_294_967_296} `;
  laptop.push({ 'noise.txt': noise, ...tips('too much') });
  const refreshed = await laptop.refresh(start + 900, 100 * 1024);
  assert.ok(refreshed.outcome === 'failed');
  assert.match(refreshed.failure, /larger than 100 KiB/);
  assert.match((await laptop.session(start + 900)).text, /- read first\n/);
});
