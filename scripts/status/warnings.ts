import { day, type EpochSeconds } from '../shared/clock.ts';
import type { Status } from './facts.ts';

/** Something that somebody should look at. */
export interface Concern {
  readonly kind: 'frozen' | 'stuck' | 'size' | 'money' | 'pending' | 'died' | 'journal';
  /** How it is, as a sentence without its end. */
  readonly what: string;
  /** As a sentence; '' where `what` says it all. */
  readonly remedy: string;
}

/** The concerns as sentences. */
export function warningsOf(status: Status, ready: number, now: EpochSeconds): string[] {
  return concernsOf(status, ready, now).map(({ what, remedy }) => (remedy === '' ? what : `${what}: ${remedy}`));
}

/**
 * What somebody should look at, each with what to do.
 * @param ready sessions of the sources that would be read now.
 */
export function concernsOf(status: Status, ready: number, now: EpochSeconds): Concern[] {
  const { sessions, scopes, lastSuccess, month, stuck, pendingPush, journal } = status;
  const found: Concern[] = [];
  const waiting = Math.max(sessions.unread, ready) + scopes.reduce((sum, { waiting: some }) => sum + some, 0);
  const age = lastSuccess === null ? null : Math.floor((now - lastSuccess) / day);
  if (waiting > 0 && age !== null && age > frozenDays)
    found.push({
      kind: 'frozen',
      what: `Nothing new reached the memory for ${age} days while ${waiting} sessions wait`,
      remedy: 'npm run nightly says why.',
    });
  if (stuck.length > 0)
    found.push({
      kind: 'stuck',
      what: `${stuck.length} jobs look stuck: their lease is over`,
      remedy: 'Nothing to do: the next night takes them over.',
    });
  if (status.sizeVerdict !== 'fine')
    found.push({
      kind: 'size',
      what: `The state ${status.sizeVerdict === 'stop' ? 'is too large to be written again' : 'grows too large'}`,
      remedy: 'lower memory.max_unused_days in .github/memory.yml.',
    });
  if (month.usdPerMonth !== null && month.usd >= month.usdPerMonth * 0.8)
    found.push({
      kind: 'money',
      what: `$${month.usd.toFixed(2)} of this month's $${month.usdPerMonth.toFixed(2)} are spent`,
      remedy: 'raise budget.usd_per_month, or wait.',
    });
  if (pendingPush !== null)
    found.push({
      kind: 'pending',
      what: `Run ${pendingPush.runId} ended before its commits reached ${pendingPush.ref}`,
      remedy: 'npm run nightly goes on.',
    });
  for (const [threadId, count] of journal.died)
    found.push({
      kind: 'died',
      what: `Reading ${threadId} ended ${count} times with the death of the process; after three it is given up.`,
      remedy: '',
    });
  return [...found, ...journal.problems.map((what): Concern => ({ kind: 'journal', what, remedy: '' }))];
}

/** A memory that nothing new reached for so long, while sessions wait, is a pipeline that stands still. */
const frozenDays = 3;
