import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepBoth } from '../../scripts/doctor/keep.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { outputsOf } from '../../scripts/state/outputs.ts';
import { listShown, maxShownIds, readCounts, recordShown, shownUpTo } from '../../scripts/state/shown.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import type { ShownRow } from '../../scripts/state/types.ts';
import { dayAt, scope, withOutput } from '../support/state-rows.ts';

const window = { from: dayAt(80), to: dayAt(110) };

function aShown(threadId: string, given: Partial<ShownRow> = {}): ShownRow {
  return { threadId, author: 'ada', at: dayAt(101), injected: [], retrieved: [], read: [], ...given };
}

test('a session has one row: what it was shown when it was last seen, and an older copy changes nothing', async () => {
  const state = await emptyState();
  assert.equal(shownUpTo(state, 's'), null);
  recordShown(state, [aShown('s', { injected: ['aaaaaaaa'] })]);
  recordShown(state, [aShown('s', { at: dayAt(102), injected: ['aaaaaaaa', 'bbbbbbbb'], read: ['cccccccc'] })]);
  recordShown(state, [aShown('s', { at: dayAt(90), injected: ['dddddddd'] })]);
  assert.deepEqual(listShown(state), [
    aShown('s', { at: dayAt(102), injected: ['aaaaaaaa', 'bbbbbbbb'], read: ['cccccccc'] }),
  ]);
  assert.equal(shownUpTo(state, 's'), dayAt(102));
});

test('a memory is read once a person and day, within the window', async () => {
  const state = await emptyState();
  const read = ['aaaaaaaa', 'bbbbbbbb'];
  const unwanted = ['dddddddd'];
  recordShown(state, [
    aShown('s1', { read }),
    aShown('s2', { read, at: dayAt(101) + 86_399 }),
    aShown('s3', { read: [...read, ...unwanted], author: 'bob' }),
    aShown('s4', { read: ['bbbbbbbb'], author: null }),
    aShown('s5', { read, at: dayAt(79) }),
    aShown('s6', { injected: read, retrieved: read, author: 'eve' }),
  ]);
  assert.deepEqual([...readCounts(state, window, new Set([...read, 'cccccccc']))].sort(), [
    ['aaaaaaaa', 2],
    ['bbbbbbbb', 3],
  ]);
});

test('an output says how often its thread was read', async () => {
  const state = await emptyState();
  withOutput(state, 'a');
  withOutput(state, 'b');
  recordShown(state, [aShown('s', { read: [shortThreadId('b')] })]);
  assert.deepEqual(
    outputsOf(state, scope, window).map(({ threadId, readCount, lastUsage }) => [threadId, readCount, lastUsage]),
    [
      ['a', 0, null],
      ['b', 1, null],
    ],
  );
});

test('a row keeps the first of its ids, and two states that grew apart keep both’s rows', async () => {
  const ours = await emptyState();
  const theirs = await emptyState();
  const many = Array.from({ length: maxShownIds + 50 }, (_, n) => `aaaa${String(n).padStart(4, '2')}`);
  recordShown(ours, [aShown('s', { injected: many })]);
  assert.equal(listShown(ours)[0]?.injected.length, maxShownIds);
  recordShown(theirs, [aShown('other', { read: ['aaaaaaaa'] })]);
  keepBoth(ours, theirs, dayAt(102));
  assert.deepEqual(
    listShown(ours).map(({ threadId }) => threadId),
    ['other', 's'],
  );
});
