import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedThreads } from '../../scripts/nightly/reading.ts';
import { day } from '../../scripts/shared/clock.ts';
import { evidenceOf } from '../../scripts/state/evidence.ts';
import { prune } from '../../scripts/state/prune.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { getThread } from '../../scripts/state/threads.ts';
import { inputFiles } from '../../scripts/workspace/inputs.ts';
import { dayAt, withOutput } from '../support/state-rows.ts';

test('a session whose summary stands is known to the state however old it is, and is let go of with the summary', async () => {
  const state = await emptyState();
  for (const id of ['standing', 'gone'])
    withOutput(state, id, { thread: { updatedAt: dayAt(60), firstSeenAt: dayAt(60) } });
  const row = { threadId: 'standing', repo: 'github.com/acme/app', cwd: '.', branch: null, stem: 'a-standing-summary' };
  const times = { updatedAt: dayAt(60), startedAt: dayAt(60), rolloutPath: '2026/01/01/standing.jsonl' };
  const memories = inputFiles([{ ...row, ...times, rawMemory: '- A line. (@1)', rolloutSummary: 'What was done.' }]);
  const policy = { now: dayAt(140), maxUnusedDays: 30, reachedAt: null };
  prune(state, { ...policy, namedThreads: namedThreads({ state, memories }) });
  assert.ok(getThread(state, 'standing'));
  assert.equal(evidenceOf(state, 'standing').length, 1);
  assert.equal(getThread(state, 'gone'), null);
  const none = namedThreads({ state, memories: new Map() });
  prune(state, { ...policy, now: policy.now + day, namedThreads: none });
  assert.equal(getThread(state, 'standing'), null);
});
