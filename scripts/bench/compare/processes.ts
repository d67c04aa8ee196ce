import { readdir, readFile, readlink } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename } from 'node:path';
import { UsageError } from '../../shared/errors.ts';

/** Milliseconds of a tick in which Linux counts processor time for those who ask. */
const tickMs = 10;

/** What the kernel has counted for a process so far. */
export interface Usage {
  /** Processor time of the process and of the children that it has waited for: ms. */
  readonly cpuMs: number;
  /** Processor time of the children that it has waited for alone: ms. */
  readonly waitedMs: number;
}

/** @throws UsageError where the kernel does not tell what other processes take. */
export function assertMeasurable(): void {
  if (platform() === 'linux') return;
  throw new UsageError(
    'What another program takes can only be measured on Linux.',
    'Run the comparison there, or in a Linux container; every other measure runs here.',
  );
}

/** null for a process that is gone. */
export async function usageOf(pid: number | 'self'): Promise<Usage | null> {
  return parseStat(await readFile(`/proc/${pid}/stat`, 'utf8').catch(gone));
}

/** @param stat `/proc/<pid>/stat`; the name in it may hold anything, brackets and spaces too. */
export function parseStat(stat: string | null): Usage | null {
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields === undefined || fields.length < 15) return null;
  const [user, system, waitedUser, waitedSystem] = fields.slice(11, 15).map((ticks) => Number(ticks) * tickMs);
  const waitedMs = (waitedUser ?? 0) + (waitedSystem ?? 0);
  return { cpuMs: (user ?? 0) + (system ?? 0) + waitedMs, waitedMs };
}

export interface Resident {
  readonly nowBytes: number;
  readonly peakBytes: number;
}

/** null for a process that is gone. */
export async function residentOf(pid: number): Promise<Resident | null> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(gone);
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status ?? '')?.[1]) * 1024;
  const [nowBytes, peakBytes] = [bytes('VmRSS'), bytes('VmHWM')];
  return Number.isNaN(nowBytes) || Number.isNaN(peakBytes) ? null : { nowBytes, peakBytes };
}

/** A process and all below it, parents first. */
export async function familyOf(pid: number): Promise<number[]> {
  const children = new Map<number, number[]>();
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(gone);
    const parent = Number(stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const family = [pid];
  for (const member of family) family.push(...(children.get(member) ?? []));
  return family;
}

/** The name of the file that a process runs; null for one that is gone or another user's. */
export async function programOf(pid: number): Promise<string | null> {
  const path = await readlink(`/proc/${pid}/exe`).catch(gone);
  return path === null ? null : basename(path);
}

/** A process may end between two looks. */
function gone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ESRCH' || error.code === 'EACCES') return null;
  throw error;
}
