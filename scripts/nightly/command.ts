import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts } from '../rollout/source.ts';
import { stopwatch } from '../shared/clock.ts';
import { type ExitCode, exitCodes } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { createEngine } from './compose.ts';
import { dryRun } from './dry-run.ts';
import type { Phases } from './night.ts';
import { nightPolicy } from './policy.ts';
import { withTimeLeft } from './progress.ts';
import { nightJson, nightMarkdown, nightText } from './report.ts';
import { runNight } from './run.ts';
import { loadConfig, sourcesOf, usdLeftThisMonth, wishesOf, withFlags } from './settings.ts';

/** Plays a night, or half of one, as the command line and the configuration say. */
export async function playCommand(world: World, phases: Phases): Promise<ExitCode> {
  const { flags, env, log, clock, signal } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = withFlags(await loadConfig(repository), flags);
  if (!config.enabled) return quiet(world, 'Nothing to do: enabled is false in .github/memory.yml.');
  const sources = phases.one ? sourcesOf(config, flags, world.home, env) : [];
  if (phases.one && sources.length === 0) {
    return quiet(
      world,
      config.include.length === 0
        ? 'Nothing to do: no repository is included. List some as include in .github/memory.yml, or name a folder: --source codex:<folder>.'
        : 'Nothing to do: no agent has sessions on this machine. Name a folder: --source <agent>:<folder>.',
    );
  }
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home: world.home };
  const rollouts = redactedRollouts(openRollouts(sources, place), redactor);
  const policy = nightPolicy(config, wishesOf(flags), phases);
  if (flags.isOn('dry-run')) return dryRun({ repository, rollouts, config, policy, world });
  const owner = { ...world.self, at: clock.now(), note: 'nightly' };
  return withLock(`${repository.commonDir}/memory/night.lock`, owner, async () => {
    const usdLeft = await usdLeftThisMonth(config, repository, clock.now());
    const engine = createEngine(config, repository, env, redact, usdLeft);
    for (const problem of engine.journal.problems) log.warn(problem);
    const elapsed = stopwatch();
    const goesOn = () => engine.goesOn() && elapsed() < config.budget.minutes * 60_000;
    const report = await runNight(
      policy,
      { ...engine, repository, rollouts, clock, redact, goesOn, progress: withTimeLeft(log.progress) },
      signal,
    );
    log.summary(nightMarkdown(report, engine.ledger));
    log.result(
      flags.isOn('json') ? JSON.stringify(nightJson(report, engine.ledger)) : nightText(report, engine.ledger),
    );
    return report.outcome === 'partly' ? exitCodes.partly : exitCodes.done;
  });
}

function quiet({ flags, log }: World, why: string): ExitCode {
  log.result(flags.isOn('json') ? JSON.stringify({ outcome: 'quiet', why }) : why);
  return exitCodes.done;
}
