import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { packWords } from '../../scripts/report/pack.ts';
import type { WireWords } from '../../scripts/report/wire.ts';
import { lotsFrom, someWords } from '../support/lots.ts';

const lots = lotsFrom(3);

function some(count: number, words: number): WireWords[] {
  return Array.from({ length: count }, () => ({
    items: [{ n: '2', who: 'human', at: 1, text: someWords(lots, words), from: 'session' as const }],
    summary: someWords(lots, words),
  }));
}

function unpacked(text: string): WireWords[] {
  return JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString()) as WireWords[];
}

test('words that fit are packed as they are', () => {
  const words = some(5, 40);
  const { text, isCut } = packWords(words);
  assert.match(text, /^[A-Za-z0-9+/=]+$/);
  assert.deepEqual([unpacked(text), isCut], [words, false]);
});

test('words that do not fit are cut shorter, all alike, until they do', () => {
  const words = some(60, 300);
  const { text, isCut, limits } = packWords(words, 40_000);
  assert.ok(text.length <= 40_000 && isCut);
  for (const [at, { items, summary }] of unpacked(text).entries()) {
    assert.equal(items[0]?.text, `${words[at]?.items[0]?.text.slice(0, limits.item)} …`);
    assert.ok(summary.length <= limits.summary + 2);
  }
});

test('a cut never leaves half a character', () => {
  const words = [{ items: [], summary: '😀'.repeat(9_000) }];
  assert.doesNotMatch(unpacked(packWords(words, 10).text)[0]?.summary ?? '', /\ufffd/);
  assert.match(
    unpacked(packWords([{ items: [], summary: `a${'😀'.repeat(9_000)}` }]).text)[0]?.summary ?? '',
    /^a😀+ …$/u,
  );
});
