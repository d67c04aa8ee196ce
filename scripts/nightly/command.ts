import type { CarriedNote } from '../archive/note-file.ts';
import { spooledNotes } from '../archive/note-spool.ts';
import { archivedNotes } from '../archive/notes.ts';
import { destinationOf } from '../collect/destination.ts';
import { laptopOf } from '../collect/laptop.ts';
import { laptopOptOuts } from '../collect/opted-out.ts';
import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import type { Repository } from '../git/types.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import { stopwatch } from '../shared/clock.ts';
import type { Config } from '../shared/config-schema.ts';
import type { ExitCode } from '../shared/errors.ts';
import { terminalText } from '../shared/escape.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { createEngine } from './compose.ts';
import { dryRun } from './dry-run.ts';
import type { Phases } from './night.ts';
import { nightPolicy } from './policy.ts';
import { withTimeLeft } from './progress.ts';
import { runNight } from './run.ts';
import { agentFoldersHere, loadConfig, sourcesOf, usdLeftThisMonth, wishesOf, withFlags } from './settings.ts';
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
  const sources = phases.one ? sourcesFor(config, world) : [];
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const notes = () => notesHere(repository, config, world, redact);
  const why = phases.one ? nothingToRead(sources.length, delivery, config) : null;
  if (why !== null && (config.include.length === 0 || (await notes()).length === 0)) return quiet(world, why);
  const { isOptedOut, optOutWord } = await laptopOptOuts(laptopOf(env, world.home));
  const word = optOutWord === undefined ? {} : { optOutWord };
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home: world.home, ...word };
  const rollouts = redactedRollouts(openRollouts(sources, place), redactor);
  const asked = nightPolicy(config, wishesOf(flags), phases);
  const policy = { ...asked, reading: { ...asked.reading, isOptedOut } };
  if (flags.isOn('dry-run')) return dryRun({ repository, rollouts, config, policy, world });
  const owner = { ...world.self, at: clock.now(), note: 'nightly' };
  return withLock(`${repository.commonDir}/memory/night.lock`, owner, async () => {
    const team = delivery === 'commit' ? null : await openTeam(delivery, config, repository, world);
    const usdLeft = await usdLeftThisMonth(config, repository, clock.now());
    const engine = createEngine(config, repository, env, redact, usdLeft);
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

/** What waits on this machine, and what stands on the repository's own ref. */
async function notesHere(
  repository: Repository,
  config: Config,
  { env, home }: World,
  redact: (text: string) => string,
): Promise<readonly CarriedNote[]> {
  const { memory } = await destinationOf(repository, config.rollouts.remote);
  const spooled = await spooledNotes(laptopOf(env, home).state, memory, redact);
  const standing = await archivedNotes(repository, await repository.readRef(config.rollouts.ref));
  return [...standing.notes, ...spooled.notes.map(({ note, origin }) => ({ ...origin, ...note, author: null }))];
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

/** A dry run also looks where nothing is included yet: it shows the ids that may be. */
function sourcesFor(config: Config, { flags, home, env }: World): Source[] {
  const sources = sourcesOf(config, flags, home, env);
  return sources.length === 0 && flags.isOn('dry-run') ? agentFoldersHere(home, env) : sources;
}

/** A team's sessions may all be on its ref, so that this machine needs none. */
function nothingToRead(sources: number, delivery: Config['delivery']['mode'], config: Config): string | null {
  if (sources > 0) return null;
  if (config.include.length === 0) {
    return 'Nothing to do: no repository is included. List some as include in .github/memory.yml (npm run nightly -- --dry-run shows what sessions here have), or name a folder: --source codex:<folder>.';
  }
  return delivery === 'commit'
    ? 'Nothing to do: no agent has sessions on this machine. Name a folder: --source <agent>:<folder>.'
    : null;
}
