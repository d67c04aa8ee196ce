import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutRequested } from '../../scripts/phase2/on-request.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordLines } from '../../scripts/state/lines.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { evidenceKey, liftTombstone, onRequest, setTombstone } from '../../scripts/state/tombstones.ts';
import type { TombstoneRow } from '../../scripts/state/types.ts';
import { inputFiles } from '../../scripts/workspace/inputs.ts';
import { handbookPath, rawMemoriesPath } from '../../scripts/workspace/layout.ts';
import { lineHash } from '../../scripts/workspace/lines.ts';
import { a, aBlock, aReference, aRow, b, first, repo, second } from '../workspace/samples.ts';

const task = `## Task 2: Ship it, success\n### rollout_summary_files\n${aReference(second)}\n### keywords\n- ship\n\n`;
const bullets = [`- the port is 4000 [${a}@3]`, `- the port is open [${a}@3] [${b}@3]`, `- ask twice [${b}@1]`];
const block = aBlock({ preferences: bullets, knowledge: [], failures: [] }).replace('## User', `${task}## User`);
const rows = [aRow(first), aRow(second, { rawMemory: '- run it twice (@3)\n- ask first (@1,3)' })];
const files = new Map([...inputFiles(rows), [handbookPath, block]]);

function hide(state: State, kind: TombstoneRow['kind'], key: string, reason = onRequest): void {
  setTombstone(state, { kind, key, reason, runId: null, pullRequest: null, setAt: 1 });
}

test('a session that was forgotten on request leaves no line, no mark, no reference and no input of its own', async () => {
  const state = await emptyState();
  hide(state, 'thread', first);
  const left = withoutRequested(state)(files);
  assert.deepEqual([...left.keys()], [handbookPath, rawMemoriesPath, `memories/rollout_summaries/${rows[1]?.stem}.md`]);
  const all = [...left.values()].join('\n');
  for (const word of [first, a, 'the port is 4000', 'Fix the build, success']) assert.ok(!all.includes(word), word);
  const handbook = left.get(handbookPath) ?? '';
  for (const line of ['## Task 1: Ship it, success', `- the port is open [${b}@3]`, bullets[2]])
    assert.ok(handbook.includes(`\n${line}\n`), line);
});

test('an item that was forgotten on request leaves the lines of its session that rest on others', async () => {
  const state = await emptyState();
  hide(state, 'evidence', evidenceKey(second, '3', repo));
  const left = withoutRequested(state)(files);
  assert.equal(left.size, files.size);
  const raw = left.get(rawMemoriesPath) ?? '';
  assert.ok(raw.includes('\n- ask first (@1)\n'), raw);
  assert.equal(raw.match(/run it twice/g)?.length, 1, 'the other session says it still');
  assert.ok(left.get(handbookPath)?.includes(`\n- the port is open [${a}@3]\n`));
});

test('a line that a person wrote stays as it is, unless it rests on nothing else', async () => {
  const state = await emptyState();
  hide(state, 'thread', first);
  const mine = (line: string) => ({ scope: repo, hash: lineHash(line), who: 'ada', since: 1 });
  recordLines(state, bullets.map(mine));
  const handbook = withoutRequested(state)(files).get(handbookPath) ?? '';
  assert.deepEqual(
    bullets.map((line) => handbook.includes(`\n${line}\n`)),
    [false, true, true],
  );
});

test('where nobody asked for it, or no longer, files stay as they are', async () => {
  const state = await emptyState();
  hide(state, 'thread', first, 'a person removed the line');
  hide(state, 'thread', second);
  liftTombstone(state, 'thread', second, 2);
  assert.equal(withoutRequested(state)(files), files);
});
