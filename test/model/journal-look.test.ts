import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJournal } from '../../scripts/model/journal.ts';
import { lookAtJournal } from '../../scripts/model/journal-look.ts';
import { temporaryFolder } from '../support/repository.ts';

test('looking at a journal counts what a dead night left, and leaves every count to the next night', async (t) => {
  const folder = join(temporaryFolder(t), 'memory', 'journal');
  assert.deepEqual(lookAtJournal(folder).underWay, []);
  assert.ok(!existsSync(folder), 'nothing is made');
  const request = { purpose: 'phase1', subject: 'a', promptHash: '', model: 'm', attempt: 1, messages: [] } as const;
  const usage = { requests: 1, input: 90, cached: 0, output: 10 };
  const reply = { text: '{}', toolCalls: [], finish: 'stop', usage, model: 'm' } as const;
  const journal = openJournal(folder, (text) => text);
  for (const key of ['1'.repeat(64), '2'.repeat(64)])
    await journal.put(key, { ...request, maxOutputTokens: 10 }, reply, 0.5);
  await journal.reject('2'.repeat(64), 'no JSON');
  journal.begin('a', 'rollout');
  journal.begin('b', 'rollout');
  journal.end('b');
  for (let look = 0; look < 3; look += 1) {
    const { problems, died, ...seen } = lookAtJournal(folder);
    assert.deepEqual(seen, { answers: 1, rejected: 1, tokens: 200, usd: 1, underWay: ['a'] });
    assert.deepEqual([problems, died.size], [[], 0]);
  }
  assert.deepEqual([...openJournal(folder, (text) => text).diedAttempts()], [['a', 1]]);
  const { underWay, died } = lookAtJournal(folder);
  assert.deepEqual([underWay, [...died]], [[], [['a', 1]]]);
  writeFileSync(join(folder, 'answers', `${'1'.repeat(64)}.json`), 'half');
  assert.match(lookAtJournal(folder).problems[0] ?? '', /damaged/);
});
