import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openJournal } from '../../scripts/model/journal.ts';
import { temporaryFolder } from '../support/repository.ts';

const redact = (text: string) => text;

test('what is inside a mark of its subject writes none, and ends nothing', (t) => {
  const folder = temporaryFolder(t);
  const first = openJournal(folder, redact);
  first.begin('session', 'rollout');
  first.begin('session', 'request');
  assert.equal(linesIn(folder), 1);
  first.end('session');
  assert.equal(linesIn(folder), 1);
  assert.deepEqual([...openJournal(folder, redact).diedAttempts()], [['session', 1]]);
});

test('the outermost mark ends it, and it can be begun again', (t) => {
  const folder = temporaryFolder(t);
  const first = openJournal(folder, redact);
  for (const key of ['rollout', 'request']) first.begin('session', key);
  for (const _ of ['rollout', 'request']) first.end('session');
  first.begin('other', 'rollout');
  first.end('other');
  assert.equal(linesIn(folder), 4);
  first.begin('session', 'rollout');
  assert.deepEqual([...openJournal(folder, redact).diedAttempts()], [['session', 1]]);
});

test('an end of what was never begun is no mark', (t) => {
  const folder = temporaryFolder(t);
  openJournal(folder, redact).end('nobody');
  assert.equal(readdirSync(join(folder, 'attempts')).length, 0);
});

function linesIn(folder: string): number {
  const [name = ''] = readdirSync(join(folder, 'attempts'));
  return readFileSync(join(folder, 'attempts', name), 'utf8')
    .trimEnd()
    .split('\n').length;
}
