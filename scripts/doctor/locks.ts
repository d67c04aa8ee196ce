import { existsSync } from 'node:fs';
import { type Holder, readHolder } from '../git/lock.ts';
import type { FoundLease } from '../nightly/lease-record.ts';
import { day, type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import type { Finding } from './finding.ts';

/** Which processes there are: of this machine only. */
export interface Here {
  readonly host: string;
  isAlive(pid: number): boolean;
}

export interface LockFacts {
  readonly path: string;
  /** null: the file does not say. */
  readonly holder: Holder | null;
}

/** @returns null where nobody holds it. */
export async function lockFacts(path: string): Promise<LockFacts | null> {
  const holder = await readHolder(path);
  return holder === null && !existsSync(path) ? null : { path, holder };
}

/** Whether a night is at work on this machine. */
export function isAtWork(lock: LockFacts | null, here: Here): boolean {
  return lock?.holder != null && lock.holder.host === here.host && here.isAlive(lock.holder.pid);
}

/** A lock of this clone whose process is gone, or so old that it must be. */
export function lockFindings(lock: LockFacts | null, here: Here, now: EpochSeconds): Finding[] {
  if (lock === null || isAtWork(lock, here)) return [];
  const { path, holder } = lock;
  const remove = `rm '${path}'`;
  const finding = { check: 'lock.dead', why: 'No night of this clone starts while it is held.' } as const;
  if (holder === null)
    return [{ ...finding, severity: 'error', what: `The lock ${path} does not say who holds it`, remedy: remove }];
  const who = `process ${holder.pid} on ${holder.host} (${holder.note}, since ${holder.started})`;
  if (holder.host === here.host)
    return [
      {
        ...finding,
        severity: 'warning',
        what: `The night’s lock is held by ${who}, which does not run any more`,
        why: 'That night died in the middle.',
        remedy: 'npm run nightly (it takes the lock over and goes on from the journal)',
      },
    ];
  if (now - (parseIsoTime(holder.started) ?? 0) < day) return [];
  return [
    {
      ...finding,
      severity: 'error',
      what: `The night’s lock is held by ${who}, longer than any night`,
      remedy: remove,
    },
  ];
}

/** A lease that nobody alive holds. */
export function leaseFindings(leases: readonly FoundLease[], here: Here, now: EpochSeconds): Finding[] {
  return leases.flatMap(({ ref, record }): Finding[] => {
    const remedy = `npm run nightly (it takes the lease over), or git push origin :${ref}`;
    const finding = { severity: 'warning', check: 'lease.dead', remedy } as const;
    if (record === null)
      return [
        { ...finding, what: `${ref} holds no lease that we wrote`, why: 'The next night waits before it starts.' },
      ];
    const { worker, leaseUntil } = record;
    if (leaseUntil <= now)
      return [
        {
          ...finding,
          what: `${worker} still holds the lease, which ended ${isoTime(leaseUntil)}`,
          why: 'That night died; the next one watches the lease for some minutes before it takes it over.',
        },
      ];
    const pid = worker.endsWith(` on ${here.host}`) ? /^process (\d{1,10}) on /.exec(worker)?.[1] : undefined;
    if (pid === undefined || here.isAlive(Number(pid))) return [];
    return [
      {
        ...finding,
        what: `${worker} holds the lease until ${isoTime(leaseUntil)} and does not run any more`,
        why: 'No night starts anywhere before then.',
        remedy: `git push origin :${ref}`,
      },
    ];
  });
}
