import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerTo } from '../../scripts/bench/answer.ts';
import { loadSamples, sampleRollouts } from '../../scripts/bench/samples.ts';
import { firstDialect } from '../../scripts/model/dialect.ts';
import { readResponses, responsesBody } from '../../scripts/model/wire-responses.ts';
import { parseReply } from '../../scripts/phase1/parse.ts';
import { extractionRequest } from '../../scripts/phase1/request.ts';
import { verifyText } from '../../scripts/phase1/verify.ts';
import { filterRollout } from '../../scripts/rollout/filter.ts';
import { renderItems } from '../../scripts/rollout/tiers.ts';

test("the bench's server answers every sample with a memory of which nothing has to be repaired", async () => {
  const wanted = new Set((await loadSamples()).map(({ id }) => id));
  const rollouts = (await sampleRollouts()).filter(({ thread }) => wanted.has(thread.id));
  assert.ok(rollouts.length >= 14);
  for (const { thread, items } of rollouts) {
    const input = { thread, rolloutPath: '2026/11/30/x.jsonl', items: filterRollout({ items }).items };
    const { text, shown } = renderItems(input.items, 150_000);
    const settings = { model: 'bench', promptHash: 'p', language: 'source', maxOutputTokens: 8_000 } as const;
    const body = responsesBody(extractionRequest(input, text, settings), firstDialect('auto', true));
    const reading = readResponses(answerTo(JSON.stringify(body)), true);
    assert.equal(reading.outcome, 'reply', thread.id);
    if (reading.outcome !== 'reply') continue;
    const usage = { requests: 1, input: 0, cached: 0, output: 0 };
    const parsed = parseReply({ text: reading.text, toolCalls: [], finish: reading.finish, model: 'bench', usage });
    assert.equal(parsed.outcome, 'text', thread.id);
    if (parsed.outcome !== 'text') continue;
    const verified = verifyText(parsed.text, shown, { thread, audience: 'team' });
    assert.deepEqual([verified.problems, verified.unverified, verified.dropped], [[], 0, 0], thread.id);
    assert.ok(verified.kept > 0);
  }
});
