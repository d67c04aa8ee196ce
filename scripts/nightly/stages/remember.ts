import { archiveTip } from '../../archive/archive.ts';
import { archivedNotes } from '../../archive/notes.ts';
import { archivedRollouts } from '../../archive/rollouts.ts';
import { writeBundle } from '../../git/bundle.ts';
import type { Extractor } from '../../phase1/types.ts';
import type { Consolidator } from '../../phase2/types.ts';
import { redactedRollouts } from '../../rollout/redacted.ts';
import { type EpochSeconds, stopwatch } from '../../shared/clock.ts';
import { type ExitCode, MemoryError } from '../../shared/errors.ts';
import type { Oid } from '../../shared/files.ts';
import { createRedactor } from '../../shared/redact.ts';
import { mirrorState } from '../begin.ts';
import { type Commits, commitNight } from '../commits.ts';
import { createEngine } from '../compose.ts';
import { obeyArchive } from '../forgotten-sessions.ts';
import { LeaseLostError, proveHeld } from '../lease.ts';
import { playNight } from '../night.ts';
import { nightPolicy } from '../policy.ts';
import { withTimeLeft } from '../progress.ts';
import { toldByNight } from '../propose.ts';
import { expiredTonight } from '../retention.ts';
import { usdLeftThisMonth, withProvider } from '../settings.ts';
import type { Start } from '../start.ts';
import type { Team } from '../team.ts';
import { actionsRun, openTeam } from '../team-command.ts';
import { fetchTips, type RemoteTips } from '../team-facts.ts';
import { ifHere } from '../team-history.ts';
import { loadTeamStart } from '../team-start.ts';
import { quiet, told } from '../tell.ts';
import { HandOverError } from './fields.ts';
import { handOverPath, handOvers, readHandOver, removeHandOvers, writeHandOver } from './folder.ts';
import { type ResultFile, resultFileOf } from './result-file.ts';
import { refsOnPaper, type Stage, secondsOf } from './stage.ts';
import { parseStartFile, type StartFile } from './start-file.ts';

/** The names of the new commits in the bundle. */
export const bundleRefs = { tip: 'refs/memory/night/tip', state: 'refs/memory/night/state' } as const;

/** The job's own time-out; the last part of it is kept for handing over. */
const rememberMinutes = 90;
const handOverSeconds = 15 * 60;

/**
 * Reads what claim allowed and pays for it, with rights to read only: whatever a transcript talks the model into,
 * nothing here can be pushed. What it made goes into a bundle and `night.json`.
 */
export async function remember(stage: Stage): Promise<ExitCode> {
  const { repository, world } = stage;
  await removeHandOvers(repository, [handOvers.result, handOvers.bundle]);
  const start = await startOfRun(stage);
  const config = withProvider(stage.config, start.wishes.model);
  const seconds = secondsOf(world, 'CTM_REMEMBER_MINUTES', rememberMinutes);
  const until = world.clock.now() + seconds;
  const save = (result: ResultFile) => writeHandOver(repository, handOvers.result, resultFileOf(result));
  try {
    const team = await openTeam(stage.delivery, config, repository, world);
    const what = await whatMoved(start, team, until, stage);
    if (what !== null) {
      await save({ outcome: 'moved', run: start.runId, what });
      return quiet(world, `Nothing was read or paid: ${what} moved after the claim. The next night starts from there.`);
    }
    return await play({ ...stage, config }, start, team, until, seconds, save);
  } catch (error) {
    if (error instanceof MemoryError) await save({ outcome: 'stopped', run: start.runId });
    throw error;
  }
}

/** @throws HandOverError where claim left none, or another run's. */
async function startOfRun({ repository, world }: Stage): Promise<StartFile> {
  const text = await readHandOver(repository, handOvers.start);
  if (text === null) throw new HandOverError(handOvers.start, 'claim left none here');
  const start = parseStartFile(text);
  const run = actionsRun(world.env);
  if (run !== null && run !== start.runId)
    throw new HandOverError(handOvers.start, `it is of run ${start.runId}, and this is ${run}`);
  return start;
}

