import { archiveTip } from '../../archive/archive.ts';
import type { Extractor } from '../../phase1/types.ts';
import type { EpochSeconds } from '../../shared/clock.ts';
import { mirrorState } from '../begin.ts';
import { LeaseLostError, proveHeld } from '../lease.ts';
import type { Start } from '../start.ts';
import type { Team } from '../team.ts';
import { actionsRun } from '../team-command.ts';
import { fetchTips, type RemoteTips } from '../team-facts.ts';
import { ifHere } from '../team-history.ts';
import { loadTeamStart } from '../team-start.ts';
import { HandOverError } from './fields.ts';
import { handOvers, readHandOver } from './folder.ts';
import type { Stage } from './stage.ts';
import { parseStartFile, type StartFile } from './start-file.ts';

/** @throws HandOverError where claim left none, or another run's. */
export async function startOfRun({ repository, world }: Stage): Promise<StartFile> {
  const text = await readHandOver(repository, handOvers.start);
  if (text === null) throw new HandOverError(handOvers.start, 'claim left none here');
  const start = parseStartFile(text);
  const run = actionsRun(world.env);
  if (run !== null && run !== start.runId)
    throw new HandOverError(handOvers.start, `it is of run ${start.runId}, and this is ${run}`);
  return start;
}

/** Fetches what claim saw. @returns what is no longer so, in words; null where all is. */
export async function whatMoved(
  start: StartFile,
  team: Team,
  until: EpochSeconds,
  { repository, world }: Stage,
): Promise<string | null> {
  const { base = null, branch } = team.config.delivery;
  const tips = await fetchTips(team.remote, { base, branch }, world.signal);
  const moved = movedTip(start.tips, tips);
  if (moved !== null) return moved;
  await archiveTip(team.archive, world.signal);
  if (start.rollouts.ref !== team.archive.ref) return start.rollouts.ref;
  if (start.rollouts.oid !== null && (await ifHere(repository, start.rollouts.oid)) === null) return team.archive.ref;
  try {
    await proveHeld(start.lease, until, team.lease.ports);
    return null;
  } catch (error) {
    if (error instanceof LeaseLostError) return 'the lease';
    throw error;
  }
}

/** The first ref that differs. */
export function movedTip(before: RemoteTips, now: RemoteTips): string | null {
  for (const side of ['base', 'proposal'] as const) {
    if (before[side].ref !== now[side].ref || before[side].oid !== now[side].oid) return now[side].ref;
  }
  return before.state === now.state ? null : 'the state';
}

/** What claim started from, once more; the record of this run's start goes with its result. */
export async function startFrom(file: StartFile, { remote }: Team, { repository, delivery }: Stage): Promise<Start> {
  await mirrorState(repository, file.tips.state);
  const { start } = await loadTeamStart(file.tips, delivery, {
    repository,
    remote,
    prove: async () => {
      throw new LeaseLostError(null);
    },
    findPullRequest: async () => file.pullRequest,
  });
  return { ...start, night: { ...start.night, startedRun: null } };
}

/** The lease is proven before the first request. */
export function provenOnce(extractor: Extractor, prove: () => Promise<void>): Extractor {
  let proof: Promise<void> | undefined;
  return {
    ...extractor,
    extract: async (input, signal) => {
      proof ??= prove();
      await proof;
      return extractor.extract(input, signal);
    },
  };
}
