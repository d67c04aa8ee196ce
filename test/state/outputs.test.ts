import assert from 'node:assert/strict';
import test from 'node:test';
import { citationsOf, recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordNothing } from '../../scripts/state/extraction.ts';
import { outputOf, outputsOf, putOutput } from '../../scripts/state/outputs.ts';
import { emptyState, openState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { setMemoryMode, upsertThread } from '../../scripts/state/threads.ts';
import { liftTombstone, setTombstone } from '../../scripts/state/tombstones.ts';
import type { CitationRow } from '../../scripts/state/types.ts';
import { aCitation, anOutput, aThread, dayAt, mustClaim, scope, withOutput } from '../support/state-rows.ts';

const window = { from: dayAt(80), to: dayAt(110) };

async function aState(...threads: readonly string[]): Promise<State> {
  const state = await emptyState();
  for (const thread of threads) withOutput(state, thread);
  return state;
}

function ids(state: State): string[] {
  return outputsOf(state, scope, window).map((output) => output.threadId);
}

function cite(state: State, ...rows: readonly CitationRow[]): number {
  return recordCitations(state, rows, { now: dayAt(110), horizon: dayAt(70) });
}

test('a scope’s outputs come by thread id, of its own threads alone', async () => {
  const state = await aState('c', 'a', 'b');
  withOutput(state, 'd', { thread: { repo: 'github.com/acme/other' } });
  assert.deepEqual(ids(state), ['a', 'b', 'c']);
  assert.equal(outputsOf(state, scope, window)[0]?.thread.title, 'Make the tests pass');
});

test('outputs without words and threads without outputs are not among them', async () => {
  const state = await aState('a');
  upsertThread(state, aThread('b'));
  recordNothing(state, mustClaim(state, 'b'), anOutput());
  upsertThread(state, aThread('c'));
  withOutput(state, 'd', { output: { rawMemory: ' \n', rolloutSummary: '' } });
  assert.deepEqual(ids(state), ['a']);
});

test('a summary alone is enough', async () => {
  const state = await emptyState();
  withOutput(state, 'a', { output: { rawMemory: '' } });
  assert.deepEqual(ids(state), ['a']);
});

test('texts come back as they were written, whatever script they are in; what SQLite cannot hold as U+FFFD', async () => {
  const state = await emptyState();
  const long = 'Réponds en français — 漢字, emoji 🙂, \u001f, "quotes", \\backslashes\n'.repeat(2_000);
  withOutput(state, 'a', { output: { rawMemory: long, rolloutSummary: 'nul \0, half \ud800, whole 🙂' } });
  withOutput(state, 'b', { output: { rawMemory: '', rolloutSummary: 'only a summary' } });
  const reopened = await openState(snapshotOf(state));
  for (const each of [state, reopened]) {
    const [a, b] = outputsOf(each, scope, window);
    assert.deepEqual([a?.rawMemory, a?.rolloutSummary], [long, 'nul \ufffd, half \ufffd, whole 🙂']);
    assert.deepEqual([b?.rawMemory, b?.rolloutSummary], ['', 'only a summary']);
  }
});

test('when the best class found nothing, a lesser one’s words are not shown', async () => {
  const state = await emptyState();
  withOutput(state, 'a', { extractorClass: 'builtin' });
  recordNothing(state, mustClaim(state, 'a', { extractorClass: 'llm' }), anOutput());
  assert.deepEqual(ids(state), []);
});

test('a disabled thread is left out and comes back when it is enabled; the selection decides about a polluted one', async () => {
  const state = await aState('a', 'b', 'c');
  setMemoryMode(state, 'a', 'disabled', dayAt(101));
  setMemoryMode(state, 'b', 'disabled', dayAt(101));
  assert.deepEqual(ids(state), ['c']);
  setMemoryMode(state, 'a', 'enabled', dayAt(101));
  assert.deepEqual(ids(state), ['a', 'c']);
});

test('a tombstone over a thread or its author hides the output until it is lifted', async () => {
  const state = await aState('a', 'b');
  withOutput(state, 'c', { thread: { author: 'eve' } });
  withOutput(state, 'd', { thread: { author: null } });
  const common = { reason: 'forget', runId: null, pullRequest: null, setAt: dayAt(101) };
  setTombstone(state, { kind: 'thread', key: 'a', ...common });
  setTombstone(state, { kind: 'author', key: 'eve', ...common });
  setTombstone(state, { kind: 'evidence', key: `b 3 ${scope}`, ...common });
  assert.deepEqual(ids(state), ['b', 'd']);
  liftTombstone(state, 'author', 'eve', dayAt(102));
  assert.deepEqual(ids(state), ['b', 'c', 'd']);
});

test('an older output never replaces a newer one of its class', async () => {
  const state = await aState('a');
  const common = { threadId: 'a', extractorClass: 'llm' } as const;
  putOutput(state, { ...anOutput({ sourceUpdatedAt: dayAt(99), rolloutSummary: 'older' }), ...common });
  assert.equal(outputOf(state, 'a')?.rolloutSummary, 'The tests pass.');
  putOutput(state, { ...anOutput({ rolloutSummary: 'as old' }), ...common });
  assert.equal(outputOf(state, 'a')?.rolloutSummary, 'as old');
});

test('use counts one vote a person and day, and the last one tells when', async () => {
  const state = await aState('a', 'b');
  cite(
    state,
    aCitation('1', 'a', { author: 'ada', at: dayAt(90) }),
    aCitation('2', 'a', { author: 'ada', at: dayAt(90) + 86_399, citingThread: 'other' }),
    aCitation('3', 'a', { author: 'ada', at: dayAt(91) }),
    aCitation('4', 'a', { author: 'bob', at: dayAt(91) }),
    aCitation('5', 'a', { author: null, at: dayAt(91), citingThread: 'x' }),
    aCitation('6', 'a', { author: null, at: dayAt(91), citingThread: 'y' }),
  );
  const [a, b] = outputsOf(state, scope, window);
  assert.deepEqual([a?.usageCount, a?.lastUsage], [5, dayAt(91)]);
  assert.deepEqual([b?.usageCount, b?.lastUsage], [0, null]);
});

test('reading is no use, and what lies outside the window does not count', async () => {
  const state = await aState('a');
  cite(
    state,
    aCitation('1', 'a', { kind: 'read', at: dayAt(90) }),
    aCitation('2', 'a', { at: dayAt(79) }),
    aCitation('3', 'a', { at: dayAt(80) }),
  );
  const [a] = outputsOf(state, scope, window);
  assert.deepEqual([a?.usageCount, a?.lastUsage], [1, dayAt(80)]);
});

test('an event is counted once however often it is seen; one below the horizon never', async () => {
  const state = await aState('a');
  assert.equal(cite(state, aCitation('1', 'a'), aCitation('1', 'a'), aCitation('2', 'a', { at: dayAt(69) })), 1);
  assert.equal(cite(state, aCitation('1', 'a', { at: dayAt(105) })), 0);
  assert.deepEqual(citationsOf(state, 'a'), [aCitation('1', 'a')]);
});

test('a citation from a clock that runs ahead counts as of now', async () => {
  const state = await aState('a');
  cite(state, aCitation('1', 'a', { at: dayAt(9_000) }));
  assert.equal(outputsOf(state, scope, window)[0]?.lastUsage, dayAt(110));
});

test('a thread cited before it is known counts once it is', async () => {
  const state = await emptyState();
  cite(state, aCitation('1', 'a'));
  withOutput(state, 'a');
  assert.equal(outputsOf(state, scope, window)[0]?.usageCount, 1);
});
