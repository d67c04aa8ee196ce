import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDue, noteAttempt, readAttempt } from '../../scripts/recall/attempt.ts';
import { temporaryFolder } from '../support/repository.ts';

test('an attempt is read as it was noted, whatever its failure says', async (t) => {
  const cache = temporaryFolder(t);
  for (const failure of [null, 'no “network”, "at all"\nand \\ more']) {
    noteAttempt(cache, { at: 1_795_305_600, failure }, 'one');
    assert.deepEqual(readAttempt(cache), { at: 1_795_305_600, failure });
  }
});

test('a damaged note of an attempt is none: the copy is asked for again, and no session is told less', async (t) => {
  const cache = temporaryFolder(t);
  const damaged = [
    '',
    '{',
    '[]',
    '{"at":"yesterday","failure":null}',
    '{"at":"2026-11-30T00:00:00Z","failure":"a"b"}\n',
  ];
  for (const text of damaged) {
    writeFileSync(join(cache, 'attempt.json'), text);
    const attempt = readAttempt(cache);
    assert.equal(attempt, null, text);
    assert.ok(isDue(attempt, 1_795_305_600));
  }
  writeFileSync(join(cache, 'attempt.json'), '{"at":"2026-11-30T00:00:00Z","failure":7}\n');
  assert.equal(readAttempt(cache)?.failure, null);
});
