import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { CarriedNote } from '../../scripts/archive/note-file.ts';
import { openRepository } from '../../scripts/git/open.ts';
import type { Repository } from '../../scripts/git/types.ts';
import { playCommand } from '../../scripts/nightly/command.ts';
import { createEngine } from '../../scripts/nightly/compose.ts';
import { nightlySpec } from '../../scripts/nightly/flags.ts';
import type { NightReport } from '../../scripts/nightly/night.ts';
import { nightPolicy, type Wishes } from '../../scripts/nightly/policy.ts';
import { runNight } from '../../scripts/nightly/run.ts';
import { type Checkouts, checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts, type Source } from '../../scripts/rollout/source.ts';
import { loaderArguments } from '../../scripts/shared/built.ts';
import { clockFrom, fixedClock, parseIsoTime } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { type CommandSpec, parseFlags } from '../../scripts/shared/flags.ts';
import { createLog } from '../../scripts/shared/log.ts';
import type { World } from '../../scripts/shared/main.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { git, env as gitEnv } from './repository.ts';
import { samples } from './sessions.ts';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** When the recorded sessions are a few days old at most. */
export const theNight = '2026-12-01T03:17:00Z';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** The process with every program that it started, at once and without a word. */
  killAll(): void;
}

/** Resolves once a thing outside this process is so. @throws after half a minute. */
export async function until(what: string, isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries += 1) {
    if (tries === 3_000) throw new Error(`It did not come: ${what}.`);
    await setTimeout(10);
  }
}

/** Which program plays the night. */
export interface Program {
  readonly node?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The folder of `builtCommands`, whose program is run in place of the source. */
  readonly built?: string;
}

/** `npm run nightly -- …` as a process of its own. */
export function startNightly(args: readonly string[], program: Program = {}): Running {
  return startCommand('nightly', args, program);
}

/** `npm run <name> -- …` as a process of its own, to its end. */
export function command(name: string, args: readonly string[], program: Program = {}): Promise<Ended> {
  return startCommand(name, args, program).ended;
}

/** A command as a process of its own, on the fixed clock, with nobody's settings. */
export function startCommand(
  name: string,
  args: readonly string[],
  { node = process.execPath, env = {}, cwd, built }: Program = {},
): Running {
  const program =
    built === undefined
      ? ['--import', import.meta.resolve('tsx'), join(root, `scripts/${name}.ts`)]
      : [join(built, `${name}.mjs`)];
  const child = spawn(node, [...program, ...args], {
    cwd: cwd ?? root,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/nowhere',
      CTM_CLOCK: theNight,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      ...env,
    },
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  const pid = child.pid ?? Number.NaN;
  return { pid, ended, kill: (signal) => child.kill(signal), killAll: () => process.kill(-pid, 'SIGKILL') };
}

export function nightly(args: readonly string[], program: Program = {}): Promise<Ended> {
  return startNightly(args, program).ended;
}

/** The same inside this process, which is faster: what it prints, and the exit code that its error asks for. */
export function playedHere(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return ranHere(nightlySpec, (world) => playCommand(world, { one: true, two: true }), args, env);
}

let runs = 0;

/** Any command inside this process, with a token of its own as a process has. */
export async function ranHere(
  spec: CommandSpec,
  run: (world: World) => Promise<number>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  runs += 1;
  const token = `run ${runs} of ${process.pid}`;
  const out: string[] = [];
  const err: string[] = [];
  const log = createLog({ write: (text) => out.push(text) }, { write: (text) => err.push(text) }, env);
  const ended = (code: number) => ({ code, signal: null, stdout: out.join(''), stderr: err.join('') });
  const environment = { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...env };
  try {
    const world = {
      flags: parseFlags(spec, args),
      env: environment,
      cwd: root,
      home: '/nowhere',
      log,
      ask: null,
      streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
      clock: clockFrom({ CTM_CLOCK: theNight, ...env }),
      signal: new AbortController().signal,
      self: {
        token,
        host: 'here',
        pid: process.pid,
        isAlive: () => true,
        program: process.execPath,
        args: loaderArguments(),
      },
      peakMemory: () => 0,
      cpuTime: () => 0,
    };
    return ended(await run(world));
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.error(error.message);
    log.info(`  ${error.hint}`);
    return ended(error.exitCode);
  }
}

/** `--now --since all` over these sources. */
export function over(repo: string, sources: readonly Source[]): string[] {
  return [
    '--repo',
    repo,
    '--now',
    '--since',
    'all',
    ...sources.flatMap((one) => ['--source', `${one.agent}:${one.path}`]),
  ];
}

export interface NightOptions {
  readonly wishes?: Partial<Wishes>;
  readonly at?: string;
  /** `.github/memory.yml` */
  readonly config?: string;
  readonly checkouts?: Checkouts;
  readonly env?: Readonly<Record<string, string>>;
  /** What the team asked to have remembered. */
  readonly notes?: readonly CarriedNote[];
  /** What happens outside while the night works: called as often as it shows how far it is. */
  meanwhile?(stage: string): unknown;
}

export interface Night {
  readonly report: NightReport;
  readonly repository: Repository;
}

/** The same night inside this process, with the built-in extractor: faster, and its report is a value. */
export async function playNight(repo: string, sources: readonly Source[], options: NightOptions = {}): Promise<Night> {
  const { wishes = {}, at = theNight, config: text = null, checkouts = checkoutsFrom({}), env = {} } = options;
  const config = parseConfig(text);
  const repository = await openRepository(repo, { env: { ...gitEnv, ...env } });
  const redactor = createRedactor(env);
  const redact = (words: string) => redactor.redact(words);
  const rollouts = redactedRollouts(openRollouts(sources, { include: [], checkouts, home: '/home/dana' }), redactor);
  const policy = nightPolicy(config, { all: true, now: true, since: 0, ...wishes });
  const report = await runNight(policy, {
    ...createEngine(config, repository, env, redact),
    repository,
    rollouts,
    notes: async () => options.notes ?? [],
    clock: fixedClock(parseIsoTime(at) ?? 0),
    redact,
    progress: ({ stage }) => options.meanwhile?.(stage),
  });
  return { report, repository };
}

/** The bundled sessions, or all recorded ones where `CTM_ROLLOUTS` names their folder. */
export const recorded = process.env.CTM_ROLLOUTS ?? samples;

export function recordedSources(folder = recorded): Source[] {
  return [
    { agent: 'codex', path: join(folder, 'codex') },
    { agent: 'claude-code', path: join(folder, 'claude-code') },
    { agent: 'claude-code', path: join(folder, 'claude-code-real') },
  ];
}

/** Branch and state, as oids; an empty string where a ref does not exist. */
export function tips(repo: string): { readonly branch: string; readonly state: string } {
  const oidOf = (ref: string) => git(repo, 'for-each-ref', '--format=%(objectname)', ref);
  return { branch: oidOf('refs/heads/main'), state: oidOf('refs/memory/state') };
}

/** The files of a commit's tree: path → text. */
export function filesAt(repo: string, commit: string, below = ''): Map<string, string> {
  const paths = git(repo, 'ls-tree', '-r', '-z', '--name-only', commit, ...(below === '' ? [] : ['--', below]));
  return new Map(
    paths.split('\0').flatMap((path) => (path === '' ? [] : [[path, git(repo, 'show', `${commit}:${path}`)]])),
  );
}
