import type { Ledger } from '../model/ledger.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import type { NightReport } from './night.ts';
import { nightJson, nightMarkdown, nightText } from './report.ts';

/** Says what a night did. */
export function told({ flags, log }: World, report: NightReport, ledger: Ledger): ExitCode {
  log.summary(nightMarkdown(report, ledger));
  log.result(flags.isOn('json') ? JSON.stringify(nightJson(report, ledger)) : nightText(report, ledger));
  return report.outcome === 'partly' ? exitCodes.partly : exitCodes.done;
}

/** A night that has nothing to do says why. */
export function quiet({ flags, log }: World, why: string): ExitCode {
  log.result(flags.isOn('json') ? JSON.stringify({ outcome: 'quiet', why }) : why);
  return exitCodes.done;
}
