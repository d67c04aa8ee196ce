import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sha256 } from '../../scripts/shared/thread-id.ts';

test('a text’s hash is of its UTF-8 bytes, whatever it holds', () => {
  assert.equal(sha256(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const text of ['a', 'é 运行 🚀', 'half a pair \ud83d here', '\u0000\r\n', 'x'.repeat(100_000)])
    assert.equal(sha256(text), createHash('sha256').update(text, 'utf8').digest('hex'));
});
