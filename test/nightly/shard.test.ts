import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalEntry } from '../../scripts/model/journal-records.ts';
import { shareOf } from '../../scripts/nightly/shard.ts';
import { parseConfig } from '../../scripts/shared/config.ts';

const config = parseConfig('version: 1\nbudget: { phase1_tokens: 1000000 }\n');

function paid(purpose: JournalEntry['purpose'], input: number, usd: number | null): JournalEntry {
  const usage = { requests: 1, input, cached: 0, output: 0 };
  const reply = { text: '', toolCalls: [], finish: 'stop', usage, model: 'small' } as const;
  return { key: 'k', n: 1, purpose, subject: 's', attempt: 1, usage, usd, reply, rejected: null, accounted: false };
}

test('all parts together may spend what the night may, in tokens and in dollars, and never a token more', () => {
  for (const count of [1, 2, 3, 7, 256]) {
    const { tokens, usd = Number.NaN } = shareOf(config, { spent: [] }, 9.99, { index: 1, count });
    assert.ok(tokens * count <= 1_000_000 && tokens * count > 1_000_000 - count);
    assert.ok(Math.round(usd * 1_000_000) * count <= 9_990_000, `${usd} x ${count}`);
  }
});

test('what an earlier night paid of this allowance is taken off before it is split; phase 2 has tokens of its own', () => {
  const spent = [paid('phase1', 400_000, 2), paid('phase2', 500_000, 3), paid('phase1', 0, null)];
  assert.deepEqual(shareOf(config, { spent }, 9, { index: 2, count: 4 }), { tokens: 150_000, usd: 1 });
});

test('where nothing is left a part may spend nothing, and without a limit in dollars there is none', () => {
  const spent = [paid('phase1', 2_000_000, 20)];
  assert.deepEqual(shareOf(config, { spent }, 9, { index: 1, count: 2 }), { tokens: 0, usd: 0 });
  assert.deepEqual(shareOf(config, { spent: [] }, undefined, { index: 1, count: 2 }), { tokens: 500_000 });
});
