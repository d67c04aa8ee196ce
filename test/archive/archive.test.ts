import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type AddOutcome, addRollouts } from '../../scripts/archive/add.ts';
import { type Archive, archiveTip } from '../../scripts/archive/archive.ts';
import { archivePath, archiveRef, threadAt } from '../../scripts/archive/layout.ts';
import { expiredThreads, rewriteArchive } from '../../scripts/archive/rewrite.ts';
import { archivedRollouts } from '../../scripts/archive/rollouts.ts';
import { TombstonesError, tombstoneKey } from '../../scripts/archive/tombstones.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import type { Rollout } from '../../scripts/rollout/types.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { aRepository, env, git } from '../support/repository.ts';
import { joined, made } from '../support/secrets.ts';
import { aRollout, dayAt } from '../support/stored-rollouts.ts';
import { threadId } from '../support/written-sessions.ts';

const run = promisify(execFile);
const worker = join(fileURLToPath(import.meta.url), '../../support/archive-worker.ts');
const clock = fixedClock(dayAt(5));

async function anArchive(t: TestContext): Promise<Archive & { readonly dir: string }> {
  const dir = aRepository(t, { 'README.md': 'The team.\n' });
  return { dir, repository: await openRepository(dir, { env }), ref: archiveRef, remote: null };
}

async function add(archive: Archive, rollouts: readonly Rollout[], notBefore = dayAt(0)): Promise<AddOutcome[]> {
  return [...(await addRollouts(archive, rollouts, notBefore, { clock })).values()];
}

function paths(dir: string, ref = archiveRef): string[] {
  return git(dir, 'ls-tree', '-r', '--name-only', ref).split('\n').filter(Boolean);
}

/** Puts a file beside the rollouts, as a hand or a newer version might. */
async function put({ repository, ref }: Archive, path: string, text: string): Promise<void> {
  const tip = await repository.readRef(ref);
  const commit = await repository.writeCommit({
    base: tip,
    parents: tip === null ? [] : [tip],
    changes: new Map([[path, text]]),
    message: 'By hand',
    author: { name: 'Dana', email: 'dana@example.org' },
    at: dayAt(5),
  });
  await repository.swapRef(ref, tip, commit);
}

test('a session stands below the day on which it began, and is read back as it was', async (t) => {
  const archive = await anArchive(t);
  const rollout = aRollout(1, ['Fix it.', 'Done.', 'Thanks. "who":"human" is only text.']);
  assert.deepEqual(await add(archive, [rollout]), ['added']);
  assert.deepEqual(paths(archive.dir), [`2026/11/21/${threadId(1)}.jsonl`]);
  const stored = archivedRollouts(archive.repository, await archiveTip(archive));
  const { found, ignored } = await stored.list();
  assert.deepEqual(ignored, []);
  assert.deepEqual(found, [
    { thread: rollout.thread, items: 3, humanItems: 2, skipped: {}, path: archivePath(rollout.thread) },
  ]);
  assert.deepEqual(await stored.read(threadId(1)), rollout);
  await assert.rejects(stored.read(threadId(2)), /No session/);
});

test('the commit names no session, no person and no path', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [aRollout(1), aRollout(2)]);
  assert.equal(
    git(archive.dir, 'log', '--format=%an <%ae> %cn %ad %s%b', '--date=iso-strict', archiveRef),
    'commit-to-memory <commit-to-memory@users.noreply.github.com> commit-to-memory 2026-11-25T00:00:00+00:00 Collect 2 sessions',
  );
});

test('an unchanged session moves nothing; a grown one replaces its older self', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [aRollout(1), aRollout(2)]);
  const before = git(archive.dir, 'rev-parse', archiveRef);
  assert.deepEqual(await add(archive, [aRollout(1)]), ['same']);
  assert.equal(git(archive.dir, 'rev-parse', archiveRef), before);
  const grown = aRollout(1, ['Fix the build.', 'Done.']);
  assert.deepEqual(await add(archive, [grown, aRollout(2)]), ['grown', 'same']);
  assert.equal(git(archive.dir, 'diff', '--name-status', before, archiveRef), `M\t2026/11/21/${threadId(1)}.jsonl`);
  assert.deepEqual(await add(archive, [aRollout(1)]), ['newer_there']);
  assert.deepEqual(await archivedRollouts(archive.repository, await archiveTip(archive)).read(threadId(1)), grown);
});

