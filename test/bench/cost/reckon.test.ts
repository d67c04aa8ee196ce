import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOfEach, type Load, type Prices, reckon, type Tokens } from '../../../scripts/bench/cost/reckon.ts';

const tokens: Tokens = {
  session: { constant: 3_000, own: 7_000, output: 500 },
  conversation: { constant: 4_000, opening: 6_000, read: 9_000, written: 1_000 },
};
const load: Load = { repositories: 1, people: 1, sessions: 100, turns: 10 };
const prices: Prices = {
  extract: { input: 1, cached: 0.1, output: 10 },
  consolidate: { input: 2, cached: 0.2, output: 20 },
  batchShare: 0.5,
};

test('a session is read once, and all but the first find the constant part in the cache', () => {
  const { phase1 } = reckon(tokens, load, prices);
  assert.deepEqual([phase1.requests, phase1.input, phase1.cached, phase1.output], [100, 1_000_000, 99 * 3_000, 50_000]);
  assert.equal(phase1.usd.toFixed(4), (0.703 + 0.0297 + 0.5).toFixed(4));
});

test('in batches nothing is cached, and all of it costs its share', () => {
  const { batchUsd, night, nightInBatches, phase1, phase2 } = reckon(tokens, load, prices);
  assert.equal(batchUsd, (1 + 0.5) / 2);
  assert.equal(night, phase1.usd + phase2.usd);
  assert.equal(nightInBatches, batchUsd + phase2.usd);
});

test('a conversation says again all that was said; what is new of it is paid in full once', () => {
  const { phase2 } = reckon(tokens, load, prices);
  // Two conversations, the repository's and that of `*`; the same ten turns written out one by one.
  let [input, fresh, context] = [0, 0, 10_000];
  for (let turn = 1; turn <= 10; turn += 1) {
    input += context;
    fresh += turn === 1 ? 6_000 : 1_000;
    context += 1_000;
  }
  assert.deepEqual([phase2.requests, phase2.input, phase2.output], [20, 2 * input, 2_000]);
  assert.equal(phase2.cached, 2 * (input - fresh) - 4_000);
  const usd = (2 * fresh + 4_000) * 2 + phase2.cached * 0.2 + 2_000 * 20;
  assert.equal(phase2.usd.toFixed(6), (usd / 1_000_000).toFixed(6));
});

test('twice the sessions cost phase 1 twice, and a price without a cached one has none', () => {
  const plain = { ...prices, extract: { input: 1, output: 10 } };
  const [one, two] = [100, 200].map((sessions) => reckon(tokens, { ...load, sessions }, plain).phase1.usd);
  assert.equal(two, 2 * (one ?? 0));
});

test('a line bears its share of the whole night, and none costs anything where none stayed', () => {
  const reckoned = reckon(tokens, load, prices);
  const each = costOfEach(reckoned, { sessions: 10, lines: 30 });
  assert.equal(each.session, reckoned.phase1.usd / 100);
  assert.equal(each.sessionInBatches, reckoned.batchUsd / 100);
  assert.equal(each.line?.toFixed(9), (reckoned.night / 300).toFixed(9));
  assert.equal(each.lineInBatches?.toFixed(9), (reckoned.nightInBatches / 300).toFixed(9));
  assert.deepEqual(costOfEach(reckoned, { sessions: 10, lines: 0 }), { ...each, line: null, lineInBatches: null });
});
