import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runScript } from './bench/child.ts';
import { measures } from './bench/measures.ts';
import { parseReading, readingText } from './bench/reading.ts';
import { table } from './bench/report.ts';
import { measureRetrieval, retrievalText } from './bench/retrieval.ts';
import { broken, measureTrust, wholeTrust } from './bench/trust/measure.ts';
import { secretsText, trustText } from './bench/trust/report.ts';
import { measureSecrets } from './bench/trust/secrets.ts';
import type { Measure } from './bench/types.ts';
import { judge, type Result } from './bench/verdict.ts';
import { type ExitCode, exitCodes, UsageError } from './shared/errors.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';

const spec: CommandSpec = {
  name: 'bench',
  purpose: 'Measures how fast this is on this machine and compares it with what was promised.',
  flags: {
    check: { kind: 'switch', help: 'exit with 1 when a limit is missed' },
    only: { kind: 'list', oneOf: measures.map(({ name }) => name), help: 'measure this alone' },
    once: { kind: 'switch', help: 'one measure, once, in this process: for a profiler' },
    corpus: {
      kind: 'value',
      value: '<dir>',
      help: 'with retrieval: sessions, in folders named after their agents',
    },
    questions: {
      kind: 'value',
      value: '<file>',
      help: 'with retrieval: a line a question, {"ask":"…","answer":"words of the text that answers it"}',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: ['[retrieval|trust|<measure>]'],
  examples: [
    'npm run bench',
    'npm run bench -- --check',
    'npm run bench -- recall --check',
    'npm run bench -- --only read --only memory',
    'npm run bench -- trust --check',
    'npm run bench -- retrieval --corpus ~/corpus --questions questions.jsonl',
    'node --cpu-prof --import tsx scripts/bench.ts --once --only phase1',
  ],
};

await main(spec, bench);

/** Each measure has a process of its own, so that none inherits another's warm code or grown heap. */
async function bench(world: World): Promise<ExitCode> {
  const { flags, log } = world;
  if (flags.positionals[0] === 'retrieval') return retrieval(world);
  if (flags.positionals[0] === 'trust') return trust(world);
  const wanted = [...flags.listOf('only'), ...flags.positionals];
  const unknown = wanted.find((name) => measures.every((measure) => measure.name !== name));
  if (unknown !== undefined)
    throw new UsageError(
      `There is no measure “${unknown}”.`,
      `There are: ${measures.map(({ name }) => name).join(', ')}; and retrieval, trust.`,
    );
  const chosen = measures.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
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

/** How many planted faults are caught, and how many secrets. */
async function trust({ flags, log }: World): Promise<ExitCode> {
  const measured = await measureTrust(wholeTrust);
  const secrets = await measureSecrets();
  const faults = broken(measured, { planted: 30, untouched: 500 });
  log.result(
    flags.isOn('json')
      ? JSON.stringify({ held: faults.length === 0, ...measured, secrets, broken: faults })
      : [trustText(measured), secretsText(secrets), ...faults.map((fault) => `Missed: ${fault}.`)].join('\n\n'),
  );
  return faults.length > 0 && flags.isOn('check') ? exitCodes.failed : exitCodes.done;
}

/** How well the memory of a corpus answers questions, beside the transcripts themselves. */
async function retrieval(world: World): Promise<ExitCode> {
  const { flags, log, cwd } = world;
  const [corpus, questions] = [flags.valueOf('corpus'), flags.valueOf('questions')];
  if (corpus === undefined || questions === undefined)
    throw new UsageError(
      'retrieval takes --corpus and --questions together.',
      'npm run bench -- retrieval --corpus ~/corpus --questions questions.jsonl',
    );
  const result = await inScratch((folder) =>
    measureRetrieval(world, folder, resolve(cwd, corpus), resolve(cwd, questions)),
  );
  log.result(flags.isOn('json') ? JSON.stringify(result) : retrievalText(result));
  return exitCodes.done;
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

async function inScratch<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'commit-to-memory-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
