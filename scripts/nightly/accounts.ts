import type { Repository } from '../git/types.ts';
import type { Journal } from '../model/journal.ts';
import type { Ledger } from '../model/ledger.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { hasRun, usageThisMonth } from '../state/runs.ts';
import { reservedUsd } from './batches.ts';
import { type Commits, commitNight, type Made, type Refs } from './commits.ts';
import type { Start } from './start.ts';

/**
 * What the rows of the state that a night starts from tell is not told by its own row, and what the month has left is
 * reckoned from them. A run that is played again under its own id writes its row anew, with all that it cost.
 */
export function settleAccounts(
  { state, night }: Pick<Start, 'state' | 'night'>,
  ledger: Ledger,
  usdPerMonth: number | undefined,
  { runId, now }: { readonly runId: string; readonly now: EpochSeconds },
): void {
  ledger.settle((run) => run !== runId && hasRun(state, run));
  if (usdPerMonth !== undefined) ledger.allow(usdLeft(usdPerMonth, state, night, now));
}

/** What a month's budget has left, in dollars, batches under way counted at their most. */
export function usdLeft(
  usdPerMonth: number,
  state: State,
  { batches }: Pick<Start['night'], 'batches'>,
  now: EpochSeconds,
): number {
  const spent = Object.values(usageThisMonth(state, now)).reduce((sum, phase) => sum + (phase.micro_usd ?? 0), 0);
  return Math.max(0, usdPerMonth - spent / 1_000_000 - reservedUsd(batches));
}

/**
 * As `commitNight`, for a night's own result. That its row tells what was paid for is noted before: whoever is stopped in
 * between finds out by the state that stands whether the row does.
 */
export async function commitTold(
  {
    repository,
    journal,
    ledger,
  }: { readonly repository: Repository; readonly journal: Journal; readonly ledger: Ledger },
  refs: Refs,
  start: Start,
  made: Made,
): Promise<Commits> {
  journal.tell(made.runId);
  ledger.tell(made.runId);
  return commitNight(repository, refs, start, made);
}
