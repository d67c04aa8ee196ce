import assert from 'node:assert/strict';
import { join } from 'node:path';
import { lookAtJournal } from '../../scripts/model/journal-look.ts';
import type { Rows, Soak } from './soak.ts';
import { caps } from './soak-model.ts';
import { monthOf, type SoakNight } from './soak-night.ts';

/** Each token that was paid for stands in one row, no answer is paid for again, and the caps hold. */
export function moneyIsWellKept(soak: Soak, runs: Rows, played: SoakNight): void {
  tokensAreToldOnce(soak, runs);
  nothingIsPaidForAgain(soak);
  spendIsWithinTheCap(soak, played);
}

function tokensAreToldOnce({ model: { paid }, kills, machines }: Soak, runs: Rows): void {
  const sum = (answers: typeof paid) => answers.reduce((total, { tokens }) => total + tokens, 0);
  let told = 0;
  for (const phase of ['phase1', 'phase2'] as const) {
    const usages = runs.map(({ usage }) => JSON.parse(String(usage))[phase] ?? {});
    const recorded = usages.reduce((total, { input = 0, output = 0 }) => total + input + output, 0);
    const served = sum(paid.filter((one) => one.phase === phase));
    assert.ok(recorded <= served, `${phase}: the ledger says ${recorded} tokens, the server gave ${served}`);
    told += recorded;
  }
  // What was on its way to a process that was killed nobody can tell.
  const arrived = sum(paid.filter(({ night }) => !kills.has(night)));
  const waiting = machines.reduce(
    (total, clone) => total + lookAtJournal(join(clone, '.git', 'memory', 'journal')).tokens,
    0,
  );
  assert.ok(
    told + waiting >= arrived,
    `${arrived} tokens were paid for, and ledger and journals know of ${told + waiting}`,
  );
}

function nothingIsPaidForAgain(soak: Soak): void {
  const extractions = new Map<string, number>();
  for (const { phase, request, machine } of soak.model.paid) {
    if (phase !== 'phase1' || request === '') continue;
    const key = `${machine} ${request}`;
    extractions.set(key, (extractions.get(key) ?? 0) + 1);
  }
  for (const [key, times] of extractions)
    assert.ok(times <= 1 + soak.kills.size, `an answer is paid for ${times} times: ${key}`);
}

function spendIsWithinTheCap(soak: Soak, { at }: SoakNight): void {
  const { paid, night } = soak.model;
  soak.months.set(night, monthOf(at));
  const spent = (wanted: (one: (typeof paid)[number]) => boolean, what: 'tokens' | 'usd') =>
    paid.filter(wanted).reduce((sum, one) => sum + one[what], 0);
  for (const machine of new Set(paid.map((one) => one.machine)))
    for (const phase of ['phase1', 'phase2'] as const) {
      const tokens = spent((one) => one.night === night && one.machine === machine && one.phase === phase, 'tokens');
      assert.ok(tokens <= caps[phase], `${phase} used ${tokens} tokens in a night, the cap is ${caps[phase]}`);
    }
  const month = monthOf(at);
  const isHere = (one: (typeof paid)[number]) => soak.months.get(one.night) === month;
  const usd = spent(isHere, 'usd');
  const lost = spent((one) => isHere(one) && soak.kills.has(one.night), 'usd');
  assert.ok(usd - lost <= caps.usdPerMonth, `$${usd} were spent in ${month}, the cap is $${caps.usdPerMonth}`);
}
