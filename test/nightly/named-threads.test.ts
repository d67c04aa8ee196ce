import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedThreads } from '../../scripts/nightly/reading.ts';
import { day } from '../../scripts/shared/clock.ts';
import type { Files } from '../../scripts/shared/files.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import type { State } from '../../scripts/state/database.ts';
import { evidenceOf } from '../../scripts/state/evidence.ts';
import { prune } from '../../scripts/state/prune.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { getThread } from '../../scripts/state/threads.ts';
import { inputFiles } from '../../scripts/workspace/inputs.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { dayAt, withOutput } from '../support/state-rows.ts';

const nowhere = { memories: new Map(), defaultMemories: new Map(), closed: new Map() };
const policy = { now: dayAt(140), maxUnusedDays: 30, reachedAt: null };

/** A state of two sessions that nobody has used for long. */
async function twoOldSessions(): Promise<State> {
  const state = await emptyState();
  for (const id of ['standing', 'gone'])
    withOutput(state, id, { thread: { updatedAt: dayAt(60), firstSeenAt: dayAt(60) } });
  return state;
}

function inputsOf(threadId: string): Files {
  const row = { threadId, repo: 'github.com/acme/app', cwd: '.', branch: null, stem: `a-summary-of-${threadId}` };
  const times = { updatedAt: dayAt(60), startedAt: dayAt(60), rolloutPath: `2026/01/01/${threadId}.jsonl` };
  return inputFiles([{ ...row, ...times, rawMemory: '- A line. (@1)', rolloutSummary: 'What was done.' }]);
}

test('a session whose summary stands is known to the state however old it is, and is let go of with the summary', async () => {
  const places = {
    'what the night builds on': { memories: inputsOf('standing') },
    'the default branch, from which a proposal takes it': { defaultMemories: inputsOf('standing') },
    'what was closed and may be opened again': { closed: new Map([['7', new Map([['a', inputsOf('standing')]])]]) },
  };
  for (const [place, start] of Object.entries(places)) {
    const state = await twoOldSessions();
    prune(state, { ...policy, namedThreads: namedThreads({ ...nowhere, ...start, state }) });
    assert.ok(getThread(state, 'standing'), place);
    assert.equal(evidenceOf(state, 'standing').length, 1, place);
    assert.equal(getThread(state, 'gone'), null, place);
    prune(state, { ...policy, now: policy.now + day, namedThreads: namedThreads({ ...nowhere, state }) });
    assert.equal(getThread(state, 'standing'), null, place);
  }
});

test('a session that a line of the default branch rests on is known, though the proposal took the line away', async () => {
  const state = await twoOldSessions();
  const line = `- Lines rest on items. [${shortThreadId('standing')}@1]`;
  const defaultMemories = new Map([[handbookPath, `# Task Group: App\n\n## User preferences\n${line}\n`]]);
  prune(state, { ...policy, namedThreads: namedThreads({ ...nowhere, state, defaultMemories }) });
  assert.ok(getThread(state, 'standing'));
  assert.equal(getThread(state, 'gone'), null);
});
