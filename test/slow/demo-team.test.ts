import assert from 'node:assert/strict';
import { test } from 'node:test';
import { teamWeek } from './team-week.ts';

test('a team’s week: three laptops, two repositories, six nights, each review as it was meant', async (t) => {
  const checks = await teamWeek(t);
  assert.deepEqual(
    checks.filter(({ expected, actual }) => expected !== actual),
    [],
  );
});
