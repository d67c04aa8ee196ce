import assert from 'node:assert/strict';
import { test } from 'node:test';
import { secretFindings } from '../../scripts/check/secrets.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { putOutput } from '../../scripts/state/outputs.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { alnum, joined, made } from '../support/secrets.ts';
import { anOutput, aThread } from '../support/state-rows.ts';

async function stateOf(branch: string, rawMemory: string): Promise<string> {
  const state = await emptyState();
  upsertThread(state, { ...aThread('a'), branch, commit: 'df60c8cf0b2850bd6cebe34cb3f83d677e2f3bfb' });
  const [slug, stem] = ['rotate-the-secret', '2026-09-24T17-17-00-bd36-rotate_the_secret'];
  const output = anOutput({ rolloutSlug: slug, stem, rawMemory });
  putOutput(state, { ...output, threadId: 'a', extractorClass: 'llm' });
  return snapshotOf(state);
}

async function rulesIn(path: string, text: string): Promise<string[]> {
  return (await secretFindings(new Map([[path, text]]), createRedactor({}))).map(({ rule }) => rule);
}

test('a branch or a slug that speaks of a secret makes none of what stands beside it in the state', async () => {
  const text = await stateOf('fix/rotate-secret', 'Rotate it each month.');
  assert.deepEqual(await rulesIn('state.sqlite.json', text), []);
  assert.notDeepEqual(await rulesIn('notes.json', text), [], 'only the state has rows');
});

test('a secret within a cell of the state is found, and one in a row that is no list', async () => {
  const password = joined('password', ' = "', made(20, alnum), '"');
  assert.deepEqual(await rulesIn('state.sqlite.json', await stateOf('main', `Log in with ${password}.`)), [
    'secret.assignment',
  ]);
  assert.deepEqual(await rulesIn('state.sqlite.json', `<<<<<<< ours\n${password}\n`), ['secret.assignment']);
});
