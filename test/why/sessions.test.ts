import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import type { State } from '../../scripts/state/database.ts';
import { putEvidence } from '../../scripts/state/evidence.ts';
import { setMeta } from '../../scripts/state/meta.ts';
import { putOutput } from '../../scripts/state/outputs.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { deleteThread, setMemoryMode, upsertThread } from '../../scripts/state/threads.ts';
import { evidenceKey, liftTombstone, setTombstone } from '../../scripts/state/tombstones.ts';
import { brushOf } from '../../scripts/why/brush.ts';
import { sessionText } from '../../scripts/why/session-text.ts';
import { sessionsBehind } from '../../scripts/why/sessions.ts';
import { anItem, anOutput, aThread, dayAt, scope } from '../support/state-rows.ts';

const line = { scope, threadId: null, evidence: [{ thread: shortThreadId('t-1'), items: ['3', '9'] }] };

test('a session shows what it was, what phase 1 made of it, and each item that the line cites', async () => {
  const [session] = sessionsBehind(await aState(), line);
  assert.equal(session?.fate, null);
  assert.equal(session?.output?.runId, 'run-1');
  assert.deepEqual(
    session?.items.map(({ n, row, forgotten }) => [n, row?.who ?? null, forgotten]),
    [
      ['3', 'human', null],
      ['9', null, null],
    ],
  );
  assert.match(told(await aState()), /@9 {2}the state has no such item/);
});

test('a session that was forgotten, taken out, pruned or never known says which', async () => {
  const cases: [string, (state: State) => unknown, RegExp][] = [
    ['thread', (state) => forget(state, 'thread', 't-1'), /was forgotten at 1970-04-20T00:00:00Z: she asked/],
    ['author', (state) => forget(state, 'author', 'ada'), /Its author's sessions were forgotten .*: she asked/],
    ['disabled', (state) => setMemoryMode(state, 't-1', 'disabled', dayAt(109)), /was taken out of the memory\./],
    [
      'polluted',
      (state) => setMemoryMode(state, 't-1', 'polluted', dayAt(109)),
      /saw what nothing may be learned from/,
    ],
    ['output', (state) => state.run('delete from stage1_outputs'), /What was made of this session has been let go/],
    [
      'pruned',
      (state) => {
        deleteThread(state, 't-1', dayAt(109));
        setMeta(state, 'horizon', String(dayAt(105)));
      },
      /older than 1970-04-16T00:00:00Z/,
    ],
    ['unknown', (state) => deleteThread(state, 't-1', dayAt(109)), /knows no such session/],
  ];
  for (const [name, change, expected] of cases) {
    const state = await aState();
    change(state);
    assert.match(told(state), expected, name);
  }
});

test('a forgotten session is named although its rows are gone, since its tombstone stands', async () => {
  const state = await aState();
  forget(state, 'thread', 't-1');
  deleteThread(state, 't-1', dayAt(110));
  assert.deepEqual(
    sessionsBehind(state, line).map(({ threadId, thread, fate }) => [threadId, thread, fate?.kind]),
    [['t-1', null, 'forgotten']],
  );
});

test('an item under a tombstone says since when and why, in its scope and until it is lifted', async () => {
  const state = await aState();
  const key = evidenceKey('t-1', '3', scope);
  const common = { reason: 'a person removed the line', runId: null, pullRequest: null, setAt: dayAt(110) };
  setTombstone(state, { kind: 'evidence', key: evidenceKey('t-1', '3', 'another/scope'), ...common });
  assert.equal(sessionsBehind(state, line)[0]?.items[0]?.forgotten, null);
  setTombstone(state, { kind: 'evidence', key, ...common });
  assert.match(told(state), /forgotten since 1970-04-21T00:00:00Z: a person removed the line/);
  liftTombstone(state, 'evidence', key, dayAt(111));
  assert.equal(sessionsBehind(state, line)[0]?.items[0]?.forgotten, null);
});

test('a line of a session’s own file names that session, once, with or without items', async () => {
  const state = await aState();
  const own = { scope: '', threadId: 't-1' };
  assert.deepEqual(shown(state, { ...own, evidence: [] }), [['t-1', []]]);
  assert.deepEqual(shown(state, { ...own, evidence: [{ thread: shortThreadId('t-1'), items: ['3'] }] }), [
    ['t-1', ['3']],
  ]);
});

function shown(state: State, asked: Parameters<typeof sessionsBehind>[1]) {
  return sessionsBehind(state, asked).map(({ threadId, items }) => [threadId, items.map(({ n }) => n)]);
}

function told(state: State): string {
  const brush = brushOf(false);
  return sessionsBehind(state, line)
    .flatMap((session) => sessionText({ ...session, words: [] }, '', brush))
    .join('\n');
}

function forget(state: State, kind: 'thread' | 'author', key: string): void {
  setTombstone(state, { kind, key, reason: 'she asked', runId: null, pullRequest: null, setAt: dayAt(109) });
}

async function aState(): Promise<State> {
  const state = await emptyState();
  upsertThread(state, aThread('t-1'));
  putOutput(state, { ...anOutput(), threadId: 't-1', extractorClass: 'llm' });
  putEvidence(state, [anItem('t-1', '3')]);
  return state;
}
