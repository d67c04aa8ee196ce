import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { AddOutcome } from '../archive/add.ts';
import { archiveTip } from '../archive/archive.ts';
import { archivedRollouts } from '../archive/rollouts.ts';
import { writeRollout } from '../rollout/canonical.ts';
import type { Rollout } from '../rollout/types.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import { jsonText, terminalText } from '../shared/escape.ts';
import { atifOf } from './atif.ts';
import { type Job, knownTo } from './job.ts';
import { collect } from './run.ts';
import { scan, type Transcript } from './scan.ts';
import { relatives, type SeenByPath } from './seen.ts';

/** `--show` prints one session as it would be sent; `--export` writes it, or all, in another format. Nothing is sent. */
export async function show(job: Job): Promise<ExitCode> {
  const { world } = job;
  const { flags, log, cwd } = world;
  const thread = flags.valueOf('show');
  const isExport = flags.valueOf('export') !== undefined;
  const folder = resolve(cwd, flags.valueOf('out') ?? 'atif');
  const written: string[] = [];
  let shown = 0;
  const take = async (rollout: Rollout): Promise<void> => {
    if (thread !== undefined && rollout.thread.id !== thread) return;
    shown += 1;
    if (!isExport) log.result(canonicalText(rollout));
    else written.push(await writeAtif(folder, rollout));
  };
  await eachReady(job, thread, take);
  if (thread !== undefined && shown === 0) await take(await stored(job, thread));
  if (isExport)
    log.result(
      flags.isOn('json')
        ? jsonText({ outcome: 'exported', files: written })
        : terminalText(`Wrote ${written.length} ATIF v1.7 ${written.length === 1 ? 'file' : 'files'} to ${folder}`),
    );
  return exitCodes.done;
}

/** Every session that may be sent, whether it was or not; of one thread, only its files and what they may repeat. */
async function eachReady(
  job: Job,
  thread: string | undefined,
  take: (rollout: Rollout) => Promise<void>,
): Promise<void> {
  const { world, roots, policy, ports } = job;
  const known = await knownTo(job, true);
  const transcripts = of(thread, await scan(roots, world.signal), known);
  const send = async (rollouts: readonly Rollout[]): Promise<ReadonlyMap<string, AddOutcome>> => {
    for (const rollout of rollouts) await take(rollout);
    return new Map();
  };
  await collect(transcripts, known, policy, { ...ports, send, settled: () => Promise.resolve() }, world.signal);
}

function of(thread: string | undefined, transcripts: readonly Transcript[], known: SeenByPath): readonly Transcript[] {
  const rows = [...known.values()].filter((row) => row.thread === thread);
  if (thread === undefined || rows.length === 0) return transcripts;
  const paths = new Set(relatives(new Set(rows.flatMap(({ kin }) => kin)), known).map(({ path }) => path));
  return transcripts.filter(({ path }) => paths.has(path));
}

/** One whose transcript is gone from this machine. */
async function stored({ setup, world }: Job, thread: string): Promise<Rollout> {
  const rollouts = archivedRollouts(setup.archive.repository, await archiveTip(setup.archive));
  const { found } = await rollouts.list(world.signal);
  if (found.some((one) => one.thread.id === thread)) return rollouts.read(thread, world.signal);
  throw new UsageError(
    `No session ${terminalText(thread)} was sent or may be sent from here.`,
    'See which may, and why others stay: npm run collect -- --dry-run --all',
  );
}

/** The very JSON lines, with what a terminal would obey shown as escapes. */
function canonicalText(rollout: Rollout): string {
  const lines = writeRollout(rollout).trimEnd().split('\n');
  return lines.map((line) => jsonText(JSON.parse(line))).join('\n');
}

async function writeAtif(folder: string, rollout: Rollout): Promise<string> {
  const path = join(folder, `${rollout.thread.id}.json`);
  await mkdir(folder, { recursive: true });
  await writeFile(path, `${JSON.stringify(atifOf(rollout), null, 2)}\n`);
  return path;
}
