import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { driverCommand } from '../../scripts/merge-driver/setting.ts';
import { command, root } from '../support/nights.ts';
import { aRepository, commitAll, git, temporaryFolder } from '../support/repository.ts';
import { aCopy } from '../support/state-copies.ts';
import { dayAt } from '../support/state-rows.ts';

const copy = 'state.sqlite.json';
const attributes = readFileSync(join(root, '.gitattributes'), 'utf8');

/** A repository in which `main` and `other` each changed the copy. */
async function twoBranches(t: TestContext, ours: string, theirs: string): Promise<string> {
  const base = await aCopy({ nights: [dayAt(1)], threads: ['a'] });
  const repo = aRepository(t, { '.gitattributes': attributes, [copy]: base });
  git(repo, 'switch', '--quiet', '--create', 'other');
  writeFileSync(join(repo, copy), theirs);
  commitAll(repo, 'Theirs');
  git(repo, 'switch', '--quiet', 'main');
  writeFileSync(join(repo, copy), ours);
  commitAll(repo, 'Ours');
  return repo;
}

function driver(repo: string, ...args: string[]) {
  return command('merge-driver', args, { cwd: repo });
}

const early = await aCopy({ nights: [dayAt(2)], threads: ['a', 'b'] });
const late = await aCopy({ nights: [dayAt(3)], threads: ['a', 'c'] });

test('once it is installed, a merge keeps the later night whole, from either side', async (t) => {
  for (const [ours, theirs] of [
    [early, late],
    [late, early],
  ] as const) {
    const repo = await twoBranches(t, ours, theirs);
    const { code, stdout } = await driver(repo, 'install');
    assert.equal(code, 0);
    assert.match(stdout, /merge button .+ does not run it/);
    git(repo, 'merge', '--quiet', '--no-edit', 'other');
    assert.equal(readFileSync(join(repo, copy), 'utf8'), late);
    assert.equal(git(repo, 'status', '--porcelain'), '');
  }
});

test('worktrees of the clone merge with it too, wherever the scripts are', async (t) => {
  const repo = await twoBranches(t, early, late);
  const odd = join(temporaryFolder(t), "it's 100%A of $HOME");
  symlinkSync(root, odd);
  const place = { script: join(odd, 'scripts/merge-driver.ts'), loader: import.meta.resolve('tsx') };
  git(repo, 'config', 'merge.memory-state.driver', driverCommand(place));
  const worktree = join(temporaryFolder(t), 'linked');
  git(repo, 'worktree', 'add', '--quiet', '-b', 'linked', worktree, 'main');
  git(worktree, 'merge', '--quiet', '--no-edit', 'other');
  assert.equal(readFileSync(join(worktree, copy), 'utf8'), late);
});

test('a damaged copy loses, and two damaged ones stay a conflict with what to do', async (t) => {
  const repo = await twoBranches(t, late.slice(0, 400), early);
  await driver(repo, 'install');
  git(repo, 'merge', '--quiet', '--no-edit', 'other');
  assert.equal(readFileSync(join(repo, copy), 'utf8'), early);

  const hopeless = await twoBranches(t, late.slice(0, 400), `${late}<<<<<<< x\n`);
  await driver(hopeless, 'install');
  assert.throws(
    () => git(hopeless, 'merge', '--quiet', '--no-edit', 'other'),
    ({ stderr, stdout }: { stderr: string; stdout: string }) => {
      assert.match(
        stderr,
        /Both copies of state\.sqlite\.json are damaged: ours in line \d+ .+\n +The conflict is left/,
      );
      assert.match(stdout, /CONFLICT \(content\)/);
      return true;
    },
  );
  assert.equal(git(hopeless, 'ls-files', '--unmerged').split('\n').length, 3);
  assert.equal(readFileSync(join(hopeless, copy), 'utf8'), late.slice(0, 400));
});

test('bytes that are no text lose, and a copy of a newer version is nobody’s to decide', async (t) => {
  const folder = temporaryFolder(t);
  const [ours, theirs] = [join(folder, 'ours'), join(folder, 'theirs')];
  writeFileSync(ours, Buffer.from([0xff, 0xfe]));
  writeFileSync(theirs, early);
  const kept = await driver(folder, 'run', 'base', 'ours', 'theirs', copy);
  assert.deepEqual([kept.code, readFileSync(ours, 'utf8')], [0, early]);
  assert.match(kept.stderr, /kept theirs, since the other one is damaged in line 1/);
  writeFileSync(theirs, late.replace(/"schema":\d+/, '"schema":9999'));
  const newer = await driver(folder, 'run', 'base', 'ours', 'theirs', copy);
  assert.deepEqual([newer.code, readFileSync(ours, 'utf8')], [1, early]);
  assert.match(newer.stderr, /newer version/);
});

test('--check says what keeps this clone from merging with it', async (t) => {
  const repo = aRepository(t, { 'README.md': 'A memory\n' });
  const nothing = await driver(repo, '--check');
  assert.equal(nothing.code, 1);
  assert.match(nothing.stdout, /needs the line “state\.sqlite\.json merge=memory-state”/);
  assert.match(nothing.stdout, /This clone has no driver: npm run merge-driver -- install/);
  const half = await driver(repo, 'install');
  assert.equal(half.code, 1);
  writeFileSync(join(repo, '.gitattributes'), attributes);
  const works = await driver(repo, '--check', '--json');
  assert.deepEqual([works.code, JSON.parse(works.stdout)], [0, { works: true, faults: [] }]);
  git(repo, 'config', 'merge.memory-state.driver', 'node /gone/scripts/merge-driver.ts run %O %A %B %P');
  assert.match((await driver(repo, '--check')).stdout, /another checkout or version/);
});

test('without a word, or with one too many, it says what to do', async (t) => {
  const folder = temporaryFolder(t);
  const wrong = [[], ['install', 'now'], ['run', 'a'], ['remove'], ['--check', 'install']];
  for (const { code, stderr } of await Promise.all(wrong.map((args) => driver(folder, ...args)))) {
    assert.equal(code, 2);
    assert.match(stderr, /merge-driver -- install/);
  }
  const outside = await driver(folder, 'install');
  assert.equal(outside.code, 1);
  assert.match(outside.stderr, /no Git repository/);
});
