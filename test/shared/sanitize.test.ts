import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sanitizeText } from '../../scripts/shared/sanitize.ts';

test('clean text of any script comes back as it is', () => {
  for (const text of ['', 'plain\n\ttext', '中文 عربي Grüße 🔑', 'a\u2028b\u0085c'])
    assert.equal(sanitizeText(text), text);
});

test('line ends become LF', () => {
  assert.equal(sanitizeText('a\r\nb\rc\n\r\nd\r\r\n'), 'a\nb\nc\n\nd\n\n');
});

test('NUL and other control characters go', () => {
  assert.equal(sanitizeText('a\u0000b\u0007c\u001b[31md\u007f\te\n'), 'abc[31md\te\n');
});

test('half a surrogate pair becomes U+FFFD, a whole pair stays', () => {
  assert.equal(sanitizeText('a\ud83dz \udd11 \u{1f511}'), 'a\ufffdz \ufffd \u{1f511}');
  assert.equal(sanitizeText('\ud83d'), '\ufffd');
});

test('cleaning twice is cleaning once', () => {
  const clean = sanitizeText('\ud800\r\r\n\u0000\u{1f511}\udc00');
  assert.equal(sanitizeText(clean), clean);
});
