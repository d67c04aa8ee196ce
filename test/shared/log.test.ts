import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { jsonText, workflowProperty } from '../../scripts/shared/escape.ts';
import { createLog } from '../../scripts/shared/log.ts';
import { temporaryFolder } from '../support/repository.ts';

function aLog(environment: Record<string, string>) {
  const lines: string[] = [];
  const out = { write: (text: string) => lines.push(text) };
  return { log: createLog(out, out, environment), lines };
}

test('an annotation names file, line and title, and no part of it can end another', () => {
  const { log, lines } = aLog({ GITHUB_ACTIONS: 'true' });
  log.annotate('error', 'bad::error::%0A\nnext', { path: 'a,line=1::b\n.md', line: 7, title: 'x: y' });
  assert.deepEqual(lines, [
    '::error file=a%2Cline=1%3A%3Ab\\u{a}.md,line=7,title=x%3A y::bad:\u200b:error:\u200b:%250A next\n',
  ]);
});

test('an output is one line, whatever its value holds, and goes nowhere where no file is named', (t) => {
  const file = join(temporaryFolder(t), 'output');
  const { log, lines } = aLog({ GITHUB_OUTPUT: file });
  log.output('claimed', 'true');
  log.output('unfinished_run', '7\nclaimed=false');
  aLog({ GITHUB_ACTIONS: 'true' }).log.output('claimed', 'false');
  assert.equal(readFileSync(file, 'utf8'), 'claimed=true\nunfinished_run=7\\u{a}claimed=false\n');
  assert.deepEqual(lines, []);
});

test('results may be coloured on a terminal that can, unless NO_COLOR is set', () => {
  const on = (isTTY: boolean, environment: Record<string, string>) =>
    createLog({ write: () => true, isTTY }, { write: () => true, isTTY }, environment).isColoured;
  assert.equal(on(true, { TERM: 'xterm' }), true);
  assert.equal(on(true, { NO_COLOR: '' }), true, 'empty is not set');
  for (const environment of [{ NO_COLOR: '1' }, { TERM: 'dumb' }]) assert.equal(on(true, environment), false);
  assert.equal(on(false, {}), false);
});

test('outside GitHub Actions there are no annotations', () => {
  const { log, lines } = aLog({});
  log.annotate('warning', 'bad', { path: 'a.md', line: 1, title: 'x' });
  assert.deepEqual(lines, []);
});

test('JSON for a terminal loses nothing and sends nothing that a terminal acts on', () => {
  const value = { text: 'a\u001b[2J\u009b\u202e\u{e0041}\ufeff漢\n"\\' };
  const text = jsonText(value);
  assert.deepEqual(JSON.parse(text), value);
  assert.match(text, /^[\u0020-\u007e漢]+$/);
});

test('a property keeps what needs no escape', () => {
  assert.equal(workflowProperty('memories/MEMORY.md'), 'memories/MEMORY.md');
});
