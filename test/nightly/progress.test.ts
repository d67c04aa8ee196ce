import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeLeft } from '../../scripts/nightly/progress.ts';

test('the time left follows from what was done so far', () => {
  assert.equal(timeLeft(10_000, 10, 40), '30 s left');
  assert.equal(timeLeft(60_000, 10, 70), '6 min left');
});

test('nothing is promised at the start, at the end, or for a moment', () => {
  assert.equal(timeLeft(10_000, 1, 40), '');
  assert.equal(timeLeft(10_000, 40, 40), '');
  assert.equal(timeLeft(100, 20, 40), '');
  assert.equal(timeLeft(0, 0, 0), '');
});
