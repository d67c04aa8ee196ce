import { GitPushError, PushRejectedError } from '../git/remote-errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import {
  type FoundLease,
  type FoundLeases,
  type LeasePlace,
  type LeaseRecord,
  type LeaseRef,
  leaseRefs,
  readLease,
  readLeases,
} from './lease-record.ts';

/** Somebody else took the lease, so nothing may be pushed any more. */
export class LeaseLostError extends MemoryError {
  constructor(holder: LeaseRecord | null) {
    super(
      `The lease was lost${holder === null ? '' : ` to ${holder.worker}`}; nothing more is pushed.`,
      'Nothing is lost: what was paid for is in the journal, and the next night goes on from there.',
    );
  }
}

export interface Lease {
  readonly ref: LeaseRef;
  /** What the ref holds while the lease is ours. */
  oid(): Oid;
  /** @throws LeaseLostError unless the server says that the lease is still ours and covers what comes. */
  prove(): Promise<void>;
  /** Extends it from now. @throws LeaseLostError */
  renew(): Promise<void>;
  /** Lets others in at once. A lease that was lost meanwhile is left to who has it. */
  release(): Promise<void>;
}

export type LeaseOutcome =
  | { readonly outcome: 'taken'; readonly lease: Lease }
  | { readonly outcome: 'held'; readonly by: LeaseRecord };

/** A lease that a process before this one took, such as a job's before this job. */
export interface HeldLease {
  readonly ref: LeaseRef;
  readonly oid: Oid;
  readonly record: LeaseRecord;
}

export interface LeaseTerms {
  readonly worker: string;
  readonly token: string;
  readonly run: string | null;
  readonly leaseSeconds: number;
  /** Seconds that a lease which has run out is watched before it is taken over. */
  readonly watchSeconds: number;
  readonly author: Signature;
}

