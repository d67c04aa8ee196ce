import type { Oid } from '../../shared/files.ts';
import type { StateTree } from '../../state/tree.ts';
import { mirrorState } from '../begin.ts';
import type { Lease } from '../lease.ts';
import { nightPolicy } from '../policy.ts';
import type { Team } from '../team.ts';
import { teamSwap } from '../team-refs.ts';
import { closeRun, type RunEnd } from '../unfinished.ts';
import type { Stage } from './stage.ts';

/** The last stage of one run, which holds the lease. */
export interface Concluding {
  readonly stage: Stage;
  readonly team: Team;
  readonly lease: Lease;
  readonly runId: string;
}

/** Only this run's own start is ended. */
export async function endRun(
  how: RunEnd,
  tree: StateTree | null,
  expected: Oid | null,
  { stage, team, lease, runId }: Concluding,
): Promise<void> {
  if (tree === null || expected === null || tree.night.startedRun?.runId !== runId) return;
  const { repository, config, world } = stage;
  const { author, extraction } = nightPolicy(config, { all: false, now: false, since: null });
  const state = await closeRun(tree, expected, how, {
    repository,
    refs: { swap: teamSwap(team.remote, lease.prove) },
    config,
    author,
    retrySeconds: extraction.retrySeconds,
    now: world.clock.now(),
  });
  await mirrorState(repository, state);
}
