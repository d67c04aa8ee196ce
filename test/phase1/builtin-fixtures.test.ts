import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createBuiltinExtractor } from '../../scripts/phase1/builtin.ts';
import { evidenceRows } from '../../scripts/phase1/evidence.ts';
import type { Stage1Text } from '../../scripts/phase1/types.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { filterRollout } from '../../scripts/rollout/filter.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import type { Agent, Item, Thread } from '../../scripts/rollout/types.ts';
import { bulletsUnder, inputOf } from '../support/session-events.ts';

const samples = join(import.meta.dirname, '../fixtures/rollouts');
const preferences = 'Preference signals (project):';
const rollouts = openRollouts(
  [
    { agent: 'codex', path: join(samples, 'codex') },
    { agent: 'claude-code', path: join(samples, 'claude-code') },
    { agent: 'claude-code', path: join(samples, 'claude-code-real') },
  ],
  { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' },
);

interface Sample {
  readonly thread: Thread;
  readonly items: readonly Item[];
  readonly text: Stage1Text | null;
}

async function session(agent: Agent, part: string): Promise<Sample> {
  const { found } = await rollouts.list();
  const one = found.find(({ thread, path }) => thread.agent === agent && path.includes(part));
  const rollout = await rollouts.read(one?.thread.id ?? assert.fail(part));
  const { items } = filterRollout(rollout);
  const extraction = await createBuiltinExtractor().extract(inputOf(items, rollout.thread));
  return { thread: rollout.thread, items, text: extraction.outcome === 'extracted' ? extraction.text : null };
}

const kept: readonly (readonly [Agent, string, string, readonly string[]])[] = [
  ['codex', 'exec/01-py', 'success', ['always run the full test suite', "Decimal('20.00') != Decimal('18.00')"]],
  ['codex', 'exec/02-ts', 'success', ['I want named exports only', 'error TS2835', 'npx tsc -p . --pretty false']],
  ['codex', 'exec/03-docker', 'partial', ['We run Node 20 everywhere.', 'Cannot connect to the Docker daemon']],
  ['codex', 'exec/04-user', 'success', ['Never add dependencies to this repo.', "No module named 'tenacity'"]],
  ['codex', 'legacy/04-user', 'success', ['Never add dependencies to this repo.']],
  ['codex', 'exec/05-secrets', 'partial', ['never print credentials to the terminal in my repos']],
  ['codex', 'exec/09-compaction', 'success', ['Small commits please, no new dependencies.', 'inv/common.py']],
  ['codex', 'exec/13-shell', 'success', ['I prefer POSIX sh over bash', 'rm -f style commands are not permitted']],
  ['claude-code', '5d2ce5b0', 'uncertain', ["No - don't use jest here, we use node --test"]],
  ['claude-code', '28c2e4cf', 'uncertain', ['by the way, always use pnpm not npm" (candidate)']],
  ['claude-code', '3637986a', 'uncertain', ['Remember: never use jest here.']],
  ['claude-code', 'aa6e0926', 'partial', ['denied.txt']],
  ['claude-code', 'eaab2af9', 'success', ['src/total.js', 'node --test']],
  ['claude-code', '3de15637', 'success', ['error returned from external package is unwrapped', 'mise run lint']],
];

for (const [agent, part, outcome, phrases] of kept)
  test(`${agent} ${part}: ${outcome}, with what a colleague would want to know`, async () => {
    const { thread, items, text } = await session(agent, part);
    assert.ok(text);
    assert.match(text.rawMemory, new RegExp(`^task_outcome: ${outcome}$`, 'm'));
    for (const phrase of phrases) assert.ok(text.rawMemory.includes(phrase), phrase);
    const rows = evidenceRows(thread, items, text);
    assert.ok(rows.length > 0);
    for (const bullet of bulletsUnder(preferences, text.rawMemory)) assertSaid(bullet, items);
    assert.ok(
      !/\/home\/dana|AGENTS\.md instructions|environment_context/.test(JSON.stringify(text)),
      JSON.stringify(text),
    );
  });

const nothing: readonly (readonly [Agent, string])[] = [
  ['codex', 'exec/07-uncertain'],
  ['codex', 'exec/08-trivial'],
  ['codex', 'exec/11-prompt-injection'],
  ['codex', 'exec/12-interrupted'],
  ['claude-code', 'a51632fc'],
  ['claude-code', 'e79ca341'],
  ['claude-code', '28d38402'],
  ['claude-code', '80f6911a'],
  ['claude-code', '4fc95faa'],
];

for (const [agent, part] of nothing)
  test(`${agent} ${part}: nothing worth keeping`, async () => assert.equal((await session(agent, part)).text, null));

/** A preference is a person's words, verbatim, at the place that it names first. */
function assertSaid(bullet: string, items: readonly Item[]): void {
  const n = /\(@([\d.:]+)[,)]/.exec(bullet)?.[1];
  const item = items.find((one) => one.n === n);
  assert.equal(item?.who, 'human', bullet);
  const quoted = /^- "(.*)"(?: …)?(?: → .*)?(?: \(candidate\))? \(@[^)]*\)$/.exec(bullet)?.[1];
  assert.ok(item?.text.includes(quoted ?? assert.fail(bullet)), bullet);
}
