import { day, type EpochSeconds, hour, isoTime } from '../shared/clock.ts';
import type { Attempt } from './attempt.ts';
import type { Found } from './copy.ts';

/**
 * What is amiss with the memory that a session gets, in one or two sentences of ours; '' where nothing is. A server's own
 * words are not among them, since the session reads this outside of the frame for what others said.
 */
export function noticeFor(found: Found, attempt: Attempt | null, now: EpochSeconds): string {
  const failed = attempt?.failure ? ' The last attempt to fetch it failed.' : '';
  switch (found.kind) {
    case 'off':
      return 'The team’s memory is switched off: its configuration says enabled: false.';
    case 'missing':
      return 'There is no memory there.';
    case 'coming':
      return `The team’s memory is not on this machine yet; later sessions get it.${failed}`;
    case 'copy': {
      const { fetchedAt } = found.copy;
      if (fetchedAt === null || (failed === '' && now - fetchedAt < day)) return '';
      return `This copy of the memory is ${age(now - fetchedAt)} old, from ${isoTime(fetchedAt)}.${failed}`;
    }
  }
}

function age(seconds: number): string {
  const [count, unit] =
    seconds >= 2 * day
      ? [Math.floor(seconds / day), 'days']
      : seconds >= 2 * hour
        ? [Math.floor(seconds / hour), 'hours']
        : [Math.max(0, Math.floor(seconds / 60)), 'minutes'];
  return `${count} ${unit}`;
}
