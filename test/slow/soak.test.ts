import assert from 'node:assert/strict';
import { test } from 'node:test';
import { playSoak } from '../support/soak-run.ts';

/** Each seed gives other nights. `CTM_SOAK=7` plays those of the seed 7 again, `CTM_SOAK_NIGHTS=10` so many of them. */
const seed = Number(process.env.CTM_SOAK ?? 1);
const nights = Number(process.env.CTM_SOAK_NIGHTS ?? 60);

const rules =
  'no row is lost, no citation and no token counts twice, artifacts are valid, no watermark goes back, nothing forgotten is back, spend stays within the cap';

test(`after each of ${nights} nights in which anything goes wrong: ${rules}`, async (t) => {
  t.diagnostic(`CTM_SOAK=${seed}`);
  const { team, model, kills } = await playSoak(t, seed, nights);
  t.diagnostic(`${model.night} nights, ${kills.size} killed, ${team.forge.pulls.length} pull requests`);
  assert.equal(model.night, nights);
});
