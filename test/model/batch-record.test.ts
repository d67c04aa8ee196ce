import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BatchRecord, batchFields, batchFrom } from '../../scripts/model/batch-record.ts';
import { emptyNightRecord, formatNightRecord, parseNightRecord } from '../../scripts/state/night-record.ts';

const batch: BatchRecord = {
  id: 'batch_1',
  status: 'in_progress',
  expiresAt: 1_796_094_000,
  files: ['file-1'],
  hash: 'ab'.repeat(16),
  runId: 'cd'.repeat(8),
  submittedAt: 1_796_007_600,
  wire: 'chat',
  model: 'small',
  reserved: { tokens: 9_000, microUsd: 12 },
  requests: [{ threadId: 'a.thread', watermark: 1_796_000_000, key: 'ef'.repeat(32) }],
};

const write = (fields: unknown): unknown => JSON.parse(JSON.stringify(fields));

test('the record of a batch is the same after it was written and read', () => {
  assert.deepEqual(batchFrom(write(batchFields(batch))), batch);
  assert.deepEqual(batchFrom(write(batchFields({ ...batch, expiresAt: null }))), { ...batch, expiresAt: null });
  const night = { ...emptyNightRecord, batches: [batch] };
  assert.deepEqual(parseNightRecord(formatNightRecord(night)), night);
});

test('without a batch the record of a night is what it was before there were any', () => {
  assert.doesNotMatch(formatNightRecord(emptyNightRecord), /batch/);
});

for (const [what, change] of [
  ['an id that is a path', { id: '../../models' }],
  ['an id with two dots in it', { id: 'a..b' }],
  ['no status', { status: 'sleeping' }],
  ['a file that is a path', { files: ['a/b'] }],
  ['files that are no list', { files: 'file-1' }],
  ['a broken hash', { hash: 'xyz' }],
  ['a time that is no number', { submittedAt: 'yesterday' }],
  ['a fraction of a token', { reserved: { tokens: 0.5, microUsd: 0 } }],
  ['another wire', { wire: 'telex' }],
  ['requests that are no list', { requests: {} }],
  ['a request without a thread', { requests: [`${'ef'.repeat(32)} 1 `] }],
  ['a thread that is a path', { requests: [`${'ef'.repeat(32)} 1 a/b`] }],
  ['an expiry that is a text', { expiresAt: 'soon' }],
] as const) {
  test(`a record with ${what} is refused by its place`, () => {
    const fields = { ...batchFields(batch), ...change };
    assert.equal(batchFrom(write(fields)), null);
    const text = formatNightRecord({ ...emptyNightRecord, batches: [batch] });
    const value = JSON.parse(text);
    value.batches[0] = fields;
    assert.throws(() => parseNightRecord(JSON.stringify(value)), {
      message: /batches\[0\] should be the record of a batch/,
    });
  });
}