export interface LeasePorts {
  readonly repository: Repository;
  readonly remote: Remote;
  readonly clock: Clock;
  wait(seconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** Whether the host says that an Actions run has ended; null where it cannot be asked. */
  hasEnded(run: string): Promise<boolean | null>;
}

/**
 * Takes the lease: one night at a time, whatever machine it runs on. A held one is respected until it has run out and
 * stayed the same for a while, or until the host says that the run behind it has ended. A host that refuses the ref by
 * a rule gets the branch, asked anew each night; whoever finds the other ref taken as well lets go.
 * @throws what the transport throws; GitPushError where the host refuses the branch too.
 */
export async function takeLease(terms: LeaseTerms, ports: LeasePorts, signal?: AbortSignal): Promise<LeaseOutcome> {
  const there = await readLeases(ports, signal);
  for (const found of there.values()) {
    if (found !== null && !(await isFree(found, terms, ports, signal))) return heldBy(found);
  }
  const [first, second] = leaseRefs;
  try {
    return await takeRef(first, there, terms, ports, signal);
  } catch (error) {
    if (!(error instanceof GitPushError) || isLostRace(error)) throw error;
    return takeRef(second, there, terms, ports, signal);
  }
}

/** Goes on under a lease that was taken before this process. */
export function continueLease({ ref, oid }: HeldLease, terms: LeaseTerms, ports: LeasePorts): Lease {
  return holding(ref, oid, terms, ports);
}

/** The lease that one's own Actions run holds, or the one with this token; null where neither does. */
export async function findOwnLease(
  { run, token }: { readonly run: string | null; readonly token: string | null },
  ports: LeasePlace,
  signal?: AbortSignal,
): Promise<HeldLease | null> {
  const there = [...(await readLeases(ports, signal)).values()].filter((found) => found !== null);
  const own = there.find(({ record }) =>
    record === null ? false : run === null ? record.token === token : record.run === run,
  );
  return own === undefined || own.record === null ? null : { ...own, record: own.record };
}

/**
 * For whoever may only read: that the lease is still the one that was taken, and lasts until then.
 * @throws LeaseLostError
 */
export async function proveHeld(
  held: Pick<HeldLease, 'ref' | 'oid'>,
  until: EpochSeconds,
  ports: LeasePlace,
): Promise<void> {
  const found = await readLease(held.ref, ports);
  const isOurs = found?.oid === held.oid;
  if (!isOurs || found.record === null || found.record.leaseUntil < until)
    throw new LeaseLostError(isOurs ? null : (found?.record ?? null));
}

async function takeRef(
  ref: LeaseRef,
  there: FoundLeases,
  terms: LeaseTerms,
  ports: LeasePorts,
  signal?: AbortSignal,
): Promise<LeaseOutcome> {
  try {
    const oid = await swap(ref, there.get(ref)?.oid ?? null, terms, ports, signal);
    const lease = holding(ref, oid, terms, ports);
    const now = await readLeases(ports, signal);
    const other = [...now.values()].find((found) => found !== null && found.ref !== ref) ?? null;
    if (other === null || other.oid === there.get(other.ref)?.oid) return { outcome: 'taken', lease };
    await lease.release();
    return heldBy(other);
  } catch (error) {
    if (!isRace(error)) throw error;
    const now = await readLease(ref, ports, signal);
    if (now === null) throw error;
    return heldBy(now);
  }
}

function heldBy({ record }: FoundLease): LeaseOutcome {
  return { outcome: 'held', by: record ?? { worker: 'somebody', token: '', run: null, leaseUntil: 0 } };
}

/** One thing at a time: a renewal in the middle of a proof would look like a loss. */
function holding(ref: LeaseRef, first: Oid, terms: LeaseTerms, ports: LeasePorts): Lease {
  let oid = first;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const prove = async (): Promise<void> => {
    const found = await readLease(ref, ports);
    const isOurs = found?.oid === oid && found.record !== null && found.record.leaseUntil > ports.clock.now();
    if (!isOurs) throw new LeaseLostError(found === null || found.oid === oid ? null : found.record);
  };
  const renew = async (): Promise<void> => {
    await prove();
    oid = await swap(ref, oid, terms, ports).catch((error: unknown) => {
      throw isRace(error) ? new LeaseLostError(null) : error;
    });
  };
  const release = async (): Promise<void> => {
    try {
      await ports.remote.push([{ ref, expected: oid, next: null }]);
    } catch (error) {
      if (!isRace(error)) throw error;
    }
  };
  return {
    ref,
    oid: () => oid,
    prove: () => inTurn(prove),
    renew: () => inTurn(renew),
    release: () => inTurn(release),
  };
}

function isRace(error: unknown): boolean {
  return error instanceof PushRejectedError || isLostRace(error);
}

/** A race that was lost after the server had shown its refs; a refusal by a rule of the host is no race. */
function isLostRace(error: unknown): boolean {
  return error instanceof GitPushError && error.refused.actual !== error.refused.expected;
}

async function isFree(
  { ref, oid, record }: FoundLease,
  terms: LeaseTerms,
  ports: LeasePorts,
  signal?: AbortSignal,
): Promise<boolean> {
  if (record === null || record.token === terms.token) return true;
  if (record.run !== null && record.run !== terms.run && (await ports.hasEnded(record.run)) === true) return true;
  if (record.leaseUntil > ports.clock.now()) return false;
  await ports.wait(terms.watchSeconds, signal);
  return (await readLease(ref, ports, signal))?.oid === oid;
}

async function swap(
  ref: LeaseRef,
  expected: Oid | null,
  terms: LeaseTerms,
  ports: LeasePorts,
  signal?: AbortSignal,
): Promise<Oid> {
  const now = ports.clock.now();
  const record: LeaseRecord = {
    worker: terms.worker,
    token: terms.token,
    run: terms.run,
    leaseUntil: now + terms.leaseSeconds,
  };
  const next = await ports.repository.writeCommit({
    base: null,
    parents: [],
    changes: new Map(),
    message: `${JSON.stringify(record)}\n`,
    author: terms.author,
    at: now,
  });
  await ports.remote.push([{ ref, expected, next }], signal);
  return next;
}
