import { test } from 'node:test';
import { aTeam } from '../support/laptops.ts';
import { race } from '../support/races.ts';

test('four laptops and a retention at once: every session stands once, nothing old is back', async (t) => {
  const team = aTeam(t);
  await race(t, team, team, 4, 2);
});
