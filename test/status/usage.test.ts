import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordShown } from '../../scripts/state/shown.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { usageOf } from '../../scripts/status/usage.ts';
import { usageJson, usageText } from '../../scripts/status/usage-text.ts';
import { aCitation, aThread, dayAt, scope, withOutput } from '../support/state-rows.ts';

const [a, b, c] = ['a', 'b', 'c'].map(shortThreadId) as [string, string, string];
const now = dayAt(110);
const memories = new Map([
  [
    'memories/MEMORY.md',
    `# Task Group: tests\nscope: tests\napplies_to: repo=${scope}; cwd=.; reuse_rule=here\n\n## Reusable knowledge\n- one [${a}@3] [${b}@4]\n- two [${a}@9]\n\n# Task Group: ports\nscope: ports\napplies_to: repo=${scope}; cwd=.; reuse_rule=here\n\n## Reusable knowledge\n- three [${c}@3]\n`,
  ],
]);

async function aState(): Promise<State> {
  const state = await emptyState();
  for (const id of ['a', 'b']) withOutput(state, id);
  withOutput(state, 'd', { thread: { title: 'Red \u001b[31m title' } });
  upsertThread(state, aThread('c'));
  upsertThread(state, aThread('nothing'));
  for (const id of ['s1', 's2', 's3'])
    upsertThread(state, aThread(id, { agent: id === 's3' ? 'claude-code' : 'codex' }));
  const at = dayAt(105);
  recordShown(state, [
    { threadId: 's1', author: 'ada', at, injected: [a, b], retrieved: [b], read: [] },
    { threadId: 's2', author: 'bob', at: at + 60, injected: [a], retrieved: [], read: [a] },
    { threadId: 's3', author: 'bob', at: dayAt(70), injected: [a], retrieved: [], read: [a] },
  ]);
  const cite = (event: string, cited: string, author: string) =>
    aCitation(event, cited, { author, citingThread: 's1', at });
  recordCitations(state, [cite('1', 'a', 'ada'), cite('2', 'b', 'ada'), cite('3', 'a', 'bob'), cite('4', 'x', 'bob')], {
    now,
    horizon: null,
  });
  return state;
}

test('found, given, read and cited are told apart, of every memory and in the window only', async () => {
  const { threads } = usageOf(await aState(), memories, 30, now);
  assert.deepEqual(
    threads.map(({ threadId, retrieved, injected, read, cited, last }) => [
      threadId,
      retrieved,
      injected,
      read,
      cited,
      last,
    ]),
    [
      ['a', 0, 2, 1, 2, dayAt(105) + 60],
      ['b', 1, 1, 0, 1, dayAt(105)],
      ['c', 0, 0, 0, 0, null],
      ['d', 0, 0, 0, 0, null],
    ],
  );
});

test('a block’s sessions and a person’s day count once, however many of its threads they met', async () => {
  const { blocks } = usageOf(await aState(), memories, 30, now);
  assert.deepEqual(
    blocks.map(({ title, line, retrieved, injected, read, cited }) => [title, line, retrieved, injected, read, cited]),
    [
      ['tests', 1, 1, 2, 1, 2],
      ['ports', 9, 0, 0, 0, 0],
    ],
  );
});

test('an agent’s sessions that were given memory and those that cite are counted', async () => {
  assert.deepEqual(usageOf(await aState(), memories, 30, now).agents, [{ agent: 'codex', injected: 2, citing: 1 }]);
});

test('as text it names what is used first and what nobody cites, and escapes words of sessions', async () => {
  const text = usageText(usageOf(await aState(), memories, 30, now));
  assert.match(text, /^agents +codex: 2 sessions given memory, 1 cite$/m);
  assert.match(text, /^MEMORY\.md:1 +1 +2 +1 +2 +1970-04-16T00:01:00Z +tests$/m);
  assert.match(text, new RegExp(`^${a} +0 +2 +1 +2 `, 'm'));
  assert.match(text, /never +Red .*title$/m);
  assert.ok(!text.includes('\u001b'));
  assert.match(text, /^2 of 4 sessions' memories were not cited\./m);
  assert.equal(usageText(usageOf(await emptyState(), new Map(), 30, now)), 'There is no memory yet: npm run nightly.');
});

test('for machines it names every thread, block and agent', async () => {
  const json = usageJson(usageOf(await aState(), memories, 30, now));
  assert.deepEqual(Object.keys(json), ['window_days', 'threads', 'blocks', 'agents']);
  assert.deepEqual((json.threads as object[])[1], {
    thread_id: 'b',
    short_id: b,
    repo: scope,
    title: 'Make the tests pass',
    retrieved: 1,
    injected: 1,
    read: 0,
    cited: 1,
    last_at: dayAt(105),
  });
});