test('a session whose start moved to another day stands once', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [aRollout(1)]);
  const moved = aRollout(1, ['Fix the build.', 'Done.'], { startedAt: dayAt(2) });
  assert.deepEqual(await add(archive, [moved]), ['grown']);
  assert.deepEqual(paths(archive.dir), [`2026/11/22/${threadId(1)}.jsonl`]);
});

test('nothing older than the retention is uploaded', async (t) => {
  const archive = await anArchive(t);
  const old = aRollout(1, ['Old.'], { startedAt: dayAt(0), updatedAt: dayAt(1) });
  assert.deepEqual(await add(archive, [old], dayAt(1) + 1), ['expired']);
  assert.equal(await archiveTip(archive), null);
  assert.deepEqual(await add(archive, [old], dayAt(1)), ['added']);
});

test('a tombstoned thread, author or item never comes back', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [
    aRollout(1),
    aRollout(2, ['Keep this.'], { author: 'erin' }),
    aRollout(3, ['Hush.', 'Yes.', 'Ok.']),
  ]);
  const salt = 'of the state';
  const keys = [
    tombstoneKey(salt, { kind: 'thread', thread: threadId(1) }),
    tombstoneKey(salt, { kind: 'author', author: 'erin' }),
    tombstoneKey(salt, { kind: 'item', thread: threadId(3), n: '2' }),
  ];
  const threads = new Set([1, 2, 3].map(threadId));
  const dropped = await rewriteArchive(archive, { threads, notSince: null, tombstones: { salt, keys } }, { clock });
  assert.deepEqual(dropped, [1, 2, 3].map(threadId));
  assert.deepEqual(paths(archive.dir), ['tombstones.json']);
  assert.equal(git(archive.dir, 'rev-list', '--count', archiveRef), '1');
  const grown = [1, 2, 3].map((n) =>
    aRollout(n, ['Hush.', 'Yes.', 'Ok.', 'And more.'], n === 2 ? { author: 'erin' } : {}),
  );
  assert.deepEqual(await add(archive, grown), ['tombstoned', 'tombstoned', 'added']);
  const third = await archivedRollouts(archive.repository, await archiveTip(archive)).read(threadId(3));
  assert.deepEqual(
    third.items.map(({ n }) => n),
    ['3', '4', '5'],
  );
  assert.equal(third.thread.title, 'Ok.');
  assert.deepEqual(third.skipped, { forgotten: 1 });
});

for (const [what, text] of [
  ['no JSON', '{"format":'],
  ['of a newer version', '{"format":"ctm-tombstones","version":2,"salt":"","keys":[]}\n'],
  ['with a key that is no hash', '{"format":"ctm-tombstones","version":1,"salt":"","keys":["thread 1"]}\n'],
  ['no text', '\0\0'],
] as const) {
  test(`nothing is uploaded while the tombstones are ${what}`, async (t) => {
    const archive = await anArchive(t);
    await put(archive, 'tombstones.json', text);
    const before = git(archive.dir, 'rev-parse', archiveRef);
    await assert.rejects(add(archive, [aRollout(1)]), TombstonesError);
    assert.equal(git(archive.dir, 'rev-parse', archiveRef), before);
  });
}

test('retention waits until a week has expired, and takes only what may go', () => {
  const stored = [1, 2, 3].map((n) => aRollout(n, [], { updatedAt: dayAt(n) }));
  const all = () => true;
  assert.deepEqual([...expiredThreads(stored, all, dayAt(8))], []);
  assert.deepEqual([...expiredThreads(stored, all, dayAt(8) + 1)], [1, 2, 3].map(threadId));
  assert.deepEqual([...expiredThreads(stored, (id) => id !== threadId(1), dayAt(9) + 1)], [2, 3].map(threadId));
  assert.deepEqual([...expiredThreads(stored, (id) => id !== threadId(1), dayAt(9))], []);
});

