import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { aFix, codexText, uuid } from '../support/codex-session.ts';
import { type Ended, nightly, over, playedHere, playNight, tips } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder, writeFiles } from '../support/repository.ts';

const start = { 'README.md': 'The memory of a team.\n' };

test('a full disk, at every step at which it can fill up: a clear error, the branch as before, and done once there is room', async (t) => {
  const disk = aDisk(t, 'size=8m');
  if (disk === null) return;
  const source = sessionsOf(t);
  const expected = await undisturbed(t, source);
  const repo = repositoryOn(disk);
  const filler = join(disk, 'filler');
  const said = new Set<string>();
  for (const free of [0, 4, 12, 24, 40, 64, 96, 144]) {
    fillUp(disk, filler, free * 1024);
    const night = await playedHere(over(repo, [source]));
    rmSync(filler);
    if (night.code === 0) break;
    assertRefused(night, /the disk is full|ENOSPC|unable to write file/);
    said.add(night.stderr.split('\n').at(-3) ?? '');
    assertBeforeOrDone(repo, expected.branch);
    assert.equal(git(repo, 'fsck', '--strict', '--no-dangling', '--no-progress'), '');
    assert.ok(!existsSync(join(repo, '.git/memory/night.lock')));
  }
  assert.ok(said.size > 1, [...said].join('\n'));
  const done = await nightly(over(repo, [source]));
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(tips(repo), expected);
  assert.equal(git(repo, 'status', '--porcelain', '--', 'memories', 'state.sqlite.json'), '');
});

test('a disk that is mounted for reading only: a clear error before anything is read, and done once it can be written', async (t) => {
  const disk = aDisk(t, 'size=8m');
  if (disk === null) return;
  const source = sessionsOf(t);
  const expected = await undisturbed(t, source);
  const repo = repositoryOn(disk);
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  const night = await nightly(over(repo, [source]));
  assertRefused(night, /the file system is read-only/);
  const look = await playedHere([...over(repo, [source]), '--dry-run']);
  assert.equal(look.code, 0, 'looking needs no room');
  execFileSync('mount', ['-o', 'remount,rw', disk]);
  assert.deepEqual(
    readdirSync(join(repo, '.git')).filter((name) => name === 'memory'),
    [],
  );
  const done = await nightly(over(repo, [source]));
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(tips(repo), expected);
});

test('without inodes left it is the same', async (t) => {
  const disk = aDisk(t, 'size=8m,nr_inodes=400');
  if (disk === null) return;
  const source = sessionsOf(t);
  const expected = await undisturbed(t, source);
  const repo = repositoryOn(disk);
  const fillers = join(disk, 'fillers');
  for (const free of [1, 8, 20, 45]) {
    useUp(disk, fillers, free);
    const night = await playedHere(over(repo, [source]));
    rmSync(fillers, { recursive: true });
    if (night.code === 0) break;
    assertRefused(night, /the disk is full|ENOSPC|unable to write file/);
    assertBeforeOrDone(repo, expected.branch);
  }
  const done = await nightly(over(repo, [source]));
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual(tips(repo), expected);
});

/** A disk of its own in memory; null where this user may not mount one, and the test is skipped. */
function aDisk(t: TestContext, options: string): string | null {
  const disk = mkdtempSync(join(tmpdir(), 'memory-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', disk], { stdio: 'pipe' });
  } catch (error) {
    rmSync(disk, { recursive: true });
    t.skip(`no disk can be mounted here: ${String(error).split('\n')[1] ?? error}`);
    return null;
  }
  t.after(() => {
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true });
  });
  return disk;
}

function repositoryOn(disk: string): string {
  const repo = join(disk, 'repository');
  git(disk, 'init', '--quiet', '--initial-branch=main', repo);
  writeFiles(repo, start);
  commitAll(repo, 'Start');
  return repo;
}

/** Leaves so many bytes free. */
function fillUp(disk: string, filler: string, free: number): void {
  const { bavail, bsize } = statfsSync(disk);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - free)));
}

/** Leaves room for so many files. */
function useUp(disk: string, folder: string, free: number): void {
  const { ffree } = statfsSync(disk);
  writeFiles(folder, Object.fromEntries(Array.from({ length: ffree - free - 1 }, (_, index) => [String(index), ''])));
}

function sessionsOf(t: TestContext) {
  const folder = temporaryFolder(t);
  const files = [1, 2, 3, 4].map((n) => [`rollout-2026-11-29T10-00-00-${uuid(n)}.jsonl`, codexText(aFix(n))] as const);
  writeFiles(folder, Object.fromEntries(files));
  return { agent: 'codex' as const, path: folder };
}

async function undisturbed(t: TestContext, source: ReturnType<typeof sessionsOf>) {
  const repo = aRepository(t, start);
  await playNight(repo, [source]);
  return tips(repo);
}

function assertBeforeOrDone(repo: string, done: string): void {
  const { branch } = tips(repo);
  assert.ok(branch === done || branch === git(repo, 'rev-list', '--max-parents=0', 'HEAD'), branch);
}

/** An error of the world and no mistake of ours, with what to do. */
function assertRefused({ code, stderr }: Ended, why: RegExp): void {
  assert.equal(code, 1, stderr);
  assert.match(stderr, why);
  assert.match(stderr, /error: .{10,}\n {2}.{10,}/);
  assert.doesNotMatch(stderr, /mistake of ours/);
}
