import { readFileSync } from 'node:fs';
import { UsageError } from './errors.ts';

/** Whole seconds since 1970-01-01T00:00:00Z: the unit of every time in the state and in a rollout. */
export type EpochSeconds = number;

export const day = 86_400;
export const hour = 3_600;

/** The only source of the time. A fixed clock makes equal nights give equal commits. */
export interface Clock {
  now(): EpochSeconds;
}

export function fixedClock(at: EpochSeconds): Clock {
  return { now: () => at };
}

/**
 * The system's clock, unless `CTM_CLOCK=<ISO>` fixes it or `CTM_CLOCK_FILE=<path>` names a file that holds the ISO
 * time and is read anew at each call.
 * @throws UsageError when either names something that is no time.
 */
export function clockFrom(env: Readonly<Record<string, string | undefined>>): Clock {
  const fixed = env.CTM_CLOCK;
  if (fixed) return fixedClock(parseClock(fixed, 'CTM_CLOCK'));
  const file = env.CTM_CLOCK_FILE;
  if (file) return { now: () => parseClock(readFileSync(file, 'utf8').trim(), 'CTM_CLOCK_FILE') };
  return { now: () => Math.floor(Date.now() / 1000) };
}

/** Milliseconds on a monotonic clock: for progress and rates, never for anything that is stored. */
export function stopwatch(): () => number {
  const start = performance.now();
  return () => performance.now() - start;
}

/** `2026-11-29T23:44:06Z` */
export function isoTime(at: EpochSeconds): string {
  return `${new Date(at * 1000).toISOString().slice(0, -5)}Z`;
}

/** @returns whole seconds, or null for text that is no ISO 8601 time. */
export function parseIsoTime(text: string): EpochSeconds | null {
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/.test(text)) return null;
  const at = Date.parse(/T.*(Z|[+-]\d{2}:?\d{2})$/.test(text) || !text.includes('T') ? text : `${text}Z`);
  return Number.isNaN(at) ? null : Math.floor(at / 1000);
}

function parseClock(text: string, name: string): EpochSeconds {
  const at = parseIsoTime(text);
  if (at === null)
    throw new UsageError(
      `${name} is no ISO time: ${text.slice(0, 40)}.`,
      `Write it like ${name}=2026-11-30T03:17:00Z.`,
    );
  return at;
}
