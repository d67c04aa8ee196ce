import assert from 'node:assert/strict';
import { test } from 'node:test';
import { argvOf } from '../../../scripts/bench/compare/command-line.ts';
import { UsageError } from '../../../scripts/shared/errors.ts';

const places = { corpus: '/the corpus', server: 'http://127.0.0.1:1', out: '/{server}' };

test('a command is split at white space, quotes keep together, and places are filled in as one argument', () => {
  assert.deepEqual(argvOf(`tool  --in {corpus} --api={server}/v1 'a "b" c' d"e f"`, places), [
    'tool',
    '--in',
    '/the corpus',
    '--api=http://127.0.0.1:1/v1',
    'a "b" c',
    'de f',
  ]);
});

test('nothing else of a shell is done, and what is filled in is not filled in again', () => {
  assert.deepEqual(argvOf(`tool $HOME * ; rm \`x\` {out} ""`, places), [
    'tool',
    '$HOME',
    '*',
    ';',
    'rm',
    '`x`',
    '/{server}',
    '',
  ]);
  assert.deepEqual(argvOf(`tool '{"a":{"b":1}}'`, places), ['tool', '{"a":{"b":1}}']);
});

test('no command, an open quote and an unknown place are mistakes that say what to write', () => {
  for (const command of ['', '   ', 'tool "a', "tool 'a", 'tool {place}'])
    assert.throws(() => argvOf(command, places), UsageError, command);
});
