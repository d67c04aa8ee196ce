import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { RefMovedError } from '../../scripts/git/errors.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { StateTreeError } from '../../scripts/state/errors.ts';
import { emptyNightRecord } from '../../scripts/state/night-record.ts';
import { loadStateRef, type StateSave, saveStateRef } from '../../scripts/state/ref.ts';
import { emptyState, openState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { getThread } from '../../scripts/state/threads.ts';
import type { StateTree } from '../../scripts/state/tree.ts';
import { aRepository, env, git } from '../support/repository.ts';
import { scope, withOutput } from '../support/state-rows.ts';

const ref = 'refs/memory/state';

async function open(t: TestContext): Promise<{ dir: string; repository: Repository }> {
  const dir = aRepository(t, { 'README.md': 'hello\n' });
  return { dir, repository: await openRepository(dir, { env }) };
}

async function aTree(...threads: readonly string[]): Promise<StateTree> {
  const state = await emptyState();
  for (const thread of threads) withOutput(state, thread);
  const baseline = new Map([[scope, new Map(threads.map((thread) => [`memories/${thread}.md`, 'text\n']))]]);
  return { text: snapshotOf(state), night: emptyNightRecord, baseline, reviewed: new Map(), closed: new Map() };
}

function aSave(tree: StateTree, expected: string | null): StateSave {
  const author = { name: 'Memory', email: 'memory@example.org' };
  return { ref, expected, tree, at: 1_767_225_600, author, message: 'Night\n' };
}

test('a state is saved under its ref and loaded again, outside of every branch', async (t) => {
  const { dir, repository } = await open(t);
  assert.equal(await loadStateRef(repository, ref), null);
  const tree = await aTree('a', 'b');
  const oid = await saveStateRef(repository, aSave(tree, null));
  assert.deepEqual(await loadStateRef(repository, ref), { oid, tree });
  assert.equal(git(dir, 'branch', '--all', '--contains', oid), '');
  assert.equal(git(dir, 'status', '--porcelain'), '');
  assert.equal(git(dir, 'fsck', '--strict'), '');
});

test('the replaced state is the new one’s parent, and what is gone from the tree is gone', async (t) => {
  const { dir, repository } = await open(t);
  const first = await saveStateRef(repository, aSave(await aTree('a', 'b'), null));
  const second = await saveStateRef(repository, aSave(await aTree('b'), first));
  assert.equal(git(dir, 'rev-parse', `${second}^`), first);
  assert.doesNotMatch(git(dir, 'ls-tree', '-r', '--name-only', second), /memories\/a\.md/);
  const loaded = await loadStateRef(repository, ref);
  assert.equal(getThread(await openState(loaded?.tree.text ?? ''), 'a'), null);
});

test('whoever loses the swap is told so and changes nothing', async (t) => {
  const { repository } = await open(t);
  const start = await saveStateRef(repository, aSave(await aTree(), null));
  const winner = await saveStateRef(repository, aSave(await aTree('a'), start));
  await assert.rejects(saveStateRef(repository, aSave(await aTree('b'), start)), RefMovedError);
  await assert.rejects(saveStateRef(repository, aSave(await aTree('b'), null)), RefMovedError);
  assert.equal((await loadStateRef(repository, ref))?.oid, winner);
});

test('the same night over the same state is the same commit', async (t) => {
  const [one, other] = [await open(t), await open(t)];
  assert.equal(
    await saveStateRef(one.repository, aSave(await aTree('a', 'b'), null)),
    await saveStateRef(other.repository, aSave(await aTree('b', 'a'), null)),
  );
});

test('a ref that holds no state is refused', async (t) => {
  const { dir, repository } = await open(t);
  git(dir, 'update-ref', ref, 'HEAD');
  await assert.rejects(loadStateRef(repository, ref), StateTreeError);
});
