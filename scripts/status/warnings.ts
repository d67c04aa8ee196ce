import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Status } from './facts.ts';

/**
 * What somebody should look at, each with what to do.
 * @param ready sessions of the sources that would be read now.
 */
export function warningsOf(status: Status, ready: number, now: EpochSeconds): string[] {
  const { sessions, scopes, lastSuccess, month, stuck, pendingPush, journal } = status;
  const found: string[] = [];
  const waiting = Math.max(sessions.unread, ready) + scopes.reduce((sum, { waiting: some }) => sum + some, 0);
  const age = lastSuccess === null ? null : Math.floor((now - lastSuccess) / day);
  if (waiting > 0 && age !== null && age > frozenDays)
    found.push(
      `Nothing new reached the memory for ${age} days while ${waiting} sessions wait: npm run nightly says why.`,
    );
  if (stuck.length > 0)
    found.push(`${stuck.length} jobs look stuck: their lease is over. Nothing to do: the next night takes them over.`);
  if (status.sizeVerdict !== 'fine')
    found.push(
      `The state ${status.sizeVerdict === 'stop' ? 'is too large to be written again' : 'grows too large'}: lower memory.max_unused_days in .github/memory.yml.`,
    );
  if (month.usdPerMonth !== null && month.usd >= month.usdPerMonth * 0.8)
    found.push(
      `$${month.usd.toFixed(2)} of this month's $${month.usdPerMonth.toFixed(2)} are spent: raise budget.usd_per_month, or wait.`,
    );
  if (pendingPush !== null)
    found.push(
      `Run ${pendingPush.runId} ended before its commits reached ${pendingPush.ref}: npm run nightly goes on.`,
    );
  for (const [threadId, count] of journal.died)
    found.push(`Reading ${threadId} ended ${count} times with the death of the process; after three it is given up.`);
  return [...found, ...journal.problems];
}

/** A memory that nothing new reached for so long, while sessions wait, is a pipeline that stands still. */
const frozenDays = 3;
