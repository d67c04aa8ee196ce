import type { Repository, Signature } from '../git/types.ts';
import type { Found as FoundRequest } from '../publish/forge.ts';
import type { Clock } from '../shared/clock.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';
import { continues } from '../state/continues.ts';
import { statePath } from '../state/current.ts';
import type { NightRecord, StartedRun } from '../state/night-record.ts';
import { stateRef } from '../state/ref.ts';
import type { Team } from './team.ts';
import { type FoundFacts, fetchTips, type RemoteTips } from './team-facts.ts';
import { teamSwap } from './team-refs.ts';
import { loadTeamStart, type TeamStart } from './team-start.ts';
import { closeRun } from './unfinished.ts';

export interface Beginning {
  readonly repository: Repository;
  readonly clock: Clock;
  readonly author: Signature;
  readonly retrySeconds: number;
  /** @throws LeaseLostError */
  prove(): Promise<void>;
}

export interface Begun extends TeamStart {
  /** A run that was started before this night and left no result; the start itself no longer names it. */
  readonly unfinished: StartedRun | null;
  /** What the host said of the pull requests; null where it was not asked. */
  readonly found: FoundFacts | null;
}

/**
 * Where a team's night starts, by what the remote holds now. A run that was started and left no result is counted
 * first, so that what is built on knows of it.
 */
export async function beginTeamNight(team: Team, beginning: Beginning, signal?: AbortSignal): Promise<Begun> {
  const { repository, prove, clock, author, retrySeconds } = beginning;
  const { base = null, branch } = team.config.delivery;
  const tips = await fetchTips(team.remote, { base, branch }, signal);
  await refuseForeignState(repository, tips.state);
  let found: FoundFacts | null = null;
  const load = async (from: RemoteTips): Promise<Begun> => {
    const begun = await loadTeamStart(from, team.delivery, {
      repository,
      remote: team.remote,
      prove,
      findPullRequest: async (night, tips) => {
        found = await findPullRequest(night, team, branch, tips);
        return found;
      },
    });
    const { night } = begun.start;
    return { ...begun, start: { ...begun.start, night: { ...night, startedRun: null } }, unfinished: null, found };
  };
  const begun = await load(tips);
  const unfinished = begun.settled?.night.startedRun ?? null;
  if (begun.settled === null || unfinished === null || tips.state === null) return begun;
  const refs = { swap: teamSwap(team.remote, prove) };
  const closing = { repository, refs, config: team.config, author, retrySeconds, now: clock.now() };
  const state = await closeRun(begun.settled, tips.state, 'lost', closing);
  return state === tips.state ? { ...begun, unfinished } : { ...(await load({ ...begun.tips, state })), unfinished };
}

/** null where the host cannot be asked: the standing is then unknown. */
export async function findPullRequest(
  night: NightRecord,
  team: Team,
  headBranch: string,
  tips: readonly Oid[],
): Promise<FoundRequest | null> {
  if (team.forge === null) return { recorded: null, open: null };
  try {
    const base = team.config.delivery.base ?? (await team.forge.repository()).defaultBranch;
    return await team.forge.find({ number: night.pullRequest?.number ?? null, headBranch, base, tips });
  } catch (error) {
    team.warn(`The pull request cannot be looked at: ${messageOf(error)}`);
    return null;
  }
}

/** A clone's own state that the team's did not grow from is nothing to drop silently. */
export async function refuseForeignState(repository: Repository, shared: Oid | null): Promise<void> {
  const own = await repository.readRef(stateRef);
  if (own === null || own === shared || (shared !== null && (await grewFrom(repository, shared, own)))) return;
  throw new MemoryError(
    'This clone has a state of its own that did not grow from the one on the remote.',
    'Choose one: npm run doctor -- --adopt remote (or local); both sides’ forgotten lines and citations are kept.',
  );
}

/** By its history; or, where `forget` cut that, by what it knows. */
export async function grewFrom(repository: Repository, later: Oid, earlier: Oid): Promise<boolean> {
  if ((await repository.history(later, 10_000)).some(({ oid }) => oid === earlier)) return true;
  const [after, before] = [await textAt(repository, later), await textAt(repository, earlier)];
  return after !== null && before !== null && continues(after, before);
}

async function textAt(repository: Repository, commit: Oid): Promise<string | null> {
  return (await repository.readFiles(commit, [statePath])).get(statePath) ?? null;
}

/** The local ref remembers what the remote has, for status, check and sql. */
export async function mirrorState(repository: Repository, shared: Oid | null): Promise<void> {
  const own = await repository.readRef(stateRef);
  if (shared !== null && own !== shared) await repository.swapRef(stateRef, own, shared);
}
