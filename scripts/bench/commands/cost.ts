import { join, resolve } from 'node:path';
import type { Price } from '../../model/ledger.ts';
import { checkoutsOnDisk } from '../../rollout/checkouts.ts';
import { redactedRollouts } from '../../rollout/redacted.ts';
import { openRollouts, type Rollouts } from '../../rollout/source.ts';
import { type ExitCode, exitCodes, UsageError } from '../../shared/errors.ts';
import type { Flags } from '../../shared/flags.ts';
import type { World } from '../../shared/main.ts';
import { createRedactor } from '../../shared/redact.ts';
import { bulletsOf, parseHandbook } from '../../workspace/handbook.ts';
import { sourcesIn } from '../corpus.ts';
import { memoryOf } from '../corpus-memory.ts';
import { costOfEach, type Load, type Prices, reckon } from '../cost/reckon.ts';
import { costText, type Figures } from '../cost/text.ts';
import { conversationTokens, sessionTokens } from '../cost/tokens.ts';
import { corpusFlag, jsonFlag } from '../flags.ts';
import { samplePlace, sampleSources } from '../samples.ts';
import { inScratch } from '../scratch.ts';
import type { SubCommand } from './types.ts';

/** As the load is reckoned with. */
const usual: Load = { repositories: 40, people: 30, sessions: 200, turns: 12 };

/** What models of the two sizes cost about: an example. */
const examples = { extract: '0.25/0.025/2', consolidate: '1.25/0.125/10', batch: '0.5' } as const;

const priceValue = '<in/cached/out>';

export const costCommand: SubCommand = {
  spec: {
    name: 'bench -- cost',
    purpose: 'What nights cost, from the tokens of real sessions and prices that you give. Asks no model.',
    flags: {
      corpus: { ...corpusFlag, help: `${corpusFlag.help} (default: the samples)` },
      repositories: { kind: 'value', value: '<n>', help: `repositories (default: ${usual.repositories})` },
      people: { kind: 'value', value: '<n>', help: `people (default: ${usual.people})` },
      sessions: { kind: 'value', value: '<n>', help: `sessions a day (default: ${usual.sessions})` },
      turns: { kind: 'value', value: '<n>', help: `turns of one conversation of phase 2 (default: ${usual.turns})` },
      'session-tokens': {
        kind: 'value',
        value: '<n>',
        help: 'tokens of a session, as it is sent (default: the mean of those that were counted)',
      },
      extract: {
        kind: 'value',
        value: priceValue,
        help: `phase 1, US dollars for a million tokens (default, an example: ${examples.extract})`,
      },
      consolidate: { kind: 'value', value: priceValue, help: `phase 2, the same (default: ${examples.consolidate})` },
      batch: { kind: 'value', value: '<share>', help: `of the price that a batch costs (default: ${examples.batch})` },
      json: jsonFlag,
    },
    positionals: [],
    examples: [
      'npm run bench -- cost',
      'npm run bench -- cost --corpus ~/corpus --repositories 5 --people 4 --sessions 30',
      'npm run bench -- cost --session-tokens 20000',
      'npm run bench -- cost --extract 0.1/0.01/0.4 --consolidate 3/0.3/15',
    ],
  },
  run: cost,
};

async function cost(world: World): Promise<ExitCode> {
  const { flags, log, signal } = world;
  const load = loadOf(flags);
  const prices: Prices = {
    extract: priceOf('extract', flags),
    consolidate: priceOf('consolidate', flags),
    batchShare: shareOf(flags.valueOf('batch') ?? examples.batch),
  };
  const own = flags.valueOf('session-tokens');
  const given = own === undefined ? null : countOf('session-tokens', own);
  const { sessions, tokens: counted } = await sessionTokens(await rolloutsOf(world), signal);
  const session = { ...counted, own: given ?? counted.own };
  const tokens = { session, conversation: await conversationTokens(session.output, load) };
  const reckoned = reckon(tokens, load, prices);
  const remembered = { sessions, lines: await linesOf(world) };
  const each = costOfEach(reckoned, remembered);
  const figures: Figures = { sessions, tokens, load, prices, reckoned, remembered, each };
  log.result(flags.isOn('json') ? JSON.stringify(figures) : costText(figures));
  return exitCodes.done;
}

/** Lines of the handbook that a night without a model makes of the same sessions. */
async function linesOf(world: World): Promise<number> {
  const corpus = corpusOf(world);
  const sources = corpus === null ? sampleSources : await sourcesIn(corpus);
  return inScratch(async (folder) => {
    const memory = await memoryOf(world, join(folder, 'repository'), sources);
    return parseHandbook(memory.get('MEMORY.md') ?? '').blocks.flatMap(bulletsOf).length;
  });
}

/** null: the samples. */
function corpusOf({ flags, cwd }: World): string | null {
  const corpus = flags.valueOf('corpus');
  return corpus === undefined ? null : resolve(cwd, corpus);
}

async function rolloutsOf(world: World): Promise<Rollouts> {
  const { home, env } = world;
  const corpus = corpusOf(world);
  const rollouts =
    corpus === null
      ? openRollouts(sampleSources, await samplePlace())
      : openRollouts(await sourcesIn(corpus), { include: [], checkouts: checkoutsOnDisk(), home });
  return redactedRollouts(rollouts, createRedactor(env));
}

function loadOf(flags: Flags): Load {
  const count = (name: keyof Load) => countOf(name, flags.valueOf(name) ?? String(usual[name]));
  return {
    repositories: count('repositories'),
    people: count('people'),
    sessions: count('sessions'),
    turns: count('turns'),
  };
}

function countOf(name: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} does not take “${text}”.`, 'It takes a whole number from 1 to 999999.');
}

function priceOf(name: 'extract' | 'consolidate', flags: Flags): Price {
  const text = flags.valueOf(name) ?? examples[name];
  const numbers = text.split('/').map((part) => (/^\d{1,6}(\.\d{1,6})?$/.test(part) ? Number(part) : Number.NaN));
  const [input = Number.NaN, cached = Number.NaN, output = Number.NaN] = numbers;
  if (numbers.length === 3 && numbers.every((number) => Number.isFinite(number))) return { input, cached, output };
  throw new UsageError(
    `--${name} does not take “${text}”.`,
    `Write US dollars for a million tokens in, cached and out, such as ${examples[name]}.`,
  );
}

function shareOf(text: string): number {
  if (/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(text)) return Number(text);
  throw new UsageError(`--batch does not take “${text}”.`, 'Write a share from 0 to 1, such as 0.5.');
}
