import { join } from 'node:path';
import { type AddOutcome, addRollouts, deriveAddition } from '../archive/add.ts';
import { archiveTip } from '../archive/archive.ts';
import { LockHeldError, withLock } from '../git/lock.ts';
import type { Rollout } from '../rollout/types.ts';
import { type ExitCode, exitCodes, MemoryError } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import type { Oid } from '../shared/files.ts';
import type { World } from '../shared/main.ts';
import { requirePrivate } from './host.ts';
import { type Job, jobFor, knownTo, type Setup } from './job.ts';
import { type CarriedNotes, carryNotes, waitingNotes, wouldCarry } from './notes.ts';
import { collectJson, collectText } from './report.ts';
import { type CollectReport, collect } from './run.ts';
import { looked, scan } from './scan.ts';
import { type SeenByPath, saveSeen } from './seen.ts';
import { show } from './show.ts';
import { readSpool } from './spool.ts';

/** Collects as the command line says. */
export async function collectCommand(world: World, setup: Setup): Promise<ExitCode> {
  const { flags } = world;
  if (!setup.config.enabled) return quiet(world, 'Nothing to do: enabled is false in .github/memory.yml.');
  if (setup.config.include.length === 0)
    return quiet(world, 'Nothing to do: no repository is included. List some as include in .github/memory.yml.');
  const job = await jobFor(world, setup);
  if (flags.valueOf('show') !== undefined || flags.valueOf('export') !== undefined) return show(job);
  if (flags.isOn('dry-run')) return dryRun(job);
  try {
    const owner = { ...world.self, at: world.clock.now(), note: 'collect' };
    return await withLock(join(job.laptop.state, 'collect.lock'), owner, () => send(job));
  } catch (error) {
    if (error instanceof LockHeldError) return quiet(world, `Nothing to do: ${error.message}`);
    throw error;
  }
}

async function send(job: Job): Promise<ExitCode> {
  const { world, setup, laptop, agreement, roots, policy, ports } = job;
  const { flags, log, clock, signal } = world;
  const spool = await readSpool(laptop.spool, roots);
  for (const { path, why } of spool.refused) log.warn(terminalText(`A hook named ${path}, which ${why}: not read.`));
  const isSpooled = flags.isOn('spooled');
  const transcripts = isSpooled ? await looked(spool.files) : await scan(roots, signal);
  const known = await knownTo(job, flags.isOn('all'));
  let isAllowed = false;
  const allow = async (): Promise<void> => {
    if (!isAllowed) requirePrivate(agreement, await setup.exposure());
    isAllowed = true;
  };
  const notes = await carryNotes(job, await waitingNotes(job), allow);
  const report = await collect(
    transcripts,
    isSpooled ? known : standing(known, new Set(transcripts.map(({ path }) => path))),
    policy,
    {
      ...ports,
      async send(rollouts) {
        await allow();
        return addRollouts(setup.archive, rollouts, policy.notBefore, { clock, signal });
      },
      settled: (seen) => saveSeen(job.seenPath, job.rules, seen),
    },
    signal,
  );
  await spool.clear();
  return tell(world, report, notes, false);
}

/** Without the rows of transcripts that are gone. */
function standing(known: SeenByPath, paths: ReadonlySet<string>): SeenByPath {
  return new Map([...known].filter(([path]) => paths.has(path)));
}

async function dryRun(job: Job): Promise<ExitCode> {
  const { world, setup, roots, policy, ports } = job;
  const { flags, signal } = world;
  const transcripts = await scan(roots, signal);
  let tip: Promise<Oid | null> | null = null;
  const wouldAdd = async (rollouts: readonly Rollout[]): Promise<ReadonlyMap<string, AddOutcome>> => {
    tip ??= tipOrNone(job);
    return (await deriveAddition(setup.archive, await tip, rollouts, policy.notBefore)).value;
  };
  const known = await knownTo(job, flags.isOn('all'));
  const report = await collect(
    transcripts,
    known,
    policy,
    { ...ports, send: wouldAdd, settled: () => Promise.resolve() },
    signal,
  );
  return tell(world, report, wouldCarry(await waitingNotes(job)), true);
}

/** What is there already cannot be told from here without the remote; everything else can. */
async function tipOrNone({ world, setup }: Job): Promise<Oid | null> {
  try {
    return await archiveTip(setup.archive);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    world.log.warn(`What was sent before is not known: ${error.message}`);
    return null;
  }
}

function tell({ flags, log }: World, report: CollectReport, notes: CarriedNotes, isDryRun: boolean): ExitCode {
  const isJson = flags.isOn('json');
  log.result(isJson ? jsonText(collectJson(report, notes, isDryRun)) : collectText(report, notes, isDryRun));
  return report.failed.length > 0 ? exitCodes.partly : exitCodes.done;
}

function quiet({ flags, log }: World, why: string): ExitCode {
  log.result(flags.isOn('json') ? jsonText({ outcome: 'quiet', why }) : why);
  return exitCodes.done;
}
