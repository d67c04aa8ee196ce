import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { basisOf } from './check/basis.ts';
import { mend } from './check/fix.ts';
import { checkJson, checkMarkdown, checkText, explained, outcomeOf } from './check/report.ts';
import { type CheckReport, check } from './check/run.ts';
import { sarifOf } from './check/sarif.ts';
import { openRepository } from './git/open.ts';
import { loadConfig, parseSource } from './nightly/settings.ts';
import { type ExitCode, exitCodes, MemoryError, messageOf, UsageError } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { CommandSpec, Flags } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';

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
    base: {
      kind: 'value',
      value: '<ref|dir>',
      help: 'what is wrong there too is old, and only a warning: a branch, a commit or a folder',
    },
    repository: { kind: 'list', value: '<dir>', help: 'a repository that the memory is about; repeatable' },
    source: { kind: 'list', value: '<agent>:<path>', help: 'sessions to compare lines with; repeatable' },
    markdown: { kind: 'value', value: '<file>', help: 'write the report there, as Markdown' },
    sarif: { kind: 'value', value: '<file>', help: 'write the findings there, as SARIF 2.1.0' },
    annotations: { kind: 'switch', help: 'GitHub annotations on standard error, outside of GitHub Actions too' },
    fix: { kind: 'switch', help: 'mend in the working tree what code can mend, then judge' },
    explain: { kind: 'value', value: '<rule>', help: 'what a rule means and how it is silenced; all: every rule' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run check',
    'npm run check -- --committed --json',
    'npm run check -- --tree "$(git rev-parse topic)" --base main --sarif check.sarif',
    'npm run check -- --repository ~/src/app --fix',
    'npm run check -- --explain evidence.quote',
  ],
};

await main(spec, checkCommand);

async function checkCommand(world: World): Promise<ExitCode> {
  const { flags, env, cwd, log } = world;
  const wanted = flags.valueOf('explain');
  if (wanted !== undefined) return explain(world, wanted);
  refuseBoth(flags, 'tree', 'committed');
  refuseBoth(flags, 'fix', 'tree');
  refuseBoth(flags, 'fix', 'committed');
  const repository = await openRepository(flags.valueOf('repo') ?? cwd, { env });
  const { tree, basis } = await basisOf(repository, await loadConfig(repository), {
    tree: flags.valueOf('tree') ?? null,
    committed: flags.isOn('committed'),
    base: flags.valueOf('base') ?? null,
    repositories: flags.listOf('repository').map((folder) => resolve(cwd, folder)),
    sources: flags.listOf('source').map(parseSource),
    cwd,
    home: world.home,
    env,
  });
  const mended = flags.isOn('fix') ? await mend(repository, tree, basis) : { tree, paths: [] };
  for (const path of mended.paths) log.info(`mended: ${path}`);
  const report = await check(mended.tree, basis);
  await tell(world, report);
  return outcomeOf(report) === 'errors' ? exitCodes.failed : exitCodes.done;
}

async function tell({ flags, cwd, log }: World, report: CheckReport): Promise<void> {
  for (const { severity, rule: title, path, line, message, remedy } of report.findings)
    log.annotate(severity, `${message} ${remedy}`, { path, line, title }, flags.isOn('annotations'));
  const markdown = checkMarkdown(report);
  log.summary(markdown);
  await write(cwd, flags.valueOf('markdown'), `${markdown}\n`);
  await write(cwd, flags.valueOf('sarif'), `${JSON.stringify(sarifOf(report), null, 1)}\n`);
  log.result(flags.isOn('json') ? jsonText(checkJson(report)) : checkText(report));
}

async function write(cwd: string, file: string | undefined, text: string): Promise<void> {
  if (file === undefined) return;
  try {
    await writeFile(resolve(cwd, file), text);
  } catch (error) {
    throw new MemoryError(`${file} cannot be written: ${messageOf(error)}.`, 'Name a file in a folder that is there.', {
      cause: error,
    });
  }
}

function explain({ log }: World, rule: string): ExitCode {
  const text = explained(rule);
  if (text === null) throw new UsageError(`There is no rule ${rule}.`, 'npm run check -- --explain all lists them.');
  log.result(text);
  return exitCodes.done;
}

function refuseBoth(flags: Flags, one: string, other: string): void {
  const isGiven = (name: string) => flags.isOn(name) || flags.valueOf(name) !== undefined;
  if (isGiven(one) && isGiven(other))
    throw new UsageError(`--${one} and --${other} exclude each other.`, 'Give one of them.');
}
