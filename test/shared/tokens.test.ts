import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTokens, estimateTokens, fitsTokens, truncateMiddle } from '../../scripts/shared/tokens.ts';

const prose = 'The build failed because the lock file was stale; we ran it again after an update. ';
const samples: readonly [string, string][] = [
  ['prose', prose.repeat(40)],
  ['code', 'export function add(a: number, b: number): number {\n  return a + b;\n}\n'.repeat(40)],
  ['minified JSON', '{"id":"a1b2","type":"event_msg","payload":{"n":12,"ok":true}}'.repeat(40)],
  [
    'base64',
    Buffer.from(Array.from({ length: 3_000 }, (_, index) => (index * 7_919 + (index >> 3)) & 255)).toString('base64'),
  ],
  ['hex', Array.from({ length: 500 }, (_, index) => (index * 2_654_435_761).toString(16)).join('')],
  ['Chinese', '提取会话中的记忆，并写入仓库。'.repeat(60)],
  ['Arabic', 'هذا نص باللغة العربية لاختبار عدد الرموز. '.repeat(40)],
  ['German', 'Größere Änderungen überschreiten üblicherweise die Zeitbeschränkung. '.repeat(40)],
  ['emoji', '😀🚀🔥 '.repeat(100)],
  ['paths and logs', '2026-11-29T23:44:06.123Z INFO /usr/lib/node_modules/x/1.js:12:7 took 31ms\n'.repeat(40)],
];

test('tokens are those of o200k_base', () => {
  assert.equal(countTokens(''), 0);
  assert.equal(countTokens('hello world'), 2);
  assert.equal(countTokens('提取记忆'), 4);
});

test('special tokens in a transcript are text, not a fault', () => {
  for (const text of ['<|endoftext|>', '<|im_start|>system<|im_end|>', '<|fim_prefix|>'])
    assert.ok(countTokens(text) > 1);
});

test('a megabyte without a break is counted piece by piece', () => {
  for (const text of ['a'.repeat(1_000_000), '='.repeat(1_000_000), ' '.repeat(1_000_000), '😀'.repeat(250_000)]) {
    const tokens = countTokens(text);
    assert.ok(tokens > 1_000 && tokens < 1_100_000);
  }
});

test('lone surrogates and NUL are counted without a fault', () => {
  for (const text of ['\ud800', 'a\udc00b', '\u0000', '\ud83d'.repeat(2_000)]) assert.ok(countTokens(text) > 0);
});

for (const [name, text] of samples) {
  test(`the estimate is no less than the truth and at most thrice: ${name}`, () => {
    const exact = countTokens(text);
    const estimate = estimateTokens(text);
    assert.ok(estimate >= exact && estimate <= exact * 3, `${estimate} for ${exact}`);
  });

  test(`what is within the limit fits, and one token more does not: ${name}`, () => {
    const exact = countTokens(text);
    assert.equal(fitsTokens(text, exact), true);
    assert.equal(fitsTokens(text, Math.floor(exact / 3)), false);
    assert.equal(fitsTokens(text, exact - 1), estimateTokens(text) <= exact - 1);
  });

  test(`a text over its limit keeps head and tail within it: ${name}`, () => {
    for (const limit of [100, 101, 200]) {
      for (const kept of [truncateMiddle(text, { tokens: limit }), truncateMiddle(text, { bytes: limit })]) {
        const [, head = '', tail = ''] = /^([\s\S]*)…\d+ (?:tokens|bytes) truncated…([\s\S]*)$/.exec(kept) ?? [];
        assert.ok(head !== '' && tail !== '');
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        assert.doesNotMatch(head + tail, /\p{Surrogate}/u);
      }
      assert.ok(countTokens(truncateMiddle(text, { tokens: limit })) <= limit);
      assert.ok(Buffer.byteLength(truncateMiddle(text, { bytes: limit })) <= limit);
    }
  });
}

test('a text within its limit stays as it is', () => {
  assert.equal(truncateMiddle(prose, { bytes: prose.length }), prose);
  assert.equal(truncateMiddle(prose, { tokens: countTokens(prose) }), prose);
});

test('the marker says how much is missing', () => {
  const kept = truncateMiddle('a'.repeat(10_000), { bytes: 1_000 });
  assert.match(kept, /^a{480}…9040 bytes truncated…a{480}$/);
  assert.match(truncateMiddle(prose.repeat(100), { tokens: 100 }), /…\d{4} tokens truncated…/);
});

test('a limit without room for the marker leaves the marker alone', () => {
  assert.equal(truncateMiddle('a'.repeat(100), { bytes: 3 }), '…100 bytes truncated…');
  assert.equal(truncateMiddle('one two three '.repeat(100), { tokens: 1 }), '…350 tokens truncated…');
});

test('a head that ends within a character takes nothing from the tail', () => {
  const text = `${'one two '.repeat(8)}🦕 `.repeat(100);
  for (let limit = 60; limit < 160; limit += 1) {
    const tail = truncateMiddle(text, { tokens: limit }).replace(/^[\s\S]*truncated…/, '');
    assert.ok(countTokens(tail) >= Math.floor((limit - 12) / 2) - 3, `${limit}: ${tail}`);
  }
});
