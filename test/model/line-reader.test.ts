import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLineReader, longestLine } from '../../scripts/model/line-reader.ts';

function linesOf(pieces: readonly string[], most = Number.POSITIVE_INFINITY): (string | null)[] {
  const lines: (string | null)[] = [];
  const reader = createLineReader((line) => lines.push(line) < most);
  for (const piece of pieces) if (!reader.add(piece)) break;
  reader.end();
  return lines;
}

test('lines are the same however the text is cut into pieces', () => {
  const text = 'one\r\n\ntwo — ü\nthree';
  for (let size = 1; size <= text.length; size += 1) {
    const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, n) =>
      text.slice(n * size, (n + 1) * size),
    );
    assert.deepEqual(linesOf(pieces), ['one', 'two — ü', 'three'], `${size}`);
  }
});

test('a line that is too long is handed on as none, and what follows is whole', () => {
  const part = 'x'.repeat(longestLine / 4 + 1);
  assert.deepEqual(linesOf([part, part, part, part, 'y\nnext\n']), [null, 'next']);
});

test('nothing is handed on after the reader has had enough', () => {
  assert.deepEqual(linesOf(['1\n2\n3\n', '4\n', '5'], 2), ['1', '2']);
});
