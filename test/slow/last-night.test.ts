import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openRepository } from '../../scripts/git/open.ts';
import { loadStateRef, saveStateRef, stateRef } from '../../scripts/state/ref.ts';
import { aMemory } from '../support/memories.ts';
import { command } from '../support/nights.ts';
import { commitAll, env, git } from '../support/repository.ts';

const handbook = 'memories/MEMORY.md';
const claim = '- A rule that nobody said.';

/** A commit with one more bullet, without evidence, in the first list of preferences. */
function withClaim(repo: string): string {
  const text = readFileSync(join(repo, handbook), 'utf8');
  writeFileSync(join(repo, handbook), text.replace('## User preferences\n', `## User preferences\n${claim}\n`));
  return commitAll(repo, 'A rule');
}

/** Says in the state ref that a night left this commit on the branch, and saw the default branch as that one. */
async function recordTip(repo: string, ref: string, tip: string, seen: string | null = null): Promise<void> {
  const repository = await openRepository(repo, { env });
  const { oid, tree } = (await loadStateRef(repository, stateRef)) ?? assert.fail();
  const night = { ...tree.night, recordedTips: { [ref]: tip }, defaultBranchOid: seen };
  const author = { name: 'a', email: 'a@example.org' };
  await saveStateRef(repository, {
    ref: stateRef,
    expected: oid,
    tree: { ...tree, night },
    at: 1,
    author,
    message: 'x',
  });
}

function check(repo: string, ...args: string[]) {
  return command('check', ['--repo', repo, ...args]);
}

test('in a named commit a person’s line on top of a night’s is theirs, and the same line by a night lacks evidence', async (t) => {
  const repo = await aMemory(t);
  git(repo, 'switch', '--quiet', '--create', 'topic');
  const proposed = withClaim(repo);
  git(repo, 'switch', '--quiet', 'main');
  writeFileSync(join(repo, handbook), '<<<<<<< not judged\n');
  const persons = await check(repo, '--tree', proposed);
  assert.deepEqual([persons.code, persons.stdout.slice(0, 6)], [0, 'Clean:']);
  await recordTip(repo, 'refs/heads/memory/nightly', proposed);
  const nights = await check(repo, '--tree', proposed);
  assert.equal(nights.code, 1);
  assert.match(nights.stdout, /MEMORY\.md:\d+: error bullet\.evidence/);
});

test('where no night’s commit is in its history, what a commit adds to HEAD is people’s', async (t) => {
  const repo = await aMemory(t);
  git(repo, 'checkout', '--quiet', '--orphan', 'topic');
  const proposed = withClaim(repo);
  git(repo, 'switch', '--quiet', 'main');
  assert.equal((await check(repo, '--tree', proposed)).code, 0);
  assert.equal((await check(repo, '--tree', git(repo, 'rev-parse', 'main'))).code, 0);
});

test('on the default branch a person’s line is theirs at once, in whatever way the night before it was merged', async (t) => {
  const repo = await aMemory(t);
  const night = git(repo, 'rev-parse', 'main');
  git(repo, 'checkout', '--quiet', '--orphan', 'squashed');
  const merged = commitAll(repo, 'Squashed');
  git(repo, 'branch', '--quiet', '--force', 'main', 'squashed');
  git(repo, 'switch', '--quiet', 'main');
  const persons = withClaim(repo);
  const codes = async () => {
    const ended = [check(repo), check(repo, '--committed'), check(repo, '--tree', persons)];
    return (await Promise.all(ended)).map(({ code }) => code);
  };
  await recordTip(repo, 'refs/heads/memory/nightly', night);
  assert.deepEqual(await codes(), [0, 0, 0], 'the proposal of the last night was merged');
  git(repo, 'switch', '--quiet', '--detach', night);
  writeFileSync(join(repo, 'state.sqlite.json'), 'of another night\n');
  const proposed = commitAll(repo, 'A later night');
  git(repo, 'switch', '--quiet', 'main');
  await recordTip(repo, 'refs/heads/memory/nightly', proposed, merged);
  assert.deepEqual(await codes(), [0, 0, 0], 'the last night saw the branch before that line');
  await recordTip(repo, 'refs/heads/memory/nightly', proposed, persons);
  assert.deepEqual(await codes(), [1, 1, 1], 'it saw the line and did not take it for a person’s');
  await recordTip(repo, 'refs/heads/memory/nightly', '1'.repeat(40));
  assert.deepEqual(await codes(), [1, 1, 1], 'nobody knows what the night left');
});

test('a commit that is not here, or is not named whole, is told with what to do', async (t) => {
  const repo = await aMemory(t);
  const [short, both, missing] = await Promise.all([
    check(repo, '--tree', 'main'),
    check(repo, '--tree', git(repo, 'rev-parse', 'HEAD'), '--committed'),
    check(repo, '--tree', '1'.repeat(40)),
  ]);
  assert.deepEqual([short.code, both.code, missing.code], [2, 2, 1]);
  assert.match(short.stderr, /git rev-parse/);
  assert.match(both.stderr, /exclude each other/);
  assert.match(missing.stderr, /no commit 1{40}[\s\S]*git fetch/);
});
