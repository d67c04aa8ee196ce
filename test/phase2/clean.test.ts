import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleanFiles } from '../../scripts/phase2/clean.ts';
import { doomedSoFar } from '../../scripts/phase2/doomed.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { handbookPath } from '../../scripts/workspace/layout.ts';
import { a, aBlock, b, first } from '../workspace/samples.ts';

test('a correction outlives the session that it corrected, without naming it', async () => {
  const doomed = doomedSoFar(await emptyState(), { threads: new Set([first]), items: [] });
  const cleaned = (line: string) =>
    cleanFiles(new Map([[handbookPath, aBlock({ knowledge: [line] })]]), doomed).get(handbookPath) ?? '';
  assert.ok(cleaned(`- port 4000 (supersedes ${a}@2) [${b}@4]`).includes(`\n- port 4000 [${b}@4]\n`));
  assert.ok(
    cleaned(`- port 4000 (supersedes ${a}@2 ${b}@8) [${b}@4]`).includes(`\n- port 4000 (supersedes ${b}@8) [${b}@4]\n`),
  );
  assert.ok(!cleaned(`- port 4000 (supersedes ${b}@8) [${a}@4]`).includes('4000'), 'what it rests on is gone');
});
