import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceRows } from '../../scripts/phase1/evidence.ts';
import { sha256 } from '../../scripts/shared/thread-id.ts';
import { aThread, itemsOf } from '../support/session-events.ts';

const items = itemsOf([
  { human: 'Maybe we should use tabs here.' },
  { human: 'Use tabs here.' },
  { run: 'npm test', out: 'maybe ok' },
]);
const textWith = (rawMemory: string) => ({ rolloutSummary: '- b (@2)', rolloutSlug: '', rawMemory });

test('every cited item has one row with its place, its author and the hash of its text', () => {
  const [row, ...more] = evidenceRows(aThread, items, textWith('- a (@2,2) (@2)'));
  assert.deepEqual(more, []);
  assert.deepEqual(row, {
    threadId: aThread.id,
    n: '2',
    who: 'human',
    at: 1_795_995_774,
    line: 2,
    srcId: 'r2',
    author: 'dana',
    hash: sha256('Use tabs here.').slice(0, 32),
    hedged: false,
  });
});

test('a number that no item has is ignored', () => {
  assert.deepEqual(
    evidenceRows(aThread, items, textWith('- a (@7,9:1,2.5)')).map((row) => row.n),
    ['2'],
  );
});

test('a hedge is flagged on words, not on what a tool prints; a tool has no author', () => {
  const rows = evidenceRows(aThread, items, textWith('- a (@4,1)'));
  assert.deepEqual(
    rows.map((row) => [row.n, row.hedged, row.author]),
    [
      ['1', true, 'dana'],
      ['2', false, 'dana'],
      ['4', false, null],
    ],
  );
});
