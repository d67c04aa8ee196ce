import assert from 'node:assert/strict';
import { test } from 'node:test';
import { api, cwdOf, shop, startNights } from '../support/model-nights.ts';
import { teaching } from '../support/shards.ts';
import { threadId } from '../support/written-sessions.ts';

/** As much as one repository's conversation may need at most, and not two. */
const config = 'budget: { phase2_tokens: 40000 }\n';

test('where a night’s allowance is too small for all, who waited longest comes first: nobody is passed over twice', async (t) => {
  const nights = await startNights(t);
  nights.write(teaching(1, cwdOf[api]), teaching(2, cwdOf[shop]));
  const first = await nights.play({ at: '2026-11-30T03:00:00Z', config });
  assert.deepEqual(outcomes(first.report.phase2.scopes), { [api]: 'consolidated', [shop]: 'left' });
  // The one that had its turn has news again, and would be first by its name.
  const news = teaching(3, cwdOf[api]);
  nights.write({ ...news, at: '2026-11-30T10:00:00Z' });
  const second = await nights.play({ at: '2026-12-01T03:00:00Z', config });
  assert.deepEqual(second.report.phase1.extracted, [threadId(3)]);
  assert.deepEqual(outcomes(second.report.phase2.scopes), { [api]: 'left', [shop]: 'consolidated' });
  const third = await nights.play({ at: '2026-12-02T03:00:00Z', config });
  assert.equal(outcomes(third.report.phase2.scopes)[api], 'consolidated');
  assert.match(nights.file('memories/MEMORY.md'), /number 1 was seen[\s\S]*number 3 was seen[\s\S]*number 2 was seen/);
});

function outcomes(scopes: readonly { readonly scope: string; readonly outcome: string }[]): Record<string, string> {
  return Object.fromEntries(scopes.filter(({ scope }) => scope !== '*').map(({ scope, outcome }) => [scope, outcome]));
}
