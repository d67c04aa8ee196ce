import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type StandingFacts, standingOf } from '../../scripts/nightly/standing.ts';

const tip = 'a'.repeat(40);

function facts(more: Partial<StandingFacts> = {}): StandingFacts {
  return {
    delivery: 'pull-request',
    recordedTip: tip,
    branch: tip,
    mergedRuns: new Set(),
    proposedRuns: ['run-1', 'run-2'],
    tipReached: false,
    pullRequest: 'open',
    mergedPart: null,
    isRejected: false,
    closedTip: null,
    ...more,
  };
}

test('nothing recorded, or another delivery: the default branch', () => {
  assert.deepEqual(standingOf(facts({ recordedTip: null })), { from: 'default' });
  assert.deepEqual(standingOf(facts({ delivery: 'commit' })), { from: 'default' });
  assert.deepEqual(standingOf(facts({ delivery: 'push' })), { from: 'default' });
  assert.deepEqual(standingOf(facts({ proposedRuns: [] })), { from: 'default' });
});

test('merged by a fast-forward, by squash or rebase (the state holds its run), or by the host’s word', () => {
  const merged = { from: 'merged', upTo: 'run-2', tip: null };
  assert.deepEqual(standingOf(facts({ tipReached: true })), merged);
  assert.deepEqual(standingOf(facts({ mergedRuns: new Set(['run-1', 'run-2']) })), merged);
  assert.deepEqual(standingOf(facts({ pullRequest: 'merged' })), merged);
});

test('a merge is seen even when the branch is gone and the host cannot be asked', () => {
  const seen = standingOf(facts({ mergedRuns: new Set(['run-2']), branch: null, pullRequest: 'unknown' }));
  assert.equal(seen.from, 'merged');
});

test('where an older tip was merged, what came after is proposed anew', () => {
  assert.deepEqual(standingOf(facts({ mergedRuns: new Set(['run-1']) })), {
    from: 'merged',
    upTo: 'run-1',
    tip: null,
  });
  const part = 'c'.repeat(40);
  assert.deepEqual(
    standingOf(facts({ mergedRuns: new Set(['run-2']), pullRequest: 'merged', mergedPart: part })),
    { from: 'merged', upTo: 'run-2', tip: part },
    'also where only a person’s commit came after it',
  );
});

test('under review, or pushed and not yet proposed: the branch', () => {
  assert.deepEqual(standingOf(facts()), { from: 'branch' });
  assert.deepEqual(standingOf(facts({ pullRequest: 'none' })), { from: 'branch' });
  assert.deepEqual(standingOf(facts({ branch: 'b'.repeat(40) })), { from: 'branch' }, 'a person pushed to it');
});

test('closed or the branch deleted: held, and with the label rejected', () => {
  assert.deepEqual(standingOf(facts({ pullRequest: 'closed' })), { from: 'closed', isRejected: false, tip: null });
  assert.deepEqual(standingOf(facts({ branch: null })), { from: 'closed', isRejected: false, tip: null });
  assert.deepEqual(standingOf(facts({ pullRequest: 'closed', isRejected: true })), {
    from: 'closed',
    isRejected: true,
    tip: null,
  });
});

test('a host that cannot be asked stops the night, even with the branch there: a close must not be overlooked', () => {
  assert.deepEqual(standingOf(facts({ pullRequest: 'unknown' })), { from: 'unknown' });
  assert.deepEqual(standingOf(facts({ pullRequest: 'unknown', branch: null })), { from: 'unknown' });
});
