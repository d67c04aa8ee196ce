import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sanitizeText } from '../../scripts/shared/sanitize.ts';

test('clean text of any script comes back as it is', () => {
  for (const text of ['', 'plain\n\ttext', '中文 عربي Grüße 🔑', 'می\u200cخواهم 👩\u200d💻'])
    assert.equal(sanitizeText(text), text);
});

test('line ends become LF', () => {
  assert.equal(sanitizeText('a\r\nb\rc\n\r\nd\r\r\n'), 'a\nb\nc\n\nd\n\n');
});

test('line ends that only some programs know become LF too', () => {
  assert.equal(sanitizeText('a\u2028b\u2029c\u0085d'), 'a\nb\nc\nd');
});

test('what no reader sees goes: it would be told to a model alone', () => {
  assert.equal(
    sanitizeText('o\u200bne\ufeff t\u202ewo\u202c th\u00adree\u{e0041} a\u200db عربي\u200f'),
    'one two three ab عربي',
  );
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
