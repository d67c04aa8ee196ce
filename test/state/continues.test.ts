import assert from 'node:assert/strict';
import { test } from 'node:test';
import { continues } from '../../scripts/state/continues.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { setTombstone } from '../../scripts/state/tombstones.ts';

async function after(...works: readonly ((state: State) => void)[]): Promise<string> {
  const state = await emptyState();
  for (const work of works) work(state);
  return snapshotOf(state);
}

const run = (runId: string) => (state: State) => {
  const rest = { outcome: 'done', counts: {}, usage: {}, models: 'm', promptsHash: 'p' } as const;
  recordRun(state, { runId, startedAt: 1, finishedAt: 2, ...rest });
};
const forgets = (key: string) => (state: State) => {
  setTombstone(state, { kind: 'thread', key, reason: 'forget', runId: null, pullRequest: null, setAt: 3 });
};

test('a state goes on from another when it knows all of its nights and all that it forgot', async () => {
  const earlier = await after(run('a'), forgets('x'));
  assert.ok(continues(earlier, earlier));
  assert.ok(continues(await after(run('a'), run('b'), forgets('x'), forgets('y')), earlier));
  assert.ok(!continues(await after(run('b'), forgets('x')), earlier), 'a night is missing');
  assert.ok(!continues(await after(run('a'), run('b')), earlier), 'what was forgotten is missing');
  assert.ok(!continues(earlier, await after(run('a'), run('c'))), 'it is older');
  assert.ok(!continues(earlier, await after()), 'no night says where it comes from');
});
