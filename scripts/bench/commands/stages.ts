import { join, resolve } from 'node:path';
import { checkoutsOnDisk } from '../../rollout/checkouts.ts';
import { isoTime } from '../../shared/clock.ts';
import { type ExitCode, exitCodes, UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { sourcesIn } from '../corpus.ts';
import { corpusFlag, jsonFlag } from '../flags.ts';
import { machine } from '../machine.ts';
import { loadSamples, samplePlace } from '../samples.ts';
import { inScratch } from '../scratch.ts';
import { writeSessions } from '../sessions.ts';
import { measureStages, type Stages } from '../stages/measure.ts';
import { aligned, shown } from '../text.ts';
import { megabyte } from '../types.ts';
import type { SubCommand } from './types.ts';

const usualSessions = 256;

export const stagesCommand: SubCommand = {
  spec: {
    name: 'bench -- stages',
    purpose: 'How fast each stage of phase 1 is: read, redact, filter, tier, request, parse, record. Asks no model.',
    flags: {
      corpus: { ...corpusFlag, help: `${corpusFlag.help} (default: the samples, multiplied)` },
      sessions: {
        kind: 'value',
        value: '<n>',
        help: `how many sessions the samples are multiplied to (default: ${usualSessions})`,
      },
      json: jsonFlag,
    },
    positionals: [],
    examples: [
      'npm run bench -- stages',
      'npm run bench -- stages --sessions 2000 --json',
      'npm run bench -- stages --corpus ~/corpus',
    ],
  },
  run: stages,
};

async function stages(world: World): Promise<ExitCode> {
  const { flags, log, clock } = world;
  const measured = await inScratch((folder) => measure(world, folder));
  const { peakMemory } = world;
  const figures = { ...measured, peakMegabytes: peakMemory() / megabyte };
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ at: isoTime(clock.now()), machine: machine(), ...figures })
      : stagesText(measured, figures.peakMegabytes),
  );
  return exitCodes.done;
}

async function measure(world: World, folder: string): Promise<Stages> {
  const { flags, cwd, home, log, signal } = world;
  const progress = (done: number, total: number) => log.progress({ stage: 'bench: sessions', done, total, note: '' });
  const corpus = flags.valueOf('corpus');
  const count = countOf(flags.valueOf('sessions'));
  if (corpus === undefined) {
    const sources = await writeSessions(join(folder, 'sessions'), await loadSamples(), count ?? usualSessions);
    return measureStages(world, sources, await samplePlace(), progress, signal);
  }
  if (count !== null)
    throw new UsageError('--sessions multiplies the samples; a corpus is as large as it is.', 'Leave one of them out.');
  const sources = await sourcesIn(resolve(cwd, corpus));
  return measureStages(world, sources, { include: [], checkouts: checkoutsOnDisk(), home }, progress, signal);
}

function countOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`--sessions does not take “${text}”.`, 'It takes a whole number from 1 to 999999.');
}

/** A row a stage. */
export function stagesText({ rollouts, bytes, ignored, passes, stages: rows }: Stages, peakMegabytes: number): string {
  return [
    ...aligned([
      ['stage', 'ms a rollout', 'MB/s', 'rollouts/s'],
      ...rows.map(({ stage, ms, megabytesPerSecond, rolloutsPerSecond }) => [
        stage,
        ms.toFixed(3),
        shown(megabytesPerSecond),
        shown(rolloutsPerSecond),
      ]),
    ]),
    '',
    `${rollouts} sessions, ${shown(bytes / megabyte)} MB, ${passes === 1 ? 'once' : `the median of ${passes} passes`}, one after the other; peak memory ${shown(peakMegabytes)} MB.`,
    'MB are those of the sessions as their agents wrote them.',
    ...(ignored === 0 ? [] : [`${ignored} files hold no session of their agent and were passed over.`]),
  ].join('\n');
}
