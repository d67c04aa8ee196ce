import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeReport } from '../../scripts/report/file.ts';
import { temporaryFolder } from '../support/repository.ts';

const sign = '<meta name="report">';

test('a report replaces a report, whole', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'report.html');
  writeReport(path, `${sign} first`, sign);
  writeReport(path, `${sign} second`, sign);
  assert.equal(readFileSync(path, 'utf8'), `${sign} second`);
  assert.deepEqual(readdirSync(folder), ['report.html']);
});

test('another’s file, a folder and a place without a folder are refused with the way on', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'mine.html'), 'Mine');
  mkdirSync(join(folder, 'sub'));
  for (const [name, message] of [
    ['mine.html', /mine\.html is there already and is no report/],
    ['sub', /sub is no file/],
    ['none/x.html', /There is no folder .*none/],
  ] as const)
    assert.throws(() => writeReport(join(folder, name), sign, sign), { message, exitCode: 2 });
  assert.equal(readFileSync(join(folder, 'mine.html'), 'utf8'), 'Mine');
});

test('where the page may not be written the report before it stays', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'report.html');
  writeReport(path, `${sign} first`, sign);
  mkdirSync(`${path}.draft`);
  assert.throws(() => writeReport(path, `${sign} second`, sign), { message: /could not be written/, exitCode: 1 });
  assert.equal(readFileSync(path, 'utf8'), `${sign} first`);
});
