import { lastNightBefore } from './check/last-night.ts';
import { checkJson, checkMarkdown, checkText, outcomeOf } from './check/report.ts';
import { check } from './check/run.ts';
import { committedTree, workingTree } from './check/tree.ts';
import { openRepository } from './git/open.ts';
import type { Repository } from './git/types.ts';
import { loadConfig } from './nightly/settings.ts';
import { type ExitCode, exitCodes, UsageError } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { Files, Oid } from './shared/files.ts';
import type { CommandSpec, Flags } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';
import { createRedactor } from './shared/redact.ts';
import { type LoadedState, loadStateRef, stateRef } from './state/ref.ts';

const spec: CommandSpec = {
  name: 'check',
  purpose: 'Says what is wrong with memories/ and the state: rules, evidence, secrets, damage.',
  flags: {
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    committed: { kind: 'switch', help: 'judge what HEAD holds instead of the working tree' },
    tree: {
      kind: 'value',
      value: '<oid>',
      help: 'judge what this commit holds, with the code, the configuration and the state that are here',
    },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run check',
    'npm run check -- --committed --json',
    'npm run check -- --tree "$(git rev-parse topic)"',
  ],
};

await main(spec, checkCommand);

async function checkCommand({ flags, env, cwd, log }: World): Promise<ExitCode> {
  const repository = await openRepository(flags.valueOf('repo') ?? cwd, { env });
  const config = await loadConfig(repository);
  const { oid } = await repository.head();
  const named = namedCommit(flags);
  const isCommitted = named !== null || flags.isOn('committed') || repository.workTree === null;
  const tree =
    isCommitted || repository.workTree === null
      ? await committedTree(repository, named ?? oid)
      : await workingTree(repository.workTree);
  const loaded = await loadStateRef(repository, stateRef);
  const report = await check(tree, {
    stateOfRef: loaded?.tree.text ?? null,
    lastNight: await (named === null
      ? lastNight(repository, loaded, isCommitted)
      : lastNightBefore(repository, loaded?.tree.night ?? null, named, oid)),
    audience: config.audience,
    redactor: createRedactor(env),
  });
  for (const { severity, rule: title, path, line, message, remedy } of report.findings)
    log.annotate(severity, `${message} ${remedy}`, { path, line, title });
  log.summary(checkMarkdown(report));
  log.result(flags.isOn('json') ? jsonText(checkJson(report)) : checkText(report));
  return outcomeOf(report) === 'errors' ? exitCodes.failed : exitCodes.done;
}

function namedCommit(flags: Flags): Oid | null {
  const named = flags.valueOf('tree');
  if (named === undefined) return null;
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(named))
    throw new UsageError(`--tree does not take “${named}”.`, 'It takes a whole commit id: git rev-parse <branch>.');
  if (flags.isOn('committed')) throw new UsageError('--tree and --committed exclude each other.', 'Give one of them.');
  return named;
}

/** The memory as the last night left it on this branch; without its record what HEAD holds, for what is not committed. */
async function lastNight(
  repository: Repository,
  loaded: LoadedState | null,
  isCommitted: boolean,
): Promise<Files | null> {
  const head = await repository.head();
  const tip = head.kind === 'branch' ? loaded?.tree.night.recordedTips[head.ref] : undefined;
  const from = tip ?? (isCommitted ? null : head.oid);
  return from === null ? null : repository.readFiles(from, ['memories']);
}
