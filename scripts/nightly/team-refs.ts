import { RefMovedError } from '../git/errors.ts';
import { GitPushError, PushRejectedError } from '../git/remote-errors.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Oid } from '../shared/files.ts';
import type { NightRecord } from '../state/night-record.ts';
import type { Made, Refs } from './commits.ts';
import type { Start } from './start.ts';

export interface TeamRefsPorts {
  readonly remote: Remote;
  /** @throws LeaseLostError */
  prove(): Promise<void>;
  /** Opens or refreshes the pull request; null where none is wanted. */
  propose(start: Start, made: Made, tip: Oid): Promise<NightRecord['pullRequest']>;
}

/** The refs that a team shares: every swap proves the lease first and names what the server has to hold. */
export function teamRefs({ remote, prove, propose }: TeamRefsPorts): Refs {
  return {
    keepsTips: true,
    swap: teamSwap(remote, prove),
    follow: async (start, made, tip) => {
      await prove();
      return { pullRequest: await propose(start, made, tip) };
    },
  };
}

/** Compare-and-swap on the server, under a lease that is proven before. @throws RefMovedError */
export function teamSwap(remote: Remote, prove: () => Promise<void>): Refs['swap'] {
  return async (ref, expected, next) => {
    await prove();
    try {
      await remote.push([{ ref, expected, next }]);
    } catch (error) {
      throw movedOf(error) ?? error;
    }
  };
}

/** A lost race is tried again from the new state; a refusal by the server's rules is not. */
function movedOf(error: unknown): RefMovedError | null {
  if (!(error instanceof PushRejectedError) && !(error instanceof GitPushError)) return null;
  const { ref, expected, actual } = error.refused;
  return actual === expected ? null : new RefMovedError(ref, expected, actual);
}
