import { archivedNotes } from '../../archive/notes.ts';
import { archivedRollouts } from '../../archive/rollouts.ts';
import { writeBundle } from '../../git/bundle.ts';
import type { Consolidator } from '../../phase2/types.ts';
import { redactedRollouts } from '../../rollout/redacted.ts';
import { type EpochSeconds, stopwatch } from '../../shared/clock.ts';
import { type ExitCode, MemoryError } from '../../shared/errors.ts';
import type { Oid } from '../../shared/files.ts';
import { createRedactor } from '../../shared/redact.ts';
import { commitTold } from '../accounts.ts';
import type { Commits } from '../commits.ts';
import { createEngine } from '../compose.ts';
import { obeyArchive } from '../forgotten-sessions.ts';
import { proveHeld } from '../lease.ts';
import { playNight } from '../night.ts';
import { nightPolicy } from '../policy.ts';
import { withTimeLeft } from '../progress.ts';
import { toldByNight } from '../propose.ts';
import { expiredTonight } from '../retention.ts';
import { withProvider } from '../settings.ts';
import { takeStagedShards } from '../shard-journals.ts';
import type { Start } from '../start.ts';
import type { Team } from '../team.ts';
import { openTeam } from '../team-command.ts';
import { quiet, told } from '../tell.ts';
import { provenOnce, startFrom, startOfRun, whatMoved } from './claimed.ts';
import { handOverPath, handOvers, removeHandOvers, writeHandOver } from './folder.ts';
import { type ResultFile, resultFileOf } from './result-file.ts';
import { refsOnPaper, type Stage, secondsOf } from './stage.ts';
import type { StartFile } from './start-file.ts';

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
    const redactor = createRedactor(world.env);
    const offered = takeStagedShards(repository, start, (text) => redactor.redact(text), world);
    const what = await whatMoved(start, team, until, stage);
    if (what !== null) {
      await save(offered > 0 ? { outcome: 'stopped', run: start.runId } : { outcome: 'moved', run: start.runId, what });
      const next = offered > 0 ? 'takes over what the shards paid for' : 'starts from there';
      return quiet(world, `Nothing was read or paid: ${what} moved after the claim. The next night ${next}.`);
    }
    return await play({ ...stage, config }, start, team, until, seconds, save);
  } catch (error) {
    if (error instanceof MemoryError) await save({ outcome: 'stopped', run: start.runId });
    throw error;
  }
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
  const engine = createEngine(config, repository, env, redact);
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
  const commits = await commitTold(ports, refsOnPaper, start, made);
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
