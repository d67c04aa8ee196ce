import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgottenIn, withoutForgotten, withoutHiddenBullets } from '../../scripts/phase2/forgotten.ts';
import { inputRow } from '../../scripts/phase2/rows.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { evidenceKey, setTombstone } from '../../scripts/state/tombstones.ts';
import { inputFiles } from '../../scripts/workspace/inputs.ts';
import { handbookPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { anOutput, aThreadRow, day } from '../support/rows.ts';

const shop = 'git.example.test/acme/shop';
const api = 'git.example.test/acme/api';
const [t1, t2] = ['thread-1', 'thread-2'];
const [a, b] = [shortThreadId(t1), shortThreadId(t2)];

async function aState(...hidden: readonly [thread: string, n: string, scope: string][]) {
  const state = await emptyState();
  for (const [id, repo] of [
    [t1, shop],
    [t2, api],
  ] as const)
    upsertThread(state, aThreadRow(id, { repo }));
  for (const [thread, n, scope] of hidden) {
    const key = evidenceKey(thread, n, scope);
    setTombstone(state, { kind: 'evidence', key, reason: 'test', runId: null, pullRequest: null, setAt: day(1) });
  }
  return state;
}

function handbook(...bullets: readonly string[]): string {
  const head = `# Task Group: Build\nscope: building\napplies_to: repo=${shop}; cwd=.; reuse_rule=here\n`;
  return `${head}\n## Reusable knowledge\n${bullets.map((bullet) => `${bullet}\n`).join('')}`;
}

test('a bullet of which everything is hidden leaves the state to compare with, unless it stands today', async () => {
  const forgotten = forgottenIn(await aState([t1, '4', shop]), shop);
  const [gone, other] = [`- the zebra\n  cache [${a}@4]`, `- the port [${a}@5]`];
  const before = new Map([[handbookPath, handbook(gone, other)]]);
  const today = new Map([[handbookPath, handbook(other)]]);
  assert.deepEqual(withoutForgotten(before, today, forgotten), today);
  assert.deepEqual(withoutForgotten(before, before, forgotten), before);
});

test('without a tombstone nothing is touched', async () => {
  const forgotten = forgottenIn(await aState(), shop);
  const files = new Map([[handbookPath, handbook(`- the zebra [${a}@4]`)]]);
  assert.equal(withoutForgotten(files, new Map(), forgotten), files);
});

test('raw memories and summaries lose the lines of hidden items, thread by thread', async () => {
  const forgotten = forgottenIn(await aState([t1, '4', shop]), shop);
  const rows = [t1, t2].map((id) => {
    const text = '- zebra (@4)\n- port (@4,5)';
    const row = inputRow(anOutput(id, { rawMemory: text, rolloutSummary: text }), () => false);
    assert.ok(row);
    return row;
  });
  const files = withoutForgotten(inputFiles(rows), new Map(), forgotten);
  const raw = files.get(rawMemoriesPath) ?? '';
  assert.deepEqual(raw.match(/^- .*$/gm), ['- port (@5)', '- zebra (@4)', '- port (@4,5)']);
  assert.equal([...files.values()].filter((text) => text.includes('zebra')).length, 2, 'only the other thread’s');
});

test('an output of which nothing with evidence is left gives no input', () => {
  const output = anOutput(t1, { rawMemory: '### Task 1: x\n- zebra (@4)', rolloutSummary: '# x\n- zebra (@4)' });
  assert.equal(
    inputRow(output, (n) => n === '4'),
    null,
  );
  const silent = anOutput(t1, { rawMemory: 'words alone', rolloutSummary: 'words alone' });
  assert.notEqual(
    inputRow(silent, (n) => n === '4'),
    null,
    'what never had evidence loses nothing',
  );
});

test('a tombstone of a repository hides its item from the scope of all repositories, not the other way round', async () => {
  const inRepository = await aState([t1, '4', shop]);
  assert.ok(forgottenIn(inRepository, '*').hidesShort(a, '4'));
  const everywhere = await aState([t1, '4', '*']);
  assert.ok(!forgottenIn(everywhere, shop).hidesShort(a, '4'));
  const digest = handbook(`- the zebra [${a}@4]`, `- shared [${a}@4] [${b}@7]`);
  const shown = withoutHiddenBullets(digest, forgottenIn(everywhere, '*'));
  assert.equal(shown, handbook(`- shared [${a}@4] [${b}@7]`));
});
