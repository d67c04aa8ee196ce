import { type Ran, runChild } from './child.ts';
import type { Layout } from './layout.ts';

/** The environment a command was started in; `GIT_*` in it is never passed on. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs `git <args>` in one repository, with nothing around it that could change what it does: no hooks, no prompts. */
export type RunGit = (args: readonly string[], input?: Buffer | string, signal?: AbortSignal) => Promise<Ran>;

/**
 * @param more variables that are set as they are, for what has to do with a network; it may take an hour then.
 * @returns a runner whose promise rejects only where the program cannot be started, is stopped or takes too long.
 */
export function gitProgram(layout: Layout, env: Environment, more?: Readonly<Record<string, string>>): RunGit {
  const place = [`--git-dir=${layout.gitDir}`, ...(layout.workTree === null ? [] : [`--work-tree=${layout.workTree}`])];
  const cwd = layout.workTree ?? layout.gitDir;
  const cleanEnv = { ...environmentFrom(env), ...more };
  const group = more !== undefined;
  const limitSeconds = group ? 3_600 : 600;
  return (args, input = '', signal) =>
    runChild([...place, ...neutral, ...args], { cwd, env: cleanEnv }, input, { signal, limitSeconds, group });
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
