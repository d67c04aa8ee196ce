import assert from 'node:assert/strict';
import test from 'node:test';
import { linesOf, recordLines, removeLine } from '../../scripts/state/lines.ts';
import { emptyState, openState, snapshotOf } from '../../scripts/state/snapshot.ts';
import {
  evidenceKey,
  liftTombstone,
  listTombstones,
  setTombstone,
  tombstonesOf,
} from '../../scripts/state/tombstones.ts';
import type { TombstoneRow } from '../../scripts/state/types.ts';
import { dayAt, scope } from '../support/state-rows.ts';

function aTombstone(kind: TombstoneRow['kind'], key: string, reason = 'removed by a person') {
  return { kind, key, reason, runId: 'run-1', pullRequest: '7', setAt: dayAt(1) };
}

test('evidence is hidden in the scope where it was removed, and nowhere else', async () => {
  const state = await emptyState();
  setTombstone(state, aTombstone('evidence', evidenceKey('a', '12.2', scope)));
  const tombstones = tombstonesOf(state);
  assert.equal(tombstones.hidesEvidence('a', '12.2', scope), true);
  assert.equal(tombstones.hidesEvidence('a', '12.2', '*'), false);
  assert.equal(tombstones.hidesEvidence('a', '12', scope), false);
  assert.equal(tombstones.hidesThread('a'), false);
});

test('a hidden thread hides its evidence everywhere, a hidden author its name alone', async () => {
  const state = await emptyState();
  setTombstone(state, aTombstone('thread', 'a'));
  setTombstone(state, aTombstone('author', 'eve'));
  const tombstones = tombstonesOf(state);
  assert.equal(tombstones.hidesEvidence('a', '1', '*'), true);
  assert.deepEqual(['eve', 'ada', null].map(tombstones.hidesAuthor), [true, false, false]);
});

test('a standing tombstone keeps its reason; a lifted one can stand again', async () => {
  const state = await emptyState();
  assert.equal(setTombstone(state, aTombstone('thread', 'a', 'first')), true);
  assert.equal(setTombstone(state, aTombstone('thread', 'a', 'second')), false);
  assert.equal(listTombstones(state)[0]?.reason, 'first');
  assert.equal(liftTombstone(state, 'thread', 'a', dayAt(2)), true);
  assert.equal(liftTombstone(state, 'thread', 'a', dayAt(3)), false);
  assert.equal(tombstonesOf(state).hidesThread('a'), false);
  assert.equal(listTombstones(state)[0]?.liftedAt, dayAt(2), 'the record stays');
  assert.equal(setTombstone(state, aTombstone('thread', 'a', 'third')), true);
  assert.equal(tombstonesOf(state).hidesThread('a'), true);
});

test('what was forgotten stays forgotten when the state is read back', async () => {
  const state = await emptyState();
  setTombstone(state, aTombstone('thread', 'a'));
  assert.equal(tombstonesOf(await openState(snapshotOf(state))).hidesThread('a'), true);
});

test('a person’s line keeps who and since when it is seen again', async () => {
  const state = await emptyState();
  const line = { scope, hash: 'a'.repeat(32), who: 'ada', since: dayAt(1) };
  assert.equal(recordLines(state, [line]), 1);
  assert.equal(
    recordLines(state, [
      { ...line, who: 'bob', since: dayAt(2) },
      { ...line, scope: '*' },
    ]),
    1,
  );
  assert.deepEqual(linesOf(state, scope), [line]);
  assert.equal(removeLine(state, scope, line.hash), true);
  assert.equal(removeLine(state, scope, line.hash), false);
  assert.deepEqual(linesOf(state, scope), []);
});
