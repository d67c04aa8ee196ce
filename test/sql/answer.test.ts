import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cut, displayWidth, textTable } from '../../scripts/shared/text-table.ts';
import { answerCsv, answerTable } from '../../scripts/sql/answer.ts';

function answer(columns: string[], rows: (string | number | null)[][]) {
  return { columns, rows, truncated: false };
}

test('columns are aligned, numbers to the right, and nothing shows as NULL', () => {
  assert.deepEqual(
    answerTable(
      answer(
        ['name', 'n'],
        [
          ['a', 7],
          ['long', 1234],
          [null, null],
        ],
      ),
    ).split('\n'),
    ['name     n', '----------', 'a        7', 'long  1234', 'NULL  NULL', '(3 rows)'],
  );
});

test('wide characters count as two columns and combining marks as none', () => {
  assert.deepEqual(['abc', '漢字', 'e\u0301', '한글', 'ｆｕ', '🙂'].map(displayWidth), [3, 4, 1, 4, 4, 2]);
  const [, , chinese, ascii] = answerTable(
    answer(
      ['a', 'b'],
      [
        ['漢字', 'x'],
        ['abcd', 'x'],
      ],
    ),
  ).split('\n');
  assert.equal(chinese, '漢字  x');
  assert.equal(ascii, 'abcd  x');
});

test('a long cell is cut with … and never in the middle of a character', () => {
  assert.equal(cut('abcdef', 4), 'abc…');
  assert.equal(cut('漢字漢字', 6), '漢字…');
  assert.equal(cut('abcd', 4), 'abcd');
  const cell = answerTable(answer(['t'], [['x'.repeat(5_000)]])).split('\n')[2] ?? '';
  assert.equal(displayWidth(cell), 60);
  assert.ok(cell.endsWith('x…'));
});

test('what a terminal would act on is shown, not sent', () => {
  const hostile = 'a\u001b[2Jb\u202ec\nd';
  assert.equal(answerTable(answer(['t'], [[hostile]])).split('\n')[2], 'a\\u{1b}[2Jb\\u{202e}c ⏎ d');
  assert.deepEqual(textTable([{ name: 'n\u0007', align: 'left' }], [], 10), ['n\\u{7}']);
});

test('CSV is as RFC 4180 says: CRLF, quotes doubled, and an empty text is not nothing', () => {
  const rows = [
    ['a,b', 'say "hi"', 'two\nlines', null, '', 7],
    ['plain', 'x\r\ny', '\u001b', null, ' ', -1],
  ];
  assert.equal(
    answerCsv(answer(['a', 'b,c', 'd', 'e', 'f', 'g'], rows)),
    'a,"b,c",d,e,f,g\r\n"a,b","say ""hi""","two\nlines",,"",7\r\nplain,"x\r\ny",\\u{1b},, ,-1\r\n',
  );
});
