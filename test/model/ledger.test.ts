import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { createLedger } from '../../scripts/model/ledger.ts';
import { aRequest } from '../support/model-requests.ts';

const usage = { requests: 1, input: 1_000_000, cached: 400_000, output: 100_000 };
const prices = { 'small-model': { input: 2, cached: 0.5, output: 10 } };

test('cached input costs what the configuration says, output its own price', () => {
  const ledger = createLedger({ prices });
  assert.equal(ledger.priceOf('small-model', usage), 0.6 * 2 + 0.4 * 0.5 + 0.1 * 10);
  assert.equal(createLedger({ prices: { 'small-model': { input: 2, output: 10 } } }).priceOf('small-model', usage), 3);
});

test('a model without a price costs nothing that anybody knows, and the account says how often', () => {
  const ledger = createLedger({ prices });
  ledger.reserve(aRequest({ model: 'toString' })).settle(usage);
  assert.deepEqual(ledger.total(), { answers: 1, usage, usd: 0, unpriced: 1, replayed: 0 });
});

test('each purpose and each subject has its own account', () => {
  const ledger = createLedger();
  for (const subject of ['b', 'a', 'b']) ledger.reserve(aRequest({ subject })).settle(usage);
  ledger.reserve(aRequest({ purpose: 'phase2' })).settle(usage);
  assert.equal(ledger.total('phase1').usage.requests, 3);
  assert.equal(ledger.total('phase2').usage.requests, 1);
  assert.deepEqual(
    [...ledger.bySubject('phase1')].map(([subject, total]) => [subject, total.usage.requests]),
    [
      ['a', 1],
      ['b', 2],
    ],
  );
});

test('a cap is checked before the request and stops the night', () => {
  const ledger = createLedger({ caps: { phase1: { tokens: 1_500 } } });
  const first = ledger.reserve(aRequest());
  const error = caught(() => ledger.reserve(aRequest()));
  assert.equal(error.kind, 'budget');
  assert.equal(error.stopsNight, true);
  assert.match(error.message, /phase1 may use 1500 tokens/);
  assert.ok(ledger.reserve(aRequest({ purpose: 'phase2' })));
  first.settle({ requests: 1, input: 20, cached: 0, output: 10 });
  assert.ok(ledger.reserve(aRequest()));
});

test('a request that got no answer gives its place back, once', () => {
  const ledger = createLedger({ caps: { phase1: { tokens: 1_500 } } });
  const place = ledger.reserve(aRequest());
  place.release();
  place.release();
  assert.equal(ledger.total().usage.requests, 0);
  ledger.reserve(aRequest());
  assert.equal(caught(() => ledger.reserve(aRequest())).kind, 'budget');
});

test('dollars are capped for a purpose and for all together', () => {
  const request = aRequest({ maxOutputTokens: 100_000 });
  const own = createLedger({ prices, caps: { phase1: { usd: 1.5 } } });
  own.reserve(request);
  assert.match(caught(() => own.reserve(request)).message, /phase1 may cost \$1\.5/);
  const all = createLedger({ prices, usd: 1.5 });
  all.reserve(request);
  assert.match(caught(() => all.reserve({ ...request, purpose: 'phase2' })).message, /\$1\.50 are left/);
});

test('what a saved row tells leaves the totals and the month’s dollars; tonight’s tokens stay under the cap', () => {
  const request = aRequest({ maxOutputTokens: 100_000 });
  const ledger = createLedger({ prices, caps: { phase1: { tokens: 1_150_000 } }, usd: 2.5 });
  ledger.reserve(request).settle({ ...usage, input: 100_000, cached: 0 });
  ledger.tell('run 1');
  ledger.settle((run) => run === 'run 2');
  assert.equal(ledger.total().answers, 1, 'its row was not saved');
  ledger.settle((run) => run === 'run 1');
  assert.equal(ledger.total().answers, 0);
  ledger.allow(1.5);
  ledger.reserve(request).settle({ ...usage, input: 800_000, cached: 800_000 });
  assert.match(caught(() => ledger.reserve(request)).message, /phase1 may use 1150000 tokens/);
  assert.match(caught(() => ledger.reserve({ ...request, purpose: 'phase2' })).message, /\$1\.50 are left/);
});

test('tokens of an earlier night, whose row was saved, are not tonight’s', () => {
  const ledger = createLedger({ caps: { phase1: { tokens: 1_500 } } });
  const entry = { purpose: 'phase1', subject: 'a', usage, usd: null, replayed: true } as const;
  ledger.record({ ...entry, toldBy: ['run 1'] });
  assert.equal(caught(() => ledger.reserve(aRequest())).kind, 'budget');
  ledger.settle((run) => run === 'run 1');
  assert.ok(ledger.reserve(aRequest()));
});

test('a prompt of minified JSON or Chinese is not taken for less than it is', () => {
  const text = '{"a":1},'.repeat(1_000);
  assert.ok(
    createLedger({ caps: { phase1: { tokens: 5_000 } } }).reserve(aRequest({ messages: [{ role: 'user', text }] })),
  );
  const chinese = '记忆'.repeat(3_000);
  assert.equal(
    caught(() =>
      createLedger({ caps: { phase1: { tokens: 5_000 } } }).reserve(
        aRequest({ messages: [{ role: 'user', text: chinese }] }),
      ),
    ).kind,
    'budget',
  );
});

function caught(action: () => unknown): ModelError {
  try {
    action();
  } catch (thrown) {
    if (thrown instanceof ModelError) return thrown;
    throw thrown;
  }
  return assert.fail('nothing was thrown');
}
