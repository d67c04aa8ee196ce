import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playHistory } from '../support/history-run.ts';

/** Each seed gives one history, the same at every run. `CTM_HISTORIES=0-1000` plays more of them. */
const [from = 0, to = 120] = (process.env.CTM_HISTORIES ?? '0-120').split('-').map(Number);

const rules =
  'nothing forgotten comes back, nothing said is lost, no answer is paid twice, no line of ours is taken for a person’s';

test(`whatever a team does, in any order, and wherever a night dies: ${rules}`, async () => {
  const ended = new Map<string, number>();
  for (let seed = from; seed < to; seed += 1) {
    const { world, steps } = await playHistory(seed, 8);
    for (const { state } of world.forge.pulls) ended.set(state, (ended.get(state) ?? 0) + 1);
    for (const step of steps) ended.set(step, (ended.get(step) ?? 0) + 1);
  }
  const wanted = [
    'merged',
    'closed',
    'open',
    'from branch',
    'from merged',
    'from closed',
    'reopens',
    'loses the state',
  ];
  for (const step of wanted) assert.ok((ended.get(step) ?? 0) > 0, `the histories hold: ${step}`);
});
