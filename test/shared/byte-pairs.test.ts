import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { decode, encode } from 'gpt-tokenizer/encoding/o200k_base';
import { seeded } from '../../scripts/bench/statistics.ts';
import { createTokenizer } from '../../scripts/shared/byte-pairs.ts';

const ours = createTokenizer();
const ranks = Array.from({ length: 199_998 }, (_, rank) => rank);

test('every token of the vocabulary is read as the package reads it', () => {
  for (const rank of ranks) {
    const token = ours.decode([rank]);
    // The package keeps half a character for its next answer, and loses byte order marks.
    if (!/[\ufffd\ufeff]/.test(token)) assert.equal(token, decode([rank]));
  }
});

test('texts have the tokens that the package gives them: prose, code, every script of the vocabulary', () => {
  const folder = new URL('../../scripts/shared/', import.meta.url);
  const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const words = ranks.map((rank) => ours.decode([rank])).filter((token) => !token.includes('\ufffd'));
  for (const text of [...texts, words.join('|'), ...words.filter((_, place) => place % 7 === 0)]) assertSame(text);
});

test('so have texts that nobody writes: half characters, byte order marks, special tokens, what is drawn by lot', () => {
  const draw = seeded(1);
  const alphabet = [
    ...'abcXYZ019 .,;{}"\'sLl\n\r\t\\/éüß提取会话한국אבم😀🚀',
    ...['\ud800', '\udc00', '\ufeff', '\ufffd', '\u0000', '\u0301', '\u2028', '\u00a0', '<|endoftext|>'],
  ];
  for (let round = 0; round < 4_000; round += 1) {
    const length = 1 + Math.floor(draw() * 60);
    assertSame(Array.from({ length }, () => alphabet[Math.floor(draw() * alphabet.length)]).join(''));
  }
});

test('half a character becomes U+FFFD, and leaves nothing to the next text', () => {
  const [half = 0] = ours.encode('🦕');
  assert.match(ours.decode([half]), /^\ufffd+$/);
  assert.equal(ours.decode(ours.encode('🦕')), '🦕');
});

function assertSame(text: string): void {
  assert.deepEqual(
    ours.encode(text),
    encode(text, { disallowedSpecial: new Set() }),
    JSON.stringify(text.slice(0, 80)),
  );
}
