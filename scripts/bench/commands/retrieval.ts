import { resolve } from 'node:path';
import { type ExitCode, exitCodes, UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import { corpusFlag, jsonFlag } from '../flags.ts';
import { measureRetrieval, retrievalText } from '../retrieval.ts';
import { inScratch } from '../scratch.ts';
import type { SubCommand } from './types.ts';

export const retrievalCommand: SubCommand = {
  spec: {
    name: 'bench -- retrieval',
    purpose: "How well a search of a corpus' memory answers questions, beside the transcripts themselves.",
    flags: {
      corpus: corpusFlag,
      questions: {
        kind: 'value',
        value: '<file>',
        help: 'a line a question: {"ask":"…","answer":"words of the text that answers it"}',
      },
      json: jsonFlag,
    },
    positionals: [],
    examples: ['npm run bench -- retrieval --corpus ~/corpus --questions questions.jsonl'],
  },
  run: retrieval,
};

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
