import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRepository } from './git/layout.ts';
import { gitProgram, isMissingProgram, type RunGit } from './git/program.ts';
import { mergeCopies } from './merge-driver/merge.ts';
import { driverCommand, faults, install } from './merge-driver/setting.ts';
import { type ExitCode, exitCodes, MemoryError, UsageError } from './shared/errors.ts';
import { jsonText } from './shared/escape.ts';
import type { CommandSpec } from './shared/flags.ts';
import { main, type World } from './shared/main.ts';

const spec: CommandSpec = {
  name: 'merge-driver',
  purpose:
    'Merges state.sqlite.json: of two copies the one with the later night wins whole. Git calls it where it is installed.',
  flags: {
    check: { kind: 'switch', help: 'say whether this clone merges with it; 1 where it does not' },
    repo: { kind: 'value', value: '<dir>', help: 'the clone (default: this one)' },
    json: { kind: 'switch', help: 'with --check: one JSON object on standard output' },
  },
  positionals: ['install|run', '%O', '%A', '%B', '%P'],
  examples: ['npm run merge-driver -- install', 'npm run merge-driver -- --check'],
};

const command = driverCommand({ script: fileURLToPath(import.meta.url), loader: import.meta.resolve('tsx') });

await main(spec, mergeDriver);

async function mergeDriver(world: World): Promise<ExitCode> {
  const { flags } = world;
  const [action, ...more] = flags.positionals;
  if (action === 'run') return run(world, more);
  if (more.length === 0 && flags.isOn('check') && action === undefined) return check(world);
  if (more.length === 0 && !flags.isOn('check') && action === 'install') return installed(world);
  throw new UsageError('Say what to do.', 'npm run merge-driver -- install, or --check; run is for Git alone.');
}

async function run({ cwd, log }: World, [, ours, theirs, path]: readonly string[]): Promise<ExitCode> {
  if (ours === undefined || theirs === undefined || path === undefined)
    throw new UsageError('run takes four paths.', 'Git gives them: npm run merge-driver -- install.');
  log.info(await mergeCopies({ ours: resolve(cwd, ours), theirs: resolve(cwd, theirs), path }));
  return exitCodes.done;
}

async function installed(world: World): Promise<ExitCode> {
  const git = await gitOf(world);
  await install(git, command);
  const open = await faults(git, command);
  world.log.result(
    [
      'Installed for this clone and its worktrees. Other clones need it too; it cannot be committed.',
      'GitHub’s merge button (and GitLab’s) does not run it: it merges this file as text, and the next night writes it anew from refs/memory/state.',
      ...open,
    ].join('\n'),
  );
  return open.length === 0 ? exitCodes.done : exitCodes.failed;
}

async function check(world: World): Promise<ExitCode> {
  const found = await faults(await gitOf(world), command);
  const text = found.length === 0 ? 'state.sqlite.json is merged by the driver in this clone.' : found.join('\n');
  world.log.result(world.flags.isOn('json') ? jsonText({ works: found.length === 0, faults: found }) : text);
  return found.length === 0 ? exitCodes.done : exitCodes.failed;
}

async function gitOf({ flags, cwd, env }: World): Promise<RunGit> {
  const git = gitProgram(await findRepository(flags.valueOf('repo') ?? cwd), env);
  try {
    await git(['--version']);
    return git;
  } catch (error) {
    if (!isMissingProgram(error)) throw error;
    throw new MemoryError('The git program is not installed.', 'Only it calls merge drivers: https://git-scm.com', {
      cause: error,
    });
  }
}
