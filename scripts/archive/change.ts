import { setTimeout } from 'node:timers/promises';
import { GitError, RefMovedError } from '../git/errors.ts';
import { GitPushError, PushRejectedError } from '../git/remote-errors.ts';
import type { Signature } from '../git/types.ts';
import { type Clock, stopwatch } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { type Archive, archiveTip } from './archive.ts';

/** What one try makes of the tip that it found. */
export interface Derived<T> {
  /** null: the ref stays as it is. */
  readonly commit: {
    /** Laid over the tip's tree; null deletes. */
    readonly changes: ReadonlyMap<string, string | null>;
    readonly message: string;
    /** Without a parent: what was before is no longer reachable. */
    readonly isRewrite: boolean;
  } | null;
  readonly value: T;
}

export interface ChangeOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

/**
 * Moves the ref by deriving a commit from its tip; whoever loses a race derives anew from what won, so no old tree ever
 * comes back. Tries for 120 seconds.
 * @param derive is asked again in every try and must not keep anything from an earlier one.
 * @throws what refused the commit where the ref did not move meanwhile: rights, a hook, the network.
 */
export async function changeArchive<T>(
  archive: Archive,
  derive: (tip: Oid | null) => Promise<Derived<T>>,
  { clock, signal }: ChangeOptions,
): Promise<T> {
  const elapsed = stopwatch();
  let refusedAt: Oid | null | undefined;
  let refusals = 0;
  let failure: unknown = null;
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    const tip = await archiveTip(archive, signal);
    if (failure !== null) {
      refusals = tip === refusedAt ? refusals + 1 : 0;
      if (refusals >= refusalsAtOneTip) throw failure;
      if (elapsed() > longestMs) throw busy(archive.ref, failure);
    }
    const { commit, value } = await derive(tip);
    if (commit === null) return value;
    const next = await archive.repository.writeCommit({
      base: tip,
      parents: commit.isRewrite || tip === null ? [] : [tip],
      changes: commit.changes,
      message: commit.message,
      author: archiveAuthor,
      at: clock.now(),
    });
    if (next === tip) return value;
    try {
      await move(archive, tip, next, signal);
      return value;
    } catch (error) {
      if (!mayPass(error, archive)) throw error;
      failure = error;
      refusedAt = tip;
      if (!hasMoved(error)) await setTimeout(waitMs(attempt), undefined, { signal });
    }
  }
}

/** One for everybody: who sent a session stands in the session, as the handle that the team chose. */
const archiveAuthor: Signature = {
  name: 'commit-to-memory',
  email: 'commit-to-memory@users.noreply.github.com',
};

const longestMs = 120_000;

/** A refusal while another's push is under way looks like a lasting one; a lasting one repeats. */
const refusalsAtOneTip = 4;

async function move(
  { repository, ref, remote }: Archive,
  expected: Oid | null,
  next: Oid,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (remote === null) await repository.swapRef(ref, expected, next);
  else await remote.push([{ ref, expected, next }], signal);
}

/** Somebody was faster, or holds the lock file of the ref; rights and the network do not change by waiting. */
function mayPass(error: unknown, { remote }: Archive): boolean {
  if (remote === null) return error instanceof GitError;
  return error instanceof PushRejectedError || error instanceof GitPushError;
}

/** Whoever lost to somebody goes on at once: waiting would only let the next one win, too. */
function hasMoved(error: unknown): boolean {
  if (error instanceof RefMovedError) return error.actual !== error.expected;
  if (!(error instanceof PushRejectedError || error instanceof GitPushError)) return false;
  return error.refused.actual !== error.refused.expected;
}

/** 50 ms, doubled up to 2 s. */
function waitMs(attempt: number): number {
  return Math.min(2_000, 50 * 2 ** Math.min(attempt, 10));
}

function busy(ref: string, cause: unknown): MemoryError {
  return new MemoryError(
    `${ref} moved faster than we could follow for ${longestMs / 1000} seconds.`,
    'Run it again; nothing is lost.',
    { cause },
  );
}
