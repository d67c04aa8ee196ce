import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { loaderArguments } from '../../scripts/shared/built.ts';
import { root } from '../support/nights.ts';
import type { Played } from '../support/soak-process.ts';

/** Each seed gives other nights. `CTM_SOAK=7` plays those of the seed 7 again, `CTM_SOAK_NIGHTS=10` so many of them. */
const seed = Number(process.env.CTM_SOAK ?? 1);
const nights = Number(process.env.CTM_SOAK_NIGHTS ?? 60);

const rules =
  'no row is lost, no citation and no token counts twice, artifacts are valid, no watermark goes back, nothing forgotten is back, spend stays within the cap';

test(`after each of ${nights} nights in which anything goes wrong: ${rules}`, async (t) => {
  t.diagnostic(`CTM_SOAK=${seed}`);
  const program = join(root, 'test/support/soak-process.ts');
  const args = [...loaderArguments(), program, String(seed), String(nights)];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    signal: t.signal,
    maxBuffer: 64 * 1024 * 1024,
  });
  const played: Played = JSON.parse(stdout);
  t.diagnostic(`${played.nights} nights, ${played.killed} killed, ${played.pulls} pull requests`);
  assert.equal(played.nights, nights);
});
