import { spawn } from 'node:child_process';
import { GitError } from './errors.ts';
import type { Layout } from './layout.ts';

/** The environment a command was started in; `GIT_*` in it is never passed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Ran {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs `git <args>` in one repository, with nothing around it that could change what it does: no hooks, no prompts. */
export type RunGit = (args: readonly string[], input?: Buffer | string) => Promise<Ran>;

/** @returns a runner whose promise rejects only where the program cannot be started or takes over ten minutes. */
export function gitProgram(layout: Layout, env: Environment): RunGit {
  const place = [`--git-dir=${layout.gitDir}`, ...(layout.workTree === null ? [] : [`--work-tree=${layout.workTree}`])];
  const cwd = layout.workTree ?? layout.gitDir;
  const cleanEnv = environmentFrom(env);
  return (args, input) => run([...place, ...neutral, ...args], cwd, cleanEnv, input);
}

/** Output of a command that must not fail. */
export async function output(git: RunGit, args: readonly string[], input?: Buffer | string): Promise<Buffer> {
  const { code, stdout, stderr } = await git(args, input);
  if (code !== 0) throw new Error(stderr.trim() || `git ${args[0]} ended with ${code}`);
  return stdout;
}

/** The fields of `-z` output. */
export function fieldsOf(bytes: Buffer): string[] {
  const text = bytes.toString('latin1');
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

export function isMissingProgram(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

/** The user's and the machine's settings stay (line ends, ignored files), except those that run or reword something. */
const neutral: readonly string[] = [
  '--literal-pathspecs',
  '--no-pager',
  '--no-replace-objects',
  ...[
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.quotePath=false',
    'core.warnAmbiguousRefs=false',
    'submodule.recurse=false',
    'gc.auto=0',
    'maintenance.auto=false',
    'color.ui=false',
    'advice.statusHints=false',
  ].flatMap((setting) => ['-c', setting]),
];

function environmentFrom(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => !/^GIT_/i.test(name) && value !== undefined);
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    ...(Object.fromEntries(kept) as Record<string, string>),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_COMMITTER_NAME: 'commit-to-memory',
    GIT_COMMITTER_EMAIL: 'commit-to-memory@localhost',
  };
}

function run(
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  input: Buffer | string | undefined,
): Promise<Ran> {
  return new Promise((done, fail) => {
    const child = spawn('git', args, {
      cwd,
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    const watchdog = setTimeout(() => child.kill('SIGKILL'), watchdogMs);
    child.on('error', (error) => {
      clearTimeout(watchdog);
      fail(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      if (signal !== null)
        fail(new GitError(`git was stopped by ${signal}.`, 'Run it again; see with git status how far it came.'));
      else done({ code: code ?? 1, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
    child.stdin.on('error', ignoreClosedPipe);
    child.stdin.end(input ?? '');
  });
}

const watchdogMs = 600_000;

/** A program that stops reading has failed, and says why on stderr. */
function ignoreClosedPipe(): void {}
