import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutHidden } from '../../scripts/phase2/rows.ts';

const hides =
  (...numbers: readonly string[]) =>
  (n: string) =>
    numbers.includes(n);

test('where nothing is hidden the text stays to the byte, however its marks are written', () => {
  const text = '- one (@1)\n- two (@2, 3)\n\n- three (@ 4 ) and more (@5)\nno mark\n';
  assert.equal(withoutHidden(text, hides('9')), text);
});

test('a line that rests on hidden items alone goes, and a hidden number beside others goes', () => {
  const text = '- one (@1)\n- two (@2,3)\n- three (@3) (@1)\nno mark';
  assert.equal(withoutHidden(text, hides('1', '3')), '- two (@2)\nno mark');
});

test('a mark that is not written as ours hides nothing', () => {
  const many = Array.from({ length: 150 }, (_, index) => index + 1).join(',');
  assert.equal(withoutHidden('- odd (@ 7)', hides('7')), '');
  assert.equal(withoutHidden(`- many (@${many})`, hides('150')).includes('150'), false);
});

test('a line whose only words of a person are hidden goes, whatever ran after them', () => {
  const text = '- "No, cents" → changed again (@8,9,11)\n- both said so (@3,8)\n- the tests pass (@9,11)';
  const persons = (n: string) => n === '3' || n === '8';
  assert.equal(withoutHidden(text, hides('8'), persons), '- both said so (@3)\n- the tests pass (@9,11)');
  assert.equal(withoutHidden(text, hides('9'), persons).split('\n').length, 3);
});
