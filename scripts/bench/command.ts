import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { runScript } from './child.ts';
import { subCommands } from './commands/all.ts';
import { checkFlag, jsonFlag } from './flags.ts';
import { measures } from './measures.ts';
import { parseReading, readingText } from './reading.ts';
import { table } from './report.ts';
import { inScratch } from './scratch.ts';
import type { Measure } from './types.ts';
import { judge, type Result } from './verdict.ts';

export const benchSpec: CommandSpec = {
  name: 'bench',
  purpose: 'Measures how fast this is on this machine and compares it with what was promised.',
  flags: {
    check: checkFlag,
    only: {
      kind: 'list',
      value: '<measure>',
      oneOf: measures.map(({ name }) => name),
      help: 'measure this alone',
    },
    once: { kind: 'switch', help: 'one measure, once, in this process: for a profiler' },
    json: jsonFlag,
  },
  positionals: ['[measure]'],
  commands: Object.fromEntries(Object.entries(subCommands).map(([name, { spec }]) => [name, spec])),
  examples: [
    'npm run bench',
    'npm run bench -- --check',
    'npm run bench -- recall --check',
    'npm run bench -- --only read --only memory',
    'node --cpu-prof --import tsx scripts/bench.ts --once --only phase1',
  ],
};

export async function benchCommand(world: World): Promise<ExitCode> {
  const { command } = world.flags;
  const named = command === null ? undefined : subCommands[command];
  return named === undefined ? speed(world) : named.run(world);
}

/** Each measure has a process of its own, so that none inherits another's warm code or grown heap. */
async function speed(world: World): Promise<ExitCode> {
  const { flags, log } = world;
  const chosen = chosenMeasures([...flags.listOf('only'), ...flags.positionals]);
  if (flags.isOn('once')) return once(world, chosen);
  const results: Result[] = [];
  for (const [done, measure] of chosen.entries()) {
    log.progress({ stage: 'bench', done, total: chosen.length, note: measure.name });
    results.push(
      await judge(measure, async () =>
        parseReading(await runScript(world, 'bench.ts', ['--once', '--only', measure.name])),
      ),
    );
  }
  log.progress({ stage: 'bench', done: chosen.length, total: chosen.length, note: '' });
  const isMissed = results.some(({ verdict }) => verdict === 'missed');
  log.result(flags.isOn('json') ? JSON.stringify({ held: !isMissed, measures: results }) : table(results));
  return isMissed && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}

/** @throws UsageError for a name that is none. */
function chosenMeasures(wanted: readonly string[]): readonly Measure[] {
  const unknown = wanted.find((name) => measures.every((measure) => measure.name !== name));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no measure “${unknown}”.`,
      `There are: ${measures.map(({ name }) => name).join(', ')}; and ${Object.keys(subCommands).join(', ')}.`,
    );
  return measures.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
}

async function once(world: World, chosen: readonly Measure[]): Promise<ExitCode> {
  const [measure, ...others] = chosen;
  if (measure === undefined || others.length > 0)
    throw new UsageError(
      '--once takes one measure.',
      `Name it with --only: ${measures.map(({ name }) => name).join(', ')}.`,
    );
  world.log.result(readingText(await inScratch((folder) => measure.take({ world, folder }))));
  return exitCodes.done;
}
