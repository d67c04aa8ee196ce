import assert from 'node:assert/strict';
import { test } from 'node:test';
import { code, cutToFit, isQuestion, quote, sentencesOf, wordCount } from '../../scripts/phase1/builtin/text.ts';

const texts = (text: string) => sentencesOf(text, 40).map((sentence) => sentence.text);

test('sentences end at the marks of every script, and are verbatim pieces of one line', () => {
  const text = 'Use tabs. Never 2 spaces! 为什么？不要用 jest。 لماذا؟ لا تستخدمه.\nnext line';
  assert.deepEqual(texts(text), [
    'Use tabs.',
    'Never 2 spaces!',
    '为什么？',
    '不要用 jest。',
    'لماذا؟',
    'لا تستخدمه.',
    'next line',
  ]);
  for (const sentence of sentencesOf(text, 40)) assert.ok(text.startsWith(sentence.text, sentence.at));
});

test('a file name, a version and an abbreviation do not end a sentence', () => {
  assert.deepEqual(texts('Fix fetch.py in v1.2.3, e.g. the retry. Then stop.'), [
    'Fix fetch.py in v1.2.3, e.g. the retry.',
    'Then stop.',
  ]);
});

test('code fences, list marks and headings are no words', () => {
  assert.deepEqual(texts('# Plan\n- use tabs\n1. run it\n```\nsecret code.\n```\n> quoted\n---\n'), [
    'Plan',
    'use tabs',
    'run it',
    'quoted',
  ]);
});

test('CRLF, U+2028 and a progress bar end lines too, and places stay right', () => {
  const text = 'use tabs\r\nno spaces\u2028here\r50%\r100%';
  assert.deepEqual(texts(text), ['use tabs', 'no spaces', 'here', '50%', '100%']);
  for (const sentence of sentencesOf(text, 40)) assert.ok(text.startsWith(sentence.text, sentence.at));
  assert.equal(code('npm test\u2028rm'), '`npm test` …');
});

test('sentences are at most as many as asked for', () => assert.equal(sentencesOf('a. B. C. D.', 2).length, 2));

test('a question is told by its mark, in any script', () => {
  for (const text of ['why?', '为什么？', 'لماذا؟', '(really?)']) assert.equal(isQuestion(text), true, text);
  assert.equal(isQuestion('why? because.'), false);
});

test('scripts without spaces are counted too', () => {
  assert.equal(wordCount('use tabs  here'), 3);
  assert.equal(wordCount('不要使用空格'), 3);
  assert.equal(wordCount('不要用 jest 了'), 3);
  assert.equal(wordCount(''), 0);
});

test('a cut is a prefix, at a word where there is one, and never half a character', () => {
  const text = 'alpha beta gamma delta';
  assert.deepEqual(cutToFit(text, 12), { text: 'alpha beta', cut: true });
  assert.deepEqual(cutToFit(text, 100), { text, cut: false });
  assert.equal(cutToFit('很长的请求很长的请求', 8).text, '很长的请');
  assert.equal(cutToFit('xxxxx😀😀', 6).text, 'xxxxx');
  assert.equal(quote('a b c d', 3), '"a b" …');
});

test('a code span holds one line, also with backticks in it, and no address of a person', () => {
  assert.equal(code('npm test'), '`npm test`');
  assert.equal(code('echo `date`'), '`` echo `date` ``');
  assert.equal(code('git -c user.email=dana@example.test commit'), '`git -c` …');
  assert.equal(code('git clone git@github.com:acme/orders'), '`git clone git@github.com:acme/orders`');
  assert.equal(code("python3 - <<'PY'\nprint(1)\nPY"), "`python3 - <<'PY'` …");
});
