import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GitError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { aRepository, env, git } from '../support/repository.ts';

const author = { name: 'M', email: 'm@example.org' };

/** A small file system of its own with a repository in it; null where this user may not mount one. */
function smallDisk(t: TestContext, size: string): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'memory-test-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmdirSync(folder);
    t.skip('mounting a file system is not permitted here');
    return null;
  }
  t.after(() => {
    execFileSync('umount', [folder]);
    rmdirSync(folder);
  });
  cpSync(aRepository(t, { 'memories/a.md': 'a\n' }), folder, { recursive: true });
  return folder;
}

function leftovers(dir: string): string[] {
  const names = readdirSync(join(dir, '.git'), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.lock') || name.includes('tmp_obj'));
}

for (const backend of ['git', 'isomorphic'] as const) {
  test(`${backend}: a full disk is named, the branch is as before and nothing half-written is left`, async (t) => {
    const dir = smallDisk(t, '1500k');
    if (dir === null) return;
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    const small = await repository.writeCommit({
      base,
      parents: [base],
      changes: new Map(),
      message: 'x',
      author,
      at: 1,
    });
    fill(dir, 65_536);
    rmSync(join(dir, 'fill-65536-0'));
    const changes = new Map(Array.from({ length: 60 }, (_, at) => [`memories/${at}.md`, hardToCompress(at)] as const));
    const refused = (error: unknown): boolean => {
      assert.ok(error instanceof GitError, String(error));
      assert.match(error.message, /the disk is full/);
      return true;
    };
    await assert.rejects(
      repository.writeCommit({ base, parents: [base], changes, message: 'x', author, at: 1 }),
      refused,
    );
    fill(dir, 1);
    await assert.rejects(repository.swapRef('refs/heads/main', base, small), GitError);
    await assert.rejects(repository.swapRef('refs/memory/state', null, small), GitError);
    assert.equal(git(dir, 'rev-parse', 'main'), base);
    assert.equal(await repository.readRef('refs/memory/state'), null);
    assert.deepEqual(leftovers(dir), []);
  });

  test(`${backend}: a read-only repository is named, and read all the same`, async (t) => {
    const dir = smallDisk(t, '4m');
    if (dir === null) return;
    execFileSync('mount', ['-o', 'remount,ro', dir]);
    const base = git(dir, 'rev-parse', 'HEAD');
    const repository = await openRepository(dir, { backend, env });
    assert.equal((await repository.readFiles(base, ['memories'])).get('memories/a.md'), 'a\n');
    assert.deepEqual(await repository.uncommitted(['memories']), []);
    const changes = new Map([['memories/a.md', 'A']]);
    const spec = { base, parents: [base], changes, message: 'x', author, at: 1 };
    await assert.rejects(repository.writeCommit(spec), /the file system is read-only/);
    await assert.rejects(repository.swapRef('refs/memory/state', null, base), /the file system is read-only/);
  });

  test(`${backend}: a process killed while it commits leaves the branch as before, and the next one works`, async (t) => {
    const dir = aRepository(t, { 'memories/a.md': 'a\n' });
    const base = git(dir, 'rev-parse', 'HEAD');
    for (const files of [1, 40, 160]) await killWhenObjectsAppear(dir, backend, files);
    assert.equal(git(dir, 'rev-parse', 'main'), base);
    git(dir, 'fsck', '--strict', '--full');
    const repository = await openRepository(dir, { backend, env });
    const changes = new Map(Array.from({ length: 400 }, (_, at) => [`memories/${at}.md`, hardToCompress(at)] as const));
    const to = await repository.writeCommit({ base, parents: [base], changes, message: 'x', author, at: 1 });
    await repository.swapRef('refs/heads/main', base, to);
    git(dir, 'fsck', '--strict', '--full');
    assert.equal((await repository.readFiles(to, ['memories'])).get('memories/7.md'), hardToCompress(7));
  });
}

/** 8 KB that look random and are the same every time. */
function hardToCompress(seed: number): string {
  let state = seed + 1;
  return Array.from({ length: 8192 }, () => {
    state = (state * 48271) % 2147483647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
}

/** Writes files until no further one of `smallest` bytes fits. */
function fill(dir: string, smallest: number): void {
  for (let size = 65_536; size >= smallest; size = Math.floor(size / 2)) {
    for (let at = 0; at < 1000; at += 1) {
      try {
        writeFileSync(join(dir, `fill-${size}-${at}`), Buffer.alloc(size));
      } catch {
        break;
      }
    }
  }
}

/** Starts a process that commits 400 files, and kills it as soon as so many new objects are there. */
async function killWhenObjectsAppear(dir: string, backend: string, count: number): Promise<void> {
  const writer = fileURLToPath(new URL('../support/write-commit.ts', import.meta.url));
  const before = objects(dir);
  const child = spawn(process.execPath, ['--import', 'tsx', writer, dir, backend], { stdio: 'ignore' });
  const closed = new Promise((done) => child.on('close', done));
  const timer = setInterval(() => {
    if (objects(dir) - before >= count) child.kill('SIGKILL');
  }, 1);
  await closed;
  clearInterval(timer);
  assert.ok(existsSync(join(dir, '.git/objects')));
}

function objects(dir: string): number {
  const folders = readdirSync(join(dir, '.git/objects')).filter((name) => /^[0-9a-f]{2}$/.test(name));
  return folders.flatMap((name) => readdirSync(join(dir, '.git/objects', name))).length;
}
