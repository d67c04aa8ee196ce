import { workingTree } from './check/tree.ts';
import { openRepository } from './git/open.ts';
import type { Repository } from './git/types.ts';
import { loadConfig, sourcesOf } from './nightly/settings.ts';
import { checkoutsOnDisk } from './rollout/checkouts.ts';
import { listingsHere } from './rollout/kept-here.ts';
import { type ExitCode, exitCodes, MemoryError, UsageError } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { Files, Oid } from './shared/files.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';
import { answerJson, beliefsJson, linesJson } from './why/json.ts';
import { linesOf } from './why/lines.ts';
import { openKnownState } from './why/open-state.ts';
import { ownSessions } from './why/own-sessions.ts';
import { commitAt } from './why/past.ts';
import { findLine, parseQuestion, type Question } from './why/question.ts';
import { type Outcome, why } from './why/run.ts';
import { answerText, beliefsText, missText, severalText } from './why/text.ts';
import { handbookPath } from './workspace/layout.ts';

const spec: CommandSpec = {
  name: 'why',
  purpose:
    'Says why a line of the memory is there: who or which run wrote it, in which commit and pull request, and what was said in which session. Writes nothing.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    history: { kind: 'switch', help: 'follow the line through its earlier wordings; finds lines that are gone, too' },
    at: {
      kind: 'value',
      value: '<date|commit>',
      help: 'what was believed then, and what became of it; without a line: all that the handbook said',
    },
    source: {
      kind: 'list',
      value: '<agent>:<folder>',
      help: 'look for the words of sessions in this folder instead of the configured sources',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: ['<text or file:line>'],
  examples: [
    'npm run why -- "We run Node 20 everywhere"',
    'npm run why -- memories/MEMORY.md:15 --history',
    'npm run why -- --at 2026-11-01 "how to run the tests" --json',
  ],
};

await main(spec, whyCommand);

async function whyCommand(world: World): Promise<ExitCode> {
  const { flags, env, cwd, home, log } = world;
  const [text] = flags.positionals;
  const moment = flags.valueOf('at');
  if (text === undefined && moment === undefined)
    throw new UsageError('Which line?', 'Give words of it, or its place: npm run why -- memories/MEMORY.md:12');
  const repository = await openRepository(flags.valueOf('repo') ?? cwd, { env });
  const { oid: head } = await repository.head();
  if (head === null) throw new MemoryError('There is no commit here, so there is no memory.', 'Run: npm run nightly');
  const at = moment === undefined ? await repository.readCommit(head) : await commitAt(repository, head, moment);
  const files = await repository.readFiles(at.oid, ['memories']);
  if (text === undefined) {
    const lines = linesOf(handbookPath, files.get(handbookPath) ?? '').filter(({ kind }) => kind === 'bullet');
    log.result(flags.isOn('json') ? jsonText(beliefsJson(at, lines)) : beliefsText(at, lines));
    return exitCodes.done;
  }
  const standpoint = { cwd, workTree: repository.workTree, files };
  const asked = parseQuestion(text, standpoint);
  const question = moment === undefined ? await asCommitted(repository, asked, files) : asked;
  const config = await loadConfig(repository);
  const known = await openKnownState(repository);
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home };
  const redactor = createRedactor(env);
  const outcome = await why(repository, { question, head, at, files, history: flags.isOn('history') }, known, {
    repository,
    ref: config.rollouts.ref,
    own: ownSessions(sourcesOf(config, flags, home, env), place, redactor, listingsHere(world, 'look')),
    redactor,
  });
  return told(world, outcome, at.oid === head ? null : at.oid);
}

/**
 * A place in an edited file is a place of what the person sees: the committed line that stands there now.
 * @throws MemoryError for a line that no commit holds yet.
 */
async function asCommitted(repository: Repository, question: Question, files: Files): Promise<Question> {
  if (question.kind === 'text' || repository.workTree === null) return question;
  const { path } = question;
  const seen = (await workingTree(repository.workTree)).files.get(path);
  if (seen === undefined || seen === files.get(path)) return question;
  const found = findLine(question, new Map([[path, seen]]));
  if (found.outcome !== 'one') return question;
  const line = linesOf(path, files.get(path) ?? '').find(({ hash }) => hash === found.line.hash);
  if (line !== undefined) return { kind: 'place', path, line: line.line };
  throw new MemoryError(
    `${path}:${question.line} is not committed yet, so nobody but you stands behind it.`,
    `Commit it first, or ask about what is committed: npm run why -- ${path}:${question.line} --at HEAD`,
  );
}

function told({ flags, log }: World, outcome: Outcome, at: Oid | null): ExitCode {
  const isJson = flags.isOn('json');
  switch (outcome.outcome) {
    case 'answer':
      log.result(isJson ? jsonText(answerJson(outcome.answer, at)) : answerText(outcome.answer, at, log.isColoured));
      return exitCodes.done;
    case 'several':
      if (isJson) log.result(jsonText(linesJson('several', outcome.lines)));
      log.error(severalText(outcome.lines));
      return exitCodes.usage;
    case 'none':
      if (isJson) log.result(jsonText(linesJson('none', outcome.near)));
      log.error(missText(outcome.near, flags.isOn('history')));
      return exitCodes.failed;
  }
}
