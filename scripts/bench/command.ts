import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isoTime } from '../shared/clock.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { chartOf } from './chart/chart.ts';
import { drawnOf } from './chart/figures.ts';
import { runScript } from './child.ts';
import { subCommands } from './commands/all.ts';
import type { Comparison } from './compare/comparison.ts';
import { isMissed } from './compare/comparison.ts';
import { comparisonText } from './compare/report.ts';
import { opponent } from './compare/run.ts';
import { cannotRead } from './corpus.ts';
import { checkFlag, corpusFlag, jsonFlag } from './flags.ts';
import { machine } from './machine.ts';
import { measures } from './measures.ts';
import { parseReading, readingText } from './reading.ts';
import { table } from './report.ts';
import { scalingMeasures } from './scaling.ts';
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
      oneOf: ['scaling', ...measures.map(({ name }) => name)],
      help: 'measure this alone',
    },
    compare: {
      kind: 'value',
      value: '<program>',
      help: 'play the same sessions with Codex (codex) or with another command, in turn, and print the ratios; {corpus}, {server} and {out} in a command stand for the sessions, the address of a model server, and an empty folder',
    },
    codex: {
      kind: 'value',
      value: '<path>',
      help: 'Codex, or the folder that npm installed it into (default: CTM_CODEX, PATH)',
    },
    corpus: { ...corpusFlag, help: `with --compare: ${corpusFlag.help} (default: the samples, multiplied)` },
    chart: {
      kind: 'value',
      value: '<file>',
      help: 'measure nothing: print what that file holds, made with --json, as an SVG',
    },
    once: { kind: 'switch', help: 'one measure, once, in this process: for a profiler' },
    json: jsonFlag,
  },
  positionals: ['[scaling|<measure>]'],
  commands: Object.fromEntries(Object.entries(subCommands).map(([name, { spec }]) => [name, spec])),
  examples: [
    'npm run bench',
    'npm run bench -- --check',
    'npm run bench -- recall --check',
    'npm run bench -- scaling',
    'npm run bench -- --only read --only memory',
    'npm run bench -- --check --compare codex --codex ~/codex',
    'npm run --silent bench -- --only scaling --compare codex --json > bench.json',
    'npm run --silent bench -- --chart bench.json > .github/bench.svg',
    'npm run bench -- --compare "tool --in {corpus} --api {server}/v1" --corpus ~/corpus',
    'node --cpu-prof --import tsx scripts/bench.ts --once --only phase1',
  ],
};

/** All that say how time grows. */
const scalingNames = scalingMeasures.map(({ name }) => name);

export async function benchCommand(world: World): Promise<ExitCode> {
  const { command } = world.flags;
  const named = command === null ? undefined : subCommands[command];
  return named === undefined ? speed(world) : named.run(world);
}

async function speed(world: World): Promise<ExitCode> {
  const { flags, log } = world;
  const file = flags.valueOf('chart');
  if (file !== undefined) return chart(world, file);
  const wanted = [...flags.listOf('only'), ...flags.positionals];
  const chosen = chosenMeasures(wanted.flatMap((name) => (name === 'scaling' ? scalingNames : [name])));
  if (flags.isOn('once')) return once(world, chosen);
  const other = flags.valueOf('compare');
  const against = other === undefined ? null : await opponent(world, other);
  const isAlone = against !== null && wanted.length === 0 && !flags.isOn('check');
  const results = isAlone ? [] : await measureAll(world, chosen);
  const comparison = against === null ? null : await inScratch(against);
  const held = results.every(({ verdict }) => verdict !== 'missed') && !isMissed(comparison?.rows ?? []);
  log.result(
    flags.isOn('json') ? JSON.stringify(figuresOf(world, held, results, comparison)) : text(results, comparison),
  );
  return !held && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}

async function chart({ cwd, log }: World, file: string): Promise<ExitCode> {
  const text = await readFile(resolve(cwd, file), 'utf8').catch(cannotRead(file));
  log.result(chartOf(drawnOf(text, file)).trimEnd());
  return exitCodes.done;
}

/** Each measure has a process of its own, so that none inherits another's warm code or grown heap. */
async function measureAll(world: World, chosen: readonly Measure[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const [done, measure] of chosen.entries()) {
    world.log.progress({ stage: 'bench', done, total: chosen.length, note: measure.name });
    results.push(
      await judge(measure, async () =>
        parseReading(await runScript(world, 'bench.ts', ['--once', '--only', measure.name])),
      ),
    );
  }
  world.log.progress({ stage: 'bench', done: chosen.length, total: chosen.length, note: '' });
  return results;
}

function text(results: readonly Result[], comparison: Comparison | null): string {
  const parts = [...(results.length === 0 ? [] : [table(results)])];
  return [...parts, ...(comparison === null ? [] : [comparisonText(comparison)])].join('\n\n');
}

function figuresOf(world: World, held: boolean, measures: readonly Result[], comparison: Comparison | null) {
  return { held, at: isoTime(world.clock.now()), machine: machine(), measures, comparison };
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
