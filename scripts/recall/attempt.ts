import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { jsonFields } from '../shared/json.ts';
import { readRegular } from './read-own.ts';

/** The last time that a copy was asked to be brought up to date. */
export interface Attempt {
  readonly at: EpochSeconds;
  /** Why it came to nothing, in words that are safe to show; null where it did not, or is still under way. */
  readonly failure: string | null;
}

/** Sessions of one machine ask a server at most this often, whether it answers or not. */
export const refreshEverySeconds = 15 * 60;

export function isDue(attempt: Attempt | null, now: EpochSeconds): boolean {
  return attempt === null || Math.abs(now - attempt.at) >= refreshEverySeconds;
}

export function readAttempt(cache: string): Attempt | null {
  const read = readRegular(join(cache, 'attempt.json'), 65_536);
  if (read.kind !== 'file') return null;
  const { at: text, failure } = jsonFields(read.bytes.toString('utf8'));
  const at = typeof text === 'string' ? parseIsoTime(text) : null;
  return at === null ? null : { at, failure: typeof failure === 'string' ? failure : null };
}

export function noteAttempt(cache: string, { at, failure }: Attempt, mark: string): void {
  writeWhole(join(cache, 'attempt.json'), `${JSON.stringify({ at: isoTime(at), failure })}\n`, mark);
}

/** Writes a file that only its owner can read, whole or not at all. @param mark keeps two writers apart. */
export function writeWhole(path: string, text: string, mark: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.${mark}`, text, { mode: 0o600 });
  renameSync(`${path}.${mark}`, path);
}
