import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { Oid } from '../shared/files.ts';
import { jsonFields } from '../shared/json.ts';

/** Where the lease lives: the first, or the second where the host lets this token push branches only. */
export const leaseRefs = ['refs/memory/lease', 'refs/heads/memory/lease'] as const;

export type LeaseRef = (typeof leaseRefs)[number];

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

/** What a ref holds; `record` is null for one that nobody could have written: it counts as run out. */
export interface FoundLease {
  readonly ref: LeaseRef;
  readonly oid: Oid;
  readonly record: LeaseRecord | null;
}

export type FoundLeases = ReadonlyMap<LeaseRef, FoundLease | null>;

/** Where leases are read. */
export type LeasePlace = { readonly remote: Remote; readonly repository: Repository };

export async function readLease(ref: LeaseRef, ports: LeasePlace, signal?: AbortSignal): Promise<FoundLease | null> {
  return (await readRefs([ref], ports, signal)).get(ref) ?? null;
}

export function readLeases(ports: LeasePlace, signal?: AbortSignal): Promise<FoundLeases> {
  return readRefs(leaseRefs, ports, signal);
}

async function readRefs(
  refs: readonly LeaseRef[],
  { remote, repository }: LeasePlace,
  signal?: AbortSignal,
): Promise<FoundLeases> {
  const fetched = await remote.fetch(refs, { depth: 1, ...(signal === undefined ? {} : { signal }) });
  const found = new Map<LeaseRef, FoundLease | null>();
  for (const ref of refs) {
    const oid = fetched.get(ref) ?? null;
    const record = oid === null ? null : parseRecord((await repository.readCommit(oid)).message);
    found.set(ref, oid === null ? null : { ref, oid, record });
  }
  return found;
}

function parseRecord(text: string): LeaseRecord | null {
  const { worker, token, run, leaseUntil } = jsonFields(text);
  if (typeof worker !== 'string' || typeof token !== 'string' || !Number.isSafeInteger(leaseUntil)) return null;
  return { worker, token, run: typeof run === 'string' ? run : null, leaseUntil: Number(leaseUntil) };
}
