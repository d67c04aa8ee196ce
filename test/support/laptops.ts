import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { authorOf } from '../../scripts/collect/author.ts';
import { collectCommand } from '../../scripts/collect/command.ts';
import { type Agreement, type Consent, formatConsent } from '../../scripts/collect/consent.ts';
import { destinationOf, memoryOf } from '../../scripts/collect/destination.ts';
import { collectSpec } from '../../scripts/collect/flags.ts';
import type { Exposure } from '../../scripts/collect/host.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { openRemote } from '../../scripts/git/remote.ts';
import { userEmail } from '../../scripts/git/user-email.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { clockFrom } from '../../scripts/shared/clock.ts';
import { MemoryError } from '../../scripts/shared/errors.ts';
import { parseFlags } from '../../scripts/shared/flags.ts';
import { createLog } from '../../scripts/shared/log.ts';
import { type CodexSession, codexText } from './codex-session.ts';
import { git, env as gitEnv, temporaryFolder, writeFiles } from './repository.ts';
import { samples } from './sessions.ts';

/** The repository that the team's sessions of these tests belong to. */
export const app = 'git.example.test/acme/app';
export const appUrl = 'git@git.example.test:acme/app.git';
export const today = '2026-11-30T08:00:00Z';
const root = join(samples, '../../..');

