import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadPrompt } from '../../scripts/shared/prompt.ts';
import type { RecordedRequest } from '../support/api-types.ts';
import { api, cwdOf, type Nights, shop, sound, startNights } from '../support/model-nights.ts';
import { scopeIn } from '../support/scripted-agent.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { teaching } from '../support/shards.ts';

/** What a vendor's cache compares, in its order: what does not change first, the messages last. */
function wordsOf({ body }: RecordedRequest): { readonly settings: string; readonly messages: readonly string[] } {
  const { messages, ...settings } = body;
  assert.ok(Array.isArray(messages));
  return { settings: JSON.stringify(settings), messages: messages.map((message) => JSON.stringify(message)) };
}

/** The words of a prompt before anything is filled in. */
function constantStart(...names: readonly Parameters<typeof loadPrompt>[0][]): number {
  return Math.min(...names.map((name) => loadPrompt(name).indexOf('{{')));
}

function commonLength(a: string, b: string): number {
  const limit = Math.min(a.length, b.length);
  for (let at = 0; at < limit; at += 1) if (a[at] !== b[at]) return at;
  return limit;
}

async function aNight(nights: Nights): Promise<readonly RecordedRequest[]> {
  nights.write(...[1, 2, 3, 4].map((n) => teaching(n, cwdOf[n % 2 === 0 ? shop : api])));
  const { requests, report } = await nights.play({ at: '2026-11-30T03:00:00Z' });
  assert.equal(report.outcome, 'done');
  return requests;
}

test('requests of phase 1 differ in nothing before what the session says', async (t) => {
  const requests = (await aNight(await startNights(t))).filter(isExtraction);
  assert.equal(requests.length, 4);
  const [first, ...others] = requests;
  const one = wordsOf(first ?? assert.fail());
  for (const request of others) {
    const other = wordsOf(request);
    assert.equal(other.settings, one.settings);
    assert.equal(other.messages[0], one.messages[0], 'the instructions are one text');
    const [a = '', b = ''] = [first?.texts[1], request.texts[1]];
    assert.ok(commonLength(a, b) >= constantStart('phase1-input'));
    const agent = a.indexOf('- repository:');
    assert.ok(
      agent > 0 && commonLength(a, b) > agent,
      'the agent’s name, which seldom differs, comes first of the hints',
    );
  }
  assert.ok((first?.texts[0] ?? '').length > 10_000, 'most of a short session’s request is the same');
});

test('conversations of phase 2 begin alike, and each turn says again what was said, word for word, and adds to it', async (t) => {
  const requests = (await aNight(await startNights(t))).filter((request) => !isExtraction(request));
  const scopes = new Map<string, RecordedRequest[]>();
  for (const request of requests) scopes.set(scopeIn(request), [...(scopes.get(scopeIn(request)) ?? []), request]);
  assert.deepEqual([...scopes.keys()].sort(), ['*', api, shop]);
  const openings = [...scopes.values()].map(([first]) => wordsOf(first ?? assert.fail()));
  for (const opening of openings) {
    assert.equal(opening.settings, openings[0]?.settings, 'tools and limits too');
    assert.equal(opening.messages[0], openings[0]?.messages[0]);
  }
  for (const turns of scopes.values()) {
    assert.ok(turns.length >= 3);
    for (const [index, turn] of turns.slice(1).entries()) {
      const before = wordsOf(turns[index] ?? assert.fail()).messages;
      assert.deepEqual(wordsOf(turn).messages.slice(0, before.length), before);
      assert.ok(wordsOf(turn).messages.length > before.length);
    }
  }
});

test('what the server had cached is recorded with the night and paid at its price', async (t) => {
  const nights = await startNights(t);
  nights.write(teaching(1, cwdOf[shop]));
  const usage = { input: 10_000, cached: 8_000, output: 100 };
  const { engine } = await nights.play({
    at: '2026-11-30T03:00:00Z',
    config: '  prices: { extract: { input: 10, cached: 1, output: 0 } }\n',
    behave: async (request, index) => {
      const answer = await sound(request, index);
      return isExtraction(request) ? { ...answer, usage } : answer;
    },
  });
  const { usage: used, usd } = engine.ledger.total('phase1');
  assert.deepEqual([used.input, used.cached], [10_000, 8_000]);
  assert.equal(usd, (2_000 * 10 + 8_000) / 1_000_000);
  const state = JSON.parse(nights.git('show', 'refs/memory/state:state.sqlite.json'));
  assert.match(JSON.stringify(state.tables.runs), /\\"cached\\":8000/);
});
