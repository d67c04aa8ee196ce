import { openRepository } from './git/open.ts';
import { lookOf } from './nightly/look.ts';
import { extractorClassOf, outlook } from './nightly/outlook.ts';
import { nightPolicy } from './nightly/policy.ts';
import { loadConfig, sourcesOf, wishesOf } from './nightly/settings.ts';
import { loadStart, type Start } from './nightly/start.ts';
import { checkoutsOnDisk } from './rollout/checkouts.ts';
import { listingsHere } from './rollout/kept-here.ts';
import { redactedRollouts } from './rollout/redacted.ts';
import { openRollouts } from './rollout/source.ts';
import type { Config } from './shared/config-schema.ts';
import { type ExitCode, exitCodes } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';
import { costOf } from './status/cost.ts';
import { costJson, costText } from './status/cost-text.ts';
import { statusOf } from './status/facts.ts';
import { statusJson } from './status/json.ts';
import { type SourcesStatus, sourcesStatus } from './status/sources.ts';
import { statusText } from './status/text.ts';
import { usageOf } from './status/usage.ts';
import { usageJson, usageText } from './status/usage-text.ts';
import { warningsOf } from './status/warnings.ts';

const spec: CommandSpec = {
  name: 'status',
  purpose: 'Who waits and why: runs, repositories, sessions, spending, what a dead night left. Changes nothing.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    source: {
      kind: 'list',
      value: '<agent>:<folder>',
      help: 'look at the sessions of this folder instead of the configured sources',
    },
    cost: { kind: 'switch', help: 'what was spent by night, month and phase, the limit, and a forecast of this month' },
    usage: { kind: 'switch', help: 'how each memory was used: found, given, read, cited' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run status',
    'npm run status -- --usage',
    'npm run status -- --cost',
    'npm run --silent status -- --source codex:~/.codex/sessions --json',
  ],
};

await main(spec, status);

async function status(world: World): Promise<ExitCode> {
  const { flags, env, clock, log } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = await loadConfig(repository);
  const start = await loadStart(repository, 'look');
  const now = clock.now();
  if (flags.isOn('usage')) {
    const usage = usageOf(start.state, start.memories, config.memory.max_unused_days, now);
    log.result(flags.isOn('json') ? jsonText({ usage: usageJson(usage) }) : usageText(usage));
    return exitCodes.done;
  }
  if (flags.isOn('cost')) {
    const cost = costOf(start.state, config.budget.usd_per_month ?? null, now);
    log.result(flags.isOn('json') ? jsonText({ cost: costJson(cost) }) : costText(cost));
    return exitCodes.done;
  }
  const facts = statusOf({ ...lookOf(repository, config, start, flags), now });
  const sources = await lookAtSources(world, config, start);
  const warnings = warningsOf(facts, sources?.ready.length ?? 0, now);
  for (const warning of warnings) log.warn(warning);
  log.result(flags.isOn('json') ? jsonText(statusJson(facts, sources, warnings)) : statusText(facts, sources, now));
  return exitCodes.done;
}

/** What a night would read of the sources; null where none are configured or named. */
async function lookAtSources(world: World, config: Config, { state, night }: Start): Promise<SourcesStatus | null> {
  const { flags, env, home, clock, signal } = world;
  const sources = sourcesOf(config, flags, home, env);
  if (sources.length === 0) return null;
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home };
  const listing = await redactedRollouts(
    openRollouts(sources, place, listingsHere(world, 'keep')),
    createRedactor(env),
  ).list(signal);
  const policy = nightPolicy(config, wishesOf(flags));
  const { ready, skipped } = outlook(
    state,
    listing.found,
    policy,
    extractorClassOf(config.model.provider),
    clock.now(),
    night.batches,
  );
  return sourcesStatus(state, listing, { ready, skipped }, night.batches);
}