/** A bare memory repository whose configuration includes `app`. */
export function aTeam(t: TestContext, config = `version: 1\ninclude: [${app}]\n`): string {
  const dir = temporaryFolder(t);
  const seed = join(dir, 'seed');
  writeFiles(seed, { '.github/memory.yml': config, 'README.md': 'The team’s memory.\n' });
  git(seed, 'init', '--quiet', '--initial-branch=main');
  git(seed, 'add', '--all');
  git(seed, 'commit', '--quiet', '--message', 'Start');
  git(dir, 'clone', '--quiet', '--bare', seed, 'memory.git');
  return join(dir, 'memory.git');
}

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TestLaptop {
  readonly home: string;
  readonly clone: string;
  readonly team: string;
  readonly env: Readonly<Record<string, string>>;
  /** Writes, or writes anew, a session of Codex. @returns its file. */
  codex(session: CodexSession): string;
  /** Copies recorded sessions of Claude Code. */
  claude(...names: readonly string[]): void;
  allow(agreement: Partial<Agreement>, consent?: Partial<Consent>): void;
  /** Runs the command in this process, with everything real but the terminal. */
  collect(args?: readonly string[], more?: { readonly at?: string; readonly exposure?: Exposure }): Promise<Ended>;
  /** Runs it as a process of its own. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

/**
 * A machine with a clone of the team's memory that agreed to send sessions of `app`.
 * @param from where to clone from: what this process serves itself cannot answer while it waits for the clone.
 */
export function aLaptop(t: TestContext, team: string, from = team): TestLaptop {
  const home = temporaryFolder(t);
  git(home, 'clone', '--quiet', from, 'memory');
  git(join(home, 'memory'), 'remote', 'set-url', 'origin', team);
  const laptop = laptopAt(home, team);
  laptop.allow({});
  return laptop;
}

/** The same machine, in another process. */
export function laptopAt(home: string, team: string): TestLaptop {
  const clone = join(home, 'memory');
  const env = {
    PATH: gitEnv.PATH ?? '',
    HOME: home,
    CTM_HOME: join(home, 'ctm'),
    CTM_CLOCK: today,
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const laptop: TestLaptop = {
    home,
    clone,
    team,
    env,
    codex(session) {
      const day = (session.at ?? '2026-11-29T10:00:00Z').slice(0, 10).replace(/-/g, '/');
      const path = join('.codex/sessions', day, `rollout-${session.id}.jsonl`);
      writeFiles(home, { [path]: codexText({ remote: appUrl, ...session }) });
      return join(home, path);
    },
    claude(...names) {
      for (const name of names) {
        const from = join(samples, 'claude-code', name);
        cpSync(from, join(home, '.claude/projects', name), { recursive: true });
      }
    },
    allow(agreement, consent) {
      const memory = {
        memory: memoryOf(team, clone),
        include: [app],
        allowPublic: false,
        isPrivate: false,
        ...agreement,
      };
      const salt = '0123456789abcdef'.repeat(2);
      writeFiles(env.CTM_HOME, {
        'collect.yml': formatConsent({ salt, author: null, optOut: [], agreements: [memory], ...consent }),
      });
    },
    collect: (args = [], more = {}) => collectHere(laptop, args, more),
    run: (args, more = {}) =>
      new Promise((done) => {
        const script = join(root, 'scripts/collect.ts');
        const all = ['--import', 'tsx', script, ...args];
        execFile(process.execPath, all, { cwd: root, env: { ...env, ...more } }, (error, stdout, stderr) =>
          done({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr }),
        );
      }),
  };
  return laptop;
}

async function collectHere(
  { home, clone, env }: TestLaptop,
  args: readonly string[],
  { at = today, exposure = { kind: 'here' } }: { readonly at?: string; readonly exposure?: Exposure },
): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const log = createLog({ write: (text) => out.push(text) }, { write: (text) => err.push(text) }, {});
  const ended = (code: number): Ended => ({ code, stdout: out.join(''), stderr: err.join('') });
  try {
    const repository = await openRepository(clone, { env });
    const config = await loadConfig(repository);
    const { memory, url } = await destinationOf(repository, config.rollouts.remote);
    const remote = url === null ? null : await openRemote(repository, { url, env });
    const world = {
      flags: parseFlags(collectSpec, args),
      env,
      cwd: home,
      home,
      log,
      ask: null,
      streams: () => ({ input: new PassThrough(), output: new PassThrough() }),
      clock: clockFrom({ CTM_CLOCK: at }),
      signal: new AbortController().signal,
      self: { token: 'one', host: 'here', pid: process.pid, isAlive: () => true, program: process.execPath, args: [] },
      peakMemory: () => 0,
      cpuTime: () => 0,
    };
    const mailmap = join(clone, '.mailmap');
    const code = await collectCommand(world, {
      config,
      memory,
      archive: { repository, ref: config.rollouts.ref, remote },
      exposure: () => Promise.resolve(exposure),
      author: async ({ author, salt }) =>
        authorOf({
          chosen: author,
          email: await userEmail(clone, home, env),
          mailmap: existsSync(mailmap) ? readFileSync(mailmap, 'utf8') : '',
          people: config.people,
          salt,
        }),
    });
    return ended(code);
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    log.error(error.message);
    log.info(`  ${error.hint}`);
    return ended(error.exitCode);
  }
}

/** Paths of the ref in the team's repository. */
export function inRef(team: string, ref = archiveRef): string[] {
  return git(team, 'for-each-ref', '--format=%(refname)', ref) === ''
    ? []
    : git(team, 'ls-tree', '-r', '--name-only', ref).split('\n').filter(Boolean);
}

/** Thread ids in the ref, as often as they stand there. */
export function threadsIn(team: string): string[] {
  return inRef(team).flatMap((path) => /([^/]+)\.jsonl$/.exec(path)?.[1] ?? []);
}

export function textIn(team: string, thread: string): string {
  const path = inRef(team).find((one) => one.endsWith(`/${thread}.jsonl`));
  return git(team, 'show', `${archiveRef}:${path}`);
}

/** Every object of a repository, reachable or not, as one text. */
export function everyObject(dir: string): string {
  const list = git(dir, 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype) %(objectname)').split('\n');
  return list.map((line) => git(dir, 'cat-file', ...(line.split(' ') as [string, string]))).join('\n');
}

/** As if the file had last been written then. */
export function touch(path: string, at: string): void {
  utimesSync(path, new Date(at), new Date(at));
}
