import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commitText, markdownText } from '../../scripts/shared/escape.ts';

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
