import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { noteAttempt } from './attempt.ts';
import { fetchCopy, fetchSeconds } from './fetch.ts';
import { readRegular } from './read-own.ts';
import { type Machine, sourceOf } from './source.ts';

export interface RefreshPorts {
  readonly machine: Machine;
  readonly clock: Clock;
  /** Tells this process from others of this machine. */
  readonly mark: string;
  readonly largestRepository?: number;
}

/** `busy`: another process is at it. `none`: a folder needs none. A failure is noted for the next session to tell. */
export type Refreshed =
  | { readonly outcome: 'fetched' | 'unchanged' | 'busy' | 'none' }
  | { readonly outcome: 'failed'; readonly failure: string };

/** Brings the copy of an address up to date; the old one stands until the new one is whole. */
export async function refreshCopy(
  memory: string,
  { machine, clock, mark, ...limits }: RefreshPorts,
): Promise<Refreshed> {
  const source = sourceOf(memory, machine);
  if (source.kind === 'folder') return { outcome: 'none' };
  await mkdir(source.cache, { recursive: true, mode: 0o700 });
  const lock = join(source.cache, 'refresh.lock');
  if (!(await take(lock, clock.now(), mark))) return { outcome: 'busy' };
  try {
    const outcome = await fetchCopy(source, { env: machine.env, clock, mark, ...limits });
    noteAttempt(source.cache, { at: clock.now(), failure: null }, mark);
    return { outcome };
  } catch (error) {
    const failure = error instanceof MemoryError ? `${error.message} ${error.hint}` : messageOf(error);
    noteAttempt(source.cache, { at: clock.now(), failure: failure.slice(0, 1_000) }, mark);
    return { outcome: 'failed', failure };
  } finally {
    await rm(lock, { force: true });
  }
}

/** A lock older than any fetch may take is a dead process's. It appears with its time in it, by one link. */
async function take(lock: string, now: EpochSeconds, mark: string): Promise<boolean> {
  const draft = `${lock}.${mark}`;
  await writeFile(draft, isoTime(now), { mode: 0o600 });
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const held = readRegular(lock, 100);
    const since = held.kind === 'file' ? parseIsoTime(held.bytes.toString('utf8')) : null;
    if (since !== null && Math.abs(now - since) < 2 * fetchSeconds) return false;
    await rm(lock, { force: true });
    return await take(lock, now, mark);
  } finally {
    await rm(draft, { force: true });
  }
}
