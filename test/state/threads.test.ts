import assert from 'node:assert/strict';
import test from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { evidenceOf } from '../../scripts/state/evidence.ts';
import { jobOf } from '../../scripts/state/jobs.ts';
import { outputOf } from '../../scripts/state/outputs.ts';
import { recordConsolidated } from '../../scripts/state/scopes.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import {
  deleteThread,
  getThread,
  listThreads,
  setMemoryMode,
  threadByShortId,
  upsertThread,
} from '../../scripts/state/threads.ts';
import { aThread, dayAt, mustClaimScope, scope, withOutput } from '../support/state-rows.ts';

test('a thread comes back as it was written, ordered by id', async () => {
  const state = await emptyState();
  const rows = [
    aThread('b', { author: null, branch: null, commit: 'c0ffee', aliases: ['host/fork', 'host/"odd"'], cwd: '~/x' }),
    aThread('a', { title: 'ключ 🔑', memoryMode: 'disabled' }),
  ];
  for (const row of rows) upsertThread(state, row);
  assert.deepEqual(listThreads(state), rows.toReversed());
  assert.equal(getThread(state, 'z'), null);
});

test('a session that goes on keeps when it was first seen and its mode', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a', { memoryMode: 'polluted' }));
  upsertThread(state, aThread('a', { updatedAt: dayAt(105), firstSeenAt: dayAt(105), title: 'More' }));
  assert.deepEqual(
    getThread(state, 'a'),
    aThread('a', { updatedAt: dayAt(105), title: 'More', memoryMode: 'polluted' }),
  );
});

test('an older copy of a session changes nothing', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  upsertThread(state, aThread('a', { updatedAt: dayAt(99), title: 'Before' }));
  assert.deepEqual(getThread(state, 'a'), aThread('a'));
});

test('a short id leads to its thread', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  assert.equal(threadByShortId(state, shortThreadId('a'))?.threadId, 'a');
  assert.equal(threadByShortId(state, shortThreadId('b')), null);
});

test('taking a selected thread out wakes its scope, also a second time; any other does not', async () => {
  const state = await emptyState();
  withOutput(state, 'a');
  withOutput(state, 'b');
  const selected = {
    threadId: 'a',
    extractorClass: 'llm',
    sourceUpdatedAt: dayAt(100),
    selectedAt: dayAt(101),
  } as const;
  const result = { selected: [selected], watermark: 1, consolidatorClass: 'llm', now: dayAt(101) } as const;
  recordConsolidated(state, mustClaimScope(state), result);
  const watermark = () => jobOf(state, 'memory_consolidate', scope)?.inputWatermark ?? 0;
  const before = watermark();
  setMemoryMode(state, 'b', 'disabled', dayAt(102));
  assert.equal(watermark(), before);
  setMemoryMode(state, 'a', 'polluted', dayAt(102));
  assert.equal(watermark(), dayAt(102));
  setMemoryMode(state, 'a', 'polluted', dayAt(102));
  assert.equal(watermark(), dayAt(102) + 1);
  assert.equal(setMemoryMode(state, 'unknown', 'disabled', dayAt(102)), false);
});

test('deleting a thread takes its outputs, evidence and job; its scope wakes only if it had selected it', async () => {
  const state = await emptyState();
  withOutput(state, 'a', { extractorClass: 'builtin' });
  withOutput(state, 'a', { extractorClass: 'llm' });
  withOutput(state, 'b');
  const selected = {
    threadId: 'b',
    extractorClass: 'llm',
    sourceUpdatedAt: dayAt(100),
    selectedAt: dayAt(101),
  } as const;
  const result = { selected: [selected], watermark: 1, consolidatorClass: 'llm', now: dayAt(101) } as const;
  recordConsolidated(state, mustClaimScope(state), result);
  const status = () => jobOf(state, 'memory_consolidate', scope)?.status;
  deleteThread(state, 'a', dayAt(102));
  assert.deepEqual(
    [getThread(state, 'a'), outputOf(state, 'a'), jobOf(state, 'memory_stage1', 'a')],
    [null, null, null],
  );
  assert.deepEqual(evidenceOf(state, 'a'), []);
  assert.ok(outputOf(state, 'b'));
  assert.equal(status(), 'done');
  deleteThread(state, 'b', dayAt(102));
  assert.equal(status(), 'pending');
});
