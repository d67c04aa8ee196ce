import { GitError, RefMovedError } from '../git/errors.ts';
import type { Journal } from '../model/journal.ts';
import { commitTold } from './accounts.ts';
import { localRefs } from './commits.ts';
import { type NightPolicy, type NightPorts, type NightReport, playNight } from './night.ts';
import { loadStart } from './start.ts';

/** Tries after which a night that always loses the swap gives up. */
const swapTries = 5;

/**
 * One night: from what the refs hold now to two commits. Whoever loses the swap starts again from the new state; what
 * was paid for is answered by the journal.
 * @throws ModelError that stops the night, GitError, and the signal's reason; the branch is then as it was.
 */
export async function runNight(policy: NightPolicy, ports: NightPorts, signal?: AbortSignal): Promise<NightReport> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const start = await loadStart(ports.repository);
      const { made, report } = await playNight(start, policy, ports, signal);
      const commits = await commitTold(ports, localRefs(ports.repository), start, made);
      ports.batches?.saved(report.batches.batches);
      clearJournal(ports.journal, report);
      return { ...report, commits };
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof RefMovedError)) throw error;
      if (attempt === swapTries) throw tooBusy(error);
    }
  }
}

/** All is committed: what was left in the middle goes on from its answers. */
export function clearJournal(journal: Journal, { phase1, phase2 }: Pick<NightReport, 'phase1' | 'phase2'>): void {
  const { extracted, nothing, failed, left } = phase1;
  const unfinished = phase2.scopes.filter(({ outcome }) => outcome === 'left').map(({ scope }) => scope);
  journal.clear([...extracted, ...nothing, ...failed.map(({ threadId }) => threadId)], [...left, ...unfinished]);
}

function tooBusy(error: RefMovedError): GitError {
  return new GitError(
    `${error.ref} was moved by somebody else in each of ${swapTries} tries; the branch is as they left it.`,
    'Run it again when nobody else writes there. What was paid for is in the journal and is not paid for again.',
    { cause: error },
  );
}
