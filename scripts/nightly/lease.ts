import { GitPushError, PushRejectedError } from '../git/remote-errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Clock, EpochSeconds } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';

/** Where the lease lives; hosts that let a token push branches only get it under `refs/heads/`. */
export const leaseRef = 'refs/memory/lease';

/** What the lease's commit says: its tree is empty, it has no parent. */
export interface LeaseRecord {
  /** Who works, for a person: host and process, or the Actions run. */
  readonly worker: string;
  /** Of this process alone; proves that a lease is one's own. */
  readonly token: string;
  /** The Actions run and attempt that holds it; null elsewhere. */
  readonly run: string | null;
  readonly leaseUntil: EpochSeconds;
}

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
 * stayed the same for a while, or until the host says that the run behind it has ended.
 * @throws what the transport throws; GitPushError where the host refuses such a ref.
 */
export async function takeLease(terms: LeaseTerms, ports: LeasePorts, signal?: AbortSignal): Promise<LeaseOutcome> {
  const { oid, record } = await readLease(ports, signal);
  if (oid !== null && record !== null && !(await isFree(oid, record, terms, ports, signal))) {
    return { outcome: 'held', by: record };
  }
  try {
    return { outcome: 'taken', lease: holding(await swap(oid, terms, ports, signal), terms, ports) };
  } catch (error) {
    if (!isRace(error)) throw error;
    const now = await readLease(ports, signal);
    if (now.record === null) throw error;
    return { outcome: 'held', by: now.record };
  }
}

/** One thing at a time: a renewal in the middle of a proof would look like a loss. */
function holding(first: Oid, terms: LeaseTerms, ports: LeasePorts): Lease {
  let oid = first;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
  const prove = async (): Promise<void> => {
    const now = await readLease(ports);
    const isOurs = now.oid === oid && now.record !== null && now.record.leaseUntil > ports.clock.now();
    if (!isOurs) throw new LeaseLostError(now.oid === oid ? null : now.record);
  };
  const renew = async (): Promise<void> => {
    await prove();
    oid = await swap(oid, terms, ports).catch((error: unknown) => {
      throw isRace(error) ? new LeaseLostError(null) : error;
    });
  };
  const release = async (): Promise<void> => {
    try {
      await ports.remote.push([{ ref: leaseRef, expected: oid, next: null }]);
    } catch (error) {
      if (!isRace(error)) throw error;
    }
  };
  return { prove: () => inTurn(prove), renew: () => inTurn(renew), release: () => inTurn(release) };
}

function isRace(error: unknown): boolean {
  return error instanceof PushRejectedError || isLostRace(error);
}

/** A race that was lost after the server had shown its refs; a refusal by a rule of the host is no race. */
function isLostRace(error: unknown): boolean {
  return error instanceof GitPushError && error.refused.actual !== error.refused.expected;
}

async function isFree(
  oid: Oid,
  record: LeaseRecord,
  terms: LeaseTerms,
  ports: LeasePorts,
  signal?: AbortSignal,
): Promise<boolean> {
  if (record.token === terms.token) return true;
  if (record.run !== null && record.run !== terms.run && (await ports.hasEnded(record.run)) === true) return true;
  if (record.leaseUntil > ports.clock.now()) return false;
  await ports.wait(terms.watchSeconds, signal);
  const again = await readLease(ports, signal);
  return again.oid === oid;
}

async function swap(expected: Oid | null, terms: LeaseTerms, ports: LeasePorts, signal?: AbortSignal): Promise<Oid> {
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
  await ports.remote.push([{ ref: leaseRef, expected, next }], signal);
  return next;
}

/** `record` is null where there is no lease, or one that nobody could have written: it counts as run out. */
async function readLease(
  { remote, repository }: LeasePorts,
  signal?: AbortSignal,
): Promise<{ oid: Oid | null; record: LeaseRecord | null }> {
  const fetched = await remote.fetch([leaseRef], { depth: 1, ...(signal === undefined ? {} : { signal }) });
  const oid = fetched.get(leaseRef) ?? null;
  if (oid === null) return { oid, record: null };
  return { oid, record: parseRecord((await repository.readCommit(oid)).message) };
}

function parseRecord(text: string): LeaseRecord | null {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return null;
    const { worker, token, run, leaseUntil } = value as Record<string, unknown>;
    if (typeof worker !== 'string' || typeof token !== 'string' || !Number.isSafeInteger(leaseUntil)) return null;
    return { worker, token, run: typeof run === 'string' ? run : null, leaseUntil: Number(leaseUntil) };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
