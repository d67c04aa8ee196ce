import { setTimeout as delay } from 'node:timers/promises';
import { sha256 } from '../shared/thread-id.ts';
import { abortedError, type ModelError } from './errors.ts';
import type { HttpHeaders } from './http.ts';

/** Waits that long; rejects when the signal is aborted meanwhile. A port, so that tests need no waiting. */
export type Wait = (seconds: number, signal: AbortSignal | undefined) => Promise<void>;

export const timerWait: Wait = async (seconds, signal) => {
  await delay(seconds * 1000, undefined, signal === undefined ? {} : { signal });
};

/**
 * Seconds before the next try: what the server asked, at most 60; else 1, 2, 4, 8 …, spread by ± 25 % over
 * the subjects, the same each time, so that requests refused together do not come back together.
 * @param failures how many tries have failed, from 1.
 */
export function retryDelay(failures: number, asked: number | null, subject: string): number {
  if (asked !== null) return Math.min(asked, longestWait);
  const spread = 0.75 + Number.parseInt(sha256(`${subject} ${failures}`).slice(0, 4), 16) / 0x1_ffff;
  return Math.min(2 ** (failures - 1) * spread, longestWait);
}

/** Seconds that `retry-after-ms` or `retry-after` (seconds; an HTTP date is ignored) asks for, else null. */
export function askedDelay(headers: HttpHeaders): number | null {
  const milliseconds = numberOf(headers.get('retry-after-ms'));
  return milliseconds === null ? numberOf(headers.get('retry-after')) : milliseconds / 1000;
}

/** @throws ModelError of kind `aborted` */
export async function pause(wait: Wait, seconds: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await wait(seconds, signal);
  } catch (thrown) {
    if (signal?.aborted) throw abortedError(thrown);
    throw thrown;
  }
  if (signal?.aborted) throw abortedError();
}

/** Whether a request that failed `failures` times may be sent again. */
export function mayRetry(error: ModelError, failures: number, maxRetries: number): boolean {
  return failures <= Math.min(error.retries, maxRetries);
}

/** Seconds. A longer wait would hold the night's lease for nothing. */
const longestWait = 60;

function numberOf(text: string | null): number | null {
  return text !== null && /^\s{0,9}\d{1,9}(\.\d{1,9})?\s{0,9}$/.test(text) ? Number(text) : null;
}
