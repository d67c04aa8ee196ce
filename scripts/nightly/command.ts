import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { stopwatch } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import { type ExitCode, UsageError } from '../shared/errors.ts';
import { terminalText } from '../shared/escape.ts';
import type { World } from '../shared/main.ts';
import { createEngine } from './compose.ts';
import { dryRun } from './dry-run.ts';
import { nightHere } from './here.ts';
import type { Phases } from './night.ts';
import { withTimeLeft } from './progress.ts';
import { runNight } from './run.ts';
import { loadConfig, withFlags } from './settings.ts';
import { takeGivenShards } from './shard-journals.ts';
import { isStage, playStage } from './stages/command.ts';
import { runTeamNight } from './team.ts';
import { openTeam } from './team-command.ts';
import { quiet, told } from './tell.ts';

/** Plays a night, or half of one, as the command line and the configuration say. */
export async function playCommand(world: World, phases: Phases): Promise<ExitCode> {
  const { flags, env, log, clock, signal } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = withFlags(await loadConfig(repository), flags);
  if (!config.enabled) return quiet(world, 'Nothing to do: enabled is false in .github/memory.yml.');
  const stage = flags.valueOf('stage');
  const delivery = deliveryOf(config, world, phases);
  if (isStage(stage)) return playStage(stage, { delivery, config, repository, world });
  if (flags.valueOf('shards') !== undefined) {
    throw new UsageError(
      '--shards is told to --stage claim, which splits the night for the jobs of a workflow.',
      'By hand, start each part yourself: npm run phase1 -- --shard 1/5 (to 5/5), then npm run nightly -- --journal <dir>.',
    );
  }
  const { sources, rollouts, notes, policy, redact } = await nightHere(repository, config, world, phases);
  const why = phases.one ? nothingToRead(sources.length, delivery, config) : null;
  if (why !== null && (config.include.length === 0 || (await notes()).length === 0)) return quiet(world, why);
  if (flags.isOn('dry-run')) return dryRun({ repository, rollouts, config, policy, world });
  const owner = { ...world.self, at: clock.now(), note: 'nightly' };
  return withLock(`${repository.commonDir}/memory/night.lock`, owner, async () => {
    const team = delivery === 'commit' ? null : await openTeam(delivery, config, repository, world);
    await takeGivenShards(repository, redact, world);
    const engine = createEngine(config, repository, env, redact);
    for (const problem of engine.journal.problems) log.warn(problem);
    const elapsed = stopwatch();
    const goesOn = () => engine.goesOn() && elapsed() < config.budget.minutes * 60_000;
    const ports = {
      ...engine,
      repository,
      rollouts,
      notes,
      clock,
      redact,
      goesOn,
      progress: withTimeLeft(log.progress),
    };
    if (team === null) return told(world, await runNight(policy, ports, signal), engine.ledger);
    const night = await runTeamNight(policy, ports, team, signal);
    if (night.outcome === 'played') return told(world, night.report, engine.ledger);
    return quiet(world, `Nothing to do: another night is at work (${terminalText(night.by.worker)}).`);
  });
}

/** What nobody said in so many words does not leave the repository: then a built-in night is committed here. */
function deliveryOf(config: Config, { flags, log }: World, phases: Phases): Config['delivery']['mode'] {
  if (!phases.one || !phases.two) return 'commit';
  const asked = flags.valueOf('delivery');
  const mode = asked === 'commit' || asked === 'push' || asked === 'pull-request' ? asked : config.delivery.mode;
  if (mode === 'commit' || config.model.provider !== undefined) return mode;
  log.warn(`Committed here and not delivered as ${mode}: write model.provider into .github/memory.yml, builtin too.`);
  return 'commit';
}

/** A team's sessions may all be on its ref, so that this machine needs none. */
export function nothingToRead(sources: number, delivery: Config['delivery']['mode'], config: Config): string | null {
  if (sources > 0) return null;
  if (config.include.length === 0) {
    return 'Nothing to do: no repository is included. List some as include in .github/memory.yml (npm run nightly -- --dry-run shows what sessions here have), or name a folder: --source codex:<folder>.';
  }
  return delivery === 'commit'
    ? 'Nothing to do: no agent has sessions on this machine. Name a folder: --source <agent>:<folder>.'
    : null;
}
