import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CodexOrder } from '../../scripts/bench/forgetting/codex-order.ts';
import { type Lives, lifeFigures } from '../../scripts/bench/forgetting/lives.ts';
import { type Forgetting, measureForgetting } from '../../scripts/bench/forgetting/measure.ts';
import { forgettingFaults, forgettingText } from '../../scripts/bench/forgetting/report.ts';
import { selectionPolicy } from '../../scripts/bench/load/books.ts';
import { day } from '../../scripts/shared/clock.ts';

const load = { repositories: 4, people: 3, sessionsADay: 6 };

function measured(citationsADay: number): Promise<Forgetting> {
  return measureForgetting({ load, nights: 75, citationsADay }, () => undefined);
}

test('a small team’s memories: all come in, what is cited stays longer, and the same is measured again', async () => {
  const one = await measured(4);
  assert.deepEqual(await measured(4), one);
  assert.deepEqual(forgettingFaults([one]), []);
  assert.equal(one.ours.consolidated, 1);
  assert.equal(one.ours.nightsUncited, selectionPolicy.maxUnusedDays + 1, 'the first night and the last');
  assert.match(forgettingText([one]), /^450 outputs;.*\n\n.*\n4 +ours +100\.0 %/);
});

test('what is missed is said: too few, nothing new, too early, for the wrong ones, no longer than the others', async () => {
  const { ours, ...rest } = await measured(2);
  const bad = { consolidated: 0.5, nightsWithoutNew: 3, scopesWithoutNew: 2, leftTooEarly: 1, leftByWrongRank: 4 };
  const faults = forgettingFaults([{ ...rest, ours: { ...ours, ...bad, nightsCited: 3, nightsUncited: 9 } }]);
  const wanted = [/50\.0 %/, /on 3 nights/, /2 times/, /1 outputs left before/, /4 outputs left for/, /lives 3 nights/];
  assert.equal(faults.length, wanted.length);
  for (const [index, pattern] of wanted.entries()) assert.match(faults[index] ?? '', pattern);
});

test('only what had its chance is judged, and only by what was once in the memory', () => {
  const life = (made: number, nights: number, cited = 0) => ({ made, nights, cited, isPopular: false });
  const lives: Lives = new Map([life(1, 10, 1), life(1, 4), life(1, 0), life(9, 0)].map((one, at) => [`${at}`, one]));
  const figures = lifeFigures(lives, 5, 5);
  assert.equal(figures.consolidated, 2 / 3);
  assert.deepEqual([figures.nightsCited, figures.nightsUncited, figures.nightsPopular], [10, 4, null]);
});

test('Codex’s order is one for all repositories, by use over all time, and drops what is not used for a month', () => {
  const order = new CodexOrder();
  for (let index = 0; index < 300; index += 1) order.add(`t${1000 + index}`, index < 10 ? 'a' : 'b', index * 60);
  order.cite('t1000', 5 * day);
  const memory = order.select(6 * day);
  assert.equal([...memory.values()].flat().length, 256);
  assert.deepEqual(memory.get('a'), ['t1000'], 'the oldest go first, but for the one that was cited');
  assert.deepEqual([...order.select(35 * day).values()].flat(), ['t1000']);
  assert.equal(order.select(36 * day).size, 0);
});
