import type { EpochSeconds } from '../../shared/clock.ts';
import type { Oid } from '../../shared/files.ts';
import type { Made } from '../commits.ts';
import type { Told } from '../propose.ts';
import { type Fields, HandOverError, parseFields } from './fields.ts';
import { handOvers } from './folder.ts';

/** What of a night's commits cannot be read from the commits themselves. */
export type Words = Pick<Made, 'runId' | 'at' | 'sessions' | 'repositories' | 'trailers'>;

/** How remember ended. */
export type ResultFile =
  | {
      readonly outcome: 'played';
      /** As in the start. */
      readonly run: string;
      readonly words: Words;
      /** The branch's new tip and the state's, both in the bundle; null where nothing is new. */
      readonly tip: Oid | null;
      readonly state: Oid | null;
      readonly told: Told;
      /** Sessions that may leave the rollouts ref. */
      readonly expired: { readonly threads: readonly string[]; readonly notSince: EpochSeconds };
    }
  /** Nothing was paid: a ref, or the lease, was no longer what the start says. */
  | { readonly outcome: 'moved'; readonly run: string; readonly what: string }
  /** An error that was told to a person ended it; nothing was under way. */
  | { readonly outcome: 'stopped'; readonly run: string };

export function resultFileOf(result: ResultFile): Readonly<Record<string, unknown>> {
  if (result.outcome !== 'played') return { format, ...result };
  const { told } = result;
  return {
    format,
    ...result,
    told: { ...told, scopes: [...told.scopes].map(([scope, notes]) => ({ scope, ...notes })) },
  };
}

/** @throws HandOverError */
export function parseResultFile(text: string): ResultFile {
  const file = parseFields(handOvers.result, text);
  if (file.count('format') !== format) throw new HandOverError(handOvers.result, `format should be ${format}`);
  const run = file.text('run');
  const outcome = file.oneOf('outcome', 'played', 'moved', 'stopped');
  switch (outcome) {
    case 'moved':
      return { outcome, run, what: file.text('what') };
    case 'stopped':
      return { outcome, run };
    case 'played':
      return {
        outcome,
        run,
        words: wordsOf(file.fields('words')),
        tip: file.oidOrNull('tip'),
        state: file.oidOrNull('state'),
        told: toldOf(file.fields('told')),
        expired: {
          threads: file.fields('expired').texts('threads'),
          notSince: file.fields('expired').count('notSince'),
        },
      };
  }
}

const format = 1;

/** The trailers that a night writes. */
const trailerNames = ['Run', 'Phase1', 'Phase2', 'Model', 'Prompts', 'Tokens'].map((name) => `Memory-${name}`);

function wordsOf(words: Fields): Words {
  const trailers = words.fields('trailers');
  return {
    runId: words.text('runId', /^[0-9a-f]{16}$/),
    at: words.count('at'),
    sessions: words.count('sessions'),
    repositories: words.texts('repositories'),
    trailers: Object.fromEntries(trailerNames.map((name) => [name, trailers.text(name)])),
  };
}

function toldOf(told: Fields): Told {
  const usage = told.fields('usage');
  const next = told.fields('next');
  return {
    scopes: new Map(
      told
        .list('scopes')
        .map((notes) => [notes.text('scope'), { restored: notes.count('restored'), leftOut: notes.counts('leftOut') }]),
    ),
    secrets: told.counts('secrets'),
    usage: {
      requests: usage.count('requests'),
      input: usage.count('input'),
      cached: usage.count('cached'),
      output: usage.count('output'),
      microUsd: usage.countOrNull('microUsd'),
    },
    next: { waiting: next.count('waiting'), failed: next.count('failed'), held: next.texts('held') },
  };
}
