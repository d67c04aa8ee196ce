import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitText, htmlJson, htmlText, markdownText } from '../../scripts/shared/escape.ts';

const visible = (text: string) => text.replaceAll('\u200b', '·');

test('Markdown: a mention or reference is broken where hosts look for it, behind the backslash', () => {
  assert.equal(
    visible(markdownText('@ada fixes #1, acme/x#2, GH-3, !4')),
    '@·ada fixes \\#·1, acme/x\\#·2, GH\\-·3, \\!·4',
  );
  assert.equal(visible(markdownText('&commat;ada')), '&·commat;ada');
  assert.equal(visible(markdownText('https://a.test and www.a.test')), 'https:·//a.test and www·.a.test');
});

test('Markdown: plain names and sentences stay readable', () => {
  assert.equal(markdownText('github.com/acme/shop: 3 lines, 50 % done.'), 'github.com/acme/shop: 3 lines, 50 % done.');
});

test('a commit message: no mention, no closing reference, no word that stops a CI, one line', () => {
  assert.equal(commitText('x/@acme fixes #1 [skip ci]'), 'x/(at)acme fixes no. 1 (skip ci)');
  assert.equal(commitText('closes GH-4 https://a.test/issues/1'), 'closes GH 4 https: //a.test/issues/1');
  assert.equal(commitText('a\nCo-authored-by: Eve'), 'a?Co-authored-by: Eve');
});

test('a commit message: what a model’s name and a repository are made of stays', () => {
  assert.equal(commitText('model@2026-11 github.com/acme/shop-api'), 'model@2026-11 github.com/acme/shop-api');
});

test('HTML: no tag, attribute or character reference comes out of a text, and lines stay lines', () => {
  assert.equal(
    htmlText(`<a href="x" o='y'>&amp;\`\r\nb\tc`),
    '&lt;a href=&quot;x&quot; o=&#39;y&#39;&gt;&amp;amp;&#96;\nb\tc',
  );
});

test('HTML: what hides or turns the direction is shown as what it is; joiners of words and emoji stay', () => {
  assert.equal(
    htmlText('a\u202eb\u2066c\u200bd\u0000e\u{e0041}f\ufeff'),
    'a\\u{202e}b\\u{2066}c\\u{200b}d\\u{0}e\\u{e0041}f\\u{feff}',
  );
  assert.equal(htmlText('می\u200cخواهم 👩\u200d💻 a\u200db'), 'می\u200cخواهم 👩\u200d💻 a\\u{200d}b');
  assert.equal(htmlText('half \ud83d end'), 'half \ufffd end');
});

test('JSON in a page: nothing in it ends the script or opens a comment, and it reads back as it is shown', () => {
  const value = { text: '</script><!--<script>&\u2028]]>', list: ['a\u202eb', 1, null, true], '<k>': 'x' };
  const json = htmlJson(value);
  assert.doesNotMatch(json, /[<>&\u2028\u202e]/);
  assert.deepEqual(JSON.parse(json), {
    text: '</script><!--<script>&\\u{2028}]]>',
    list: ['a\\u{202e}b', 1, null, true],
    '<k>': 'x',
  });
});
