import { join, resolve } from 'node:path';
import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { knownTo, openShardJournal } from '../model/shard-journal.ts';
import { stopwatch } from '../shared/clock.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { parseShard, type Shard } from '../shared/shard.ts';
import { hasRun } from '../state/runs.ts';
import { usdLeft } from './accounts.ts';
import { cancelBatch } from './cancel-batch.ts';
import { playCommand } from './command.ts';
import { createShardEngine } from './compose.ts';
import { withTimeLeft } from './progress.ts';
import { loadConfig, nightJournal, withFlags } from './settings.ts';
import { readShard, shareOf } from './shard.ts';
import { stagedShards } from './shard-journals.ts';
import { shardJson, shardLines, shardMarkdown } from './shard-report.ts';
import { type ShardCall, type ShardStart, startOfShard } from './shard-start.ts';
import { claimedShard } from './stages/read.ts';
import { quiet } from './tell.ts';

/** `phase1`: the first half of a night, or with `--shard` one part of what it asks the model for. */
export async function phase1Command(world: World): Promise<ExitCode> {
  const { flags, env } = world;
  const batch = flags.valueOf('cancel-batch');
  if (batch !== undefined) return cancelBatch(world, batch);
  const text = flags.valueOf('shard');
  if (text === undefined) {
    refuse(flags.valueOf('journal') !== undefined, '--journal', 'says where a part of the sessions keeps its answers');
    refuse(flags.isOn('claimed'), '--claimed', 'is for one part of a night that was claimed');
    return playCommand(world, { one: true, two: false });
  }
  const shard = parseShard(text);
  if (flags.valueOf('delivery') !== undefined || flags.isOn('dry-run')) {
    throw new UsageError(
      'A part of the sessions is neither delivered nor looked at in advance.',
      'Leave --delivery and --dry-run out: npm run nightly takes them, for all of the sessions.',
    );
  }
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = withFlags(await loadConfig(repository), flags);
  if (!config.enabled) return quiet(world, 'Nothing to do: enabled is false in .github/memory.yml.');
  const begin = flags.isOn('claimed') ? claimedShard : startOfShard;
  const start = await begin({ shard, repository, config, world });
  return 'nothing' in start ? quiet(world, start.nothing) : play(start, { shard, repository, world });
}

function refuse(isGiven: boolean, flag: string, what: string): void {
  if (isGiven) throw new UsageError(`${flag} ${what}.`, 'Say which: npm run phase1 -- --shard 2/5.');
}

async function play(
  { config, night, start, policy, ports, limitSeconds, prove }: ShardStart,
  { shard, repository, world }: Omit<ShardCall, 'config'>,
): Promise<ExitCode> {
  const { flags, env, log, clock, signal, cwd } = world;
  const folder = resolve(
    cwd,
    flags.valueOf('journal') ?? join(repository.commonDir, 'memory', stagedShards, nameOf(shard)),
  );
  const redactor = createRedactor(env);
  const redact = (text: string) => redactor.redact(text);
  const owner = { ...world.self, at: clock.now(), note: `phase1 --shard ${shard.index}/${shard.count}` };
  return withLock(`${folder}.lock`, owner, async () => {
    const problems: string[] = [];
    const known = knownTo(nightJournal(repository), (run) => hasRun(start.state, run), problems);
    const journal = openShardJournal(folder, { shard, night: night.name }, night.nights, known, redact);
    for (const problem of [...problems, ...journal.problems]) log.warn(problem);
    const { usdPerMonth, ...terms } = policy;
    const left = usdPerMonth === undefined ? undefined : usdLeft(usdPerMonth, start.state, start.night, clock.now());
    const engine = createShardEngine(config, env, redact, journal, shareOf(config, known, left, shard));
    const elapsed = stopwatch();
    const shardPorts = {
      ...engine,
      extractor: prove(engine.extractor),
      ...ports,
      journal,
      repository,
      clock,
      redact,
      goesOn: () => engine.goesOn() && elapsed() < limitSeconds * 1_000,
      progress: withTimeLeft(log.progress),
    };
    const report = await readShard(start, terms, shard, shardPorts, signal);
    log.summary(shardMarkdown(report, engine.ledger));
    log.result(
      flags.isOn('json')
        ? JSON.stringify(shardJson(report, engine.ledger, folder))
        : shardLines(report, engine.ledger, folder),
    );
    return exitCodes.done;
  });
}

function nameOf({ index, count }: Shard): string {
  return `${index}-of-${count}`;
}