/** Fetches what claim saw. @returns what is no longer so, in words; null where all is. */
async function whatMoved(
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

async function play(
  stage: Stage,
  file: StartFile,
  team: Team,
  until: EpochSeconds,
  seconds: number,
  save: (result: ResultFile) => Promise<void>,
): Promise<ExitCode> {
  const { repository, config, world } = stage;
  const { env, clock, log, signal } = world;
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const start = await startFrom(file, team, stage);
  const engine = createEngine(config, repository, env, redact, await usdLeftThisMonth(config, repository, clock.now()));
  for (const problem of engine.journal.problems) log.warn(problem);
  const prove = () => proveHeld(file.lease, until, team.lease.ports);
  const elapsed = stopwatch();
  const limitSeconds = Math.min(config.budget.minutes * 60, Math.max(60, seconds - handOverSeconds));
  const ports = {
    ...engine,
    extractor: provenOnce(engine.extractor, prove),
    consolidator: proven(engine.consolidator, prove),
    repository,
    rollouts: redactedRollouts(archivedRollouts(repository, file.rollouts.oid), redactor),
    notes: async () => (await archivedNotes(repository, file.rollouts.oid)).notes,
    clock,
    redact,
    goesOn: () => engine.goesOn() && elapsed() < limitSeconds * 1_000,
    progress: withTimeLeft(log.progress),
  };
  const policy = { ...nightPolicy(config, { ...file.wishes, all: false }), only: new Set(file.threads) };
  await obeyArchive(start.state, repository, file.rollouts.oid, clock.now());
  const { made, report } = await playNight(start, policy, ports, signal);
  const commits = await commitNight(repository, refsOnPaper, start, made);
  const news = newsOf(commits, start);
  await bundle(news, start, file, stage);
  const { runId, at, sessions, repositories, trailers } = made;
  const expired = expiredTonight(report, config, clock.now());
  await save({
    outcome: 'played',
    run: file.runId,
    words: { runId, at, sessions, repositories, trailers },
    ...news,
    told: toldByNight(start.state, report, engine.ledger),
    expired: { threads: [...expired.threads], notSince: expired.notSince },
  });
  return told(world, { ...report, commits }, engine.ledger);
}

/** What claim started from, once more; the record of this run's start goes with its result. */
async function startFrom(file: StartFile, { remote }: Team, { repository, delivery }: Stage): Promise<Start> {
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

function newsOf(commits: Commits, start: Start): { tip: Oid | null; state: Oid | null } {
  return {
    tip: commits.inputs === null ? null : commits.tip,
    state: commits.state === start.stateOid ? null : commits.state,
  };
}

async function bundle(
  news: { readonly tip: Oid | null; readonly state: Oid | null },
  start: Start,
  { tips }: StartFile,
  { repository, world }: Stage,
): Promise<void> {
  const heads = (['tip', 'state'] as const).flatMap((name): [string, Oid][] => {
    const oid = news[name];
    return oid === null ? [] : [[bundleRefs[name], oid]];
  });
  if (heads.length === 0) return;
  const known = [tips.base.oid, tips.proposal.oid, tips.state, ...start.parents].filter((oid) => oid !== null);
  await writeBundle(repository, world.env, handOverPath(repository, handOvers.bundle), new Map(heads), [
    ...new Set(known),
  ]);
}

/** The lease is proven before the first request. */
function provenOnce(extractor: Extractor, prove: () => Promise<void>): Extractor {
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

/** The lease is proven before each scope. */
function proven(consolidator: Consolidator, prove: () => Promise<void>): Consolidator {
  return {
    ...consolidator,
    consolidate: async (task, signal) => {
      await prove();
      return consolidator.consolidate(task, signal);
    },
  };
}