test('a rewrite leaves what grew since it was decided, notes, and nothing of what it dropped', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [aRollout(1), aRollout(2), aRollout(3, ['New.'], { startedAt: dayAt(4) })]);
  await put(archive, 'notes/2026/11/a.md', 'Use pnpm.\n');
  const blob = git(archive.dir, 'rev-parse', `${archiveRef}:2026/11/21/${threadId(1)}.jsonl`);
  const threads = new Set([1, 3].map(threadId));
  assert.deepEqual(await rewriteArchive(archive, { threads, notSince: dayAt(3) }, { clock }), [threadId(1)]);
  assert.deepEqual(paths(archive.dir), [
    `2026/11/21/${threadId(2)}.jsonl`,
    `2026/11/24/${threadId(3)}.jsonl`,
    'notes/2026/11/a.md',
  ]);
  const reachable = git(archive.dir, 'rev-list', '--objects', archiveRef);
  assert.ok(!reachable.includes(blob));
  const before = git(archive.dir, 'rev-parse', archiveRef);
  assert.deepEqual(await rewriteArchive(archive, { threads, notSince: dayAt(3) }, { clock }), []);
  assert.equal(git(archive.dir, 'rev-parse', archiveRef), before);
});

test('a file that is no rollout is named and stops nobody', async (t) => {
  const archive = await anArchive(t);
  await add(archive, [aRollout(1)]);
  await put(archive, `2026/11/21/${threadId(2)}.jsonl`, '<<<<<<< HEAD\n');
  await put(
    archive,
    `2026/11/21/${threadId(3)}.jsonl`,
    git(archive.dir, 'show', `${archiveRef}:${paths(archive.dir)[0]}`),
  );
  await put(
    archive,
    `2026/11/21/${threadId(4)}.jsonl`,
    `${git(archive.dir, 'show', `${archiveRef}:2026/11/21/${threadId(1)}.jsonl`)}\n`,
  );
  const { found, ignored } = await archivedRollouts(archive.repository, await archiveTip(archive)).list();
  assert.deepEqual(
    found.map(({ thread }) => thread.id),
    [threadId(1)],
  );
  assert.deepEqual(
    ignored.map(({ reason }) => reason.replace(/\(.*\)/, '')),
    [
      'Canonical rollout, line 1: no JSON .',
      'Canonical rollout, line 2: the last line has no end, so it was cut.',
      'the session in it has another id',
    ],
  );
  assert.deepEqual(await add(archive, [aRollout(2)]), ['grown']);
});

test('a night sees no secret that a laptop’s older rules let through', async (t) => {
  const archive = await anArchive(t);
  const secret = joined('ghp', '_', made(36));
  await add(archive, [aRollout(1, [`Use ${secret} please.`], { branch: `fix-${secret}` })]);
  const clean = redactedRollouts(archivedRollouts(archive.repository, await archiveTip(archive)), createRedactor({}));
  const { found } = await clean.list();
  const read = await clean.read(threadId(1));
  assert.equal(JSON.stringify([found, read]).includes(secret), false);
  assert.equal(found[0]?.thread.title, 'Use [REDACTED_SECRET] please.');
  assert.deepEqual(found[0]?.thread, read.thread);
});

test('a path is a thread’s only where we would have put it', () => {
  assert.equal(threadAt(`2026/11/21/${threadId(1)}.jsonl`), threadId(1));
  for (const path of [
    'notes/2026/11/21/a.jsonl',
    '2026/11/21/a.md',
    '2026/11/a.jsonl',
    '2026/11/21/.a.jsonl',
    '2026/11/21/b/a.jsonl',
  ])
    assert.equal(threadAt(path), null);
});

test('four processes and a rewrite at once: every session stands once, nothing dropped comes back', async (t) => {
  const { dir, repository } = await anArchive(t);
  const archive = { repository, ref: archiveRef, remote: null };
  const old = Array.from({ length: 4 }, (_, at) => 101 + at);
  await add(
    archive,
    old.map((n) => aRollout(n)),
  );
  const shares = Array.from({ length: 4 }, (_, at) => [at * 3 + 1, at * 3 + 2, at * 3 + 3]);
  const started = [...shares.map((share) => ['add', share.join(',')]), ['drop', old.map(threadId).join(',')]];
  const ended = await Promise.all(
    started.map((args) =>
      run(process.execPath, ['--import', 'tsx', worker, dir, ...args], { env: { PATH: process.env.PATH } }),
    ),
  );
  assert.deepEqual(
    ended.map(({ stdout }) => stdout.trim()),
    [...shares.map(() => 'added added added'), old.map(threadId).join(' ')],
  );
  assert.deepEqual(
    paths(dir),
    shares
      .flat()
      .map((n) => `2026/11/21/${threadId(n)}.jsonl`)
      .sort(),
  );
});
