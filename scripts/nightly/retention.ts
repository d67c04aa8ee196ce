import type { Archive } from '../archive/archive.ts';
import { expiredThreads, rewriteArchive } from '../archive/rewrite.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import { day } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { messageOf } from '../shared/errors.ts';
import type { Played } from './night.ts';

/** Sessions that may leave the rollouts ref. */
export interface Expired {
  readonly threads: ReadonlySet<string>;
  /** One with activity since then stays. */
  readonly notSince: EpochSeconds;
}

/** What is read, or was reported as too old, goes after its time. */
export function expiredTonight(
  { found, skipped, phase1 }: Pick<Played['report'], 'found' | 'skipped' | 'phase1'>,
  { rollouts }: Pick<Config, 'rollouts'>,
  now: EpochSeconds,
): Expired {
  const notSince = now - rollouts.retention_days * day;
  const late = new Set(['too_old', 'expired_unread', 'before_horizon']);
  const done = new Set([...phase1.extracted, ...phase1.nothing]);
  const mayGo = (threadId: string) => {
    const why = skipped.get(threadId);
    return done.has(threadId) || why === 'up_to_date' || (why !== undefined && late.has(why));
  };
  return { threads: expiredThreads(found, mayGo, notSince), notSince };
}

/** Retention, last in a night, which it never fails. */
export async function dropExpired(
  expired: Expired,
  archive: Archive,
  { clock, warn, signal }: { readonly clock: Clock; warn(text: string): void; readonly signal: AbortSignal },
): Promise<void> {
  if (expired.threads.size === 0) return;
  try {
    await rewriteArchive(archive, expired, { clock, signal });
  } catch (error) {
    warn(`Expired sessions stay on the rollouts ref for now: ${messageOf(error)}`);
  }
}
