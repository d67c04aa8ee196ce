import { type EpochSeconds, hour } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { signatureOf } from './compose.ts';
import type { NightPolicy, Phases } from './night.ts';

/** @source codex-rs/memories: lease, retry and cooldown; design §6: new outputs a night, scopes at once */
const constants = {
  leaseSeconds: hour,
  retrySeconds: hour,
  cooldownSeconds: 6 * hour,
  maxNewPerNight: 40,
  scopesAtOnce: 4,
} as const;

/** What the command line asks for beside the configuration. */
export interface Wishes {
  /** Sources were named: their sessions count as included. */
  readonly all: boolean;
  /** Ignore idle time, backoff and cooldown. */
  readonly now: boolean;
  /** Ignore the age limit and take what is at least as new; null keeps the limit. */
  readonly since: EpochSeconds | null;
}

const bothPhases: Phases = { one: true, two: true };

/** What the configuration and the command line decide, as one value. */
export function nightPolicy(config: Config, { all, now, since }: Wishes, phases: Phases = bothPhases): NightPolicy {
  const { memory } = config;
  const { usd_per_month: usdPerMonth } = config.budget;
  const { leaseSeconds, retrySeconds, cooldownSeconds, maxNewPerNight, scopesAtOnce } = constants;
  return {
    phases,
    reading: {
      include: config.include,
      exclude: config.exclude,
      excludeOrigins: config.exclude_origins,
      outside: memory.external_sessions,
      isOptedOut: () => false,
      maxAgeDays: memory.max_rollout_age_days,
      idleHours: memory.min_rollout_idle_hours,
      all,
      now,
      since,
    },
    extraction: { concurrency: config.model.concurrency, leaseSeconds, retrySeconds, ignoreBackoff: now },
    consolidation: {
      selection: {
        maxRawMemories: memory.max_raw_memories_for_consolidation,
        maxUnusedDays: memory.max_unused_days,
        maxNewPerNight,
        outside: memory.external_sessions,
      },
      audience: config.audience,
      concurrency: scopesAtOnce,
      leaseSeconds,
      retrySeconds,
      cooldownSeconds,
      ignoreCooldown: now,
      ignoreBackoff: now,
    },
    maxUnusedDays: memory.max_unused_days,
    ...(usdPerMonth === undefined ? {} : { usdPerMonth }),
    author: signatureOf(config),
  };
}
