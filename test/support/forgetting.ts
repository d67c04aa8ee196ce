import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { forgetCommand, forgetSpec } from '../../scripts/forget/command.ts';
import { type Ended, ranHere } from './nights.ts';
import { env, git } from './repository.ts';
import { botToken } from './team.ts';

export const shop = 'git.example.test/acme/shop';

/** `npm run forget -- --repo <clone> …` inside this process. */
export function forgets(
  clone: string,
  args: readonly string[],
  at = '2026-11-24T10:00:00Z',
  more: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return ranHere(forgetSpec, forgetCommand, ['--repo', clone, ...args], {
    CTM_CLOCK: at,
    TEAM_TOKEN: botToken,
    CTM_HOME: laptopOf(clone),
    ...more,
  });
}

/** Where the tests' laptop keeps its notes. */
export function laptopOf(clone: string): string {
  return join(clone, '../laptop');
}

export interface Told {
  readonly outcome: string;
  readonly leftovers: readonly {
    readonly ref: string;
    readonly remote: boolean;
    readonly path: string | null;
    readonly form: string;
    readonly commits: number;
  }[];
  readonly steps: readonly { readonly why: string; readonly commands: readonly string[] }[];
  readonly gone: readonly { readonly surface: string; readonly what: string }[];
  readonly reach: readonly { readonly surface: string; readonly what: string }[];
  readonly pullRequest: { readonly number: number } | null;
}

export function toldBy(ended: Ended): Told {
  return JSON.parse(ended.stdout) as Told;
}

/**
 * Runs the printed commands of some steps in a shell, as a person would.
 * @param dir the folder behind the address: a server in this process cannot answer while it waits for the shell.
 */
export function obey(clone: string, steps: Told['steps'], url = 'none', dir = 'none'): void {
  const settings = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: `url.${dir}.insteadOf`, GIT_CONFIG_VALUE_0: url };
  for (const { commands } of steps)
    execFileSync('sh', ['-e', '-c', commands.join('\n')], {
      cwd: clone,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...env, ...person, ...settings },
      timeout: 120_000,
    });
}

const person = {
  HOME: '/nowhere',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
};

/** Every object that a ref of the repository reaches, by the git program: what an outsider would look through. */
export function reachable(dir: string): string {
  const oids = git(dir, 'rev-list', '--objects', '--no-object-names', '--all').split('\n').filter(Boolean);
  return execFileSync('git', ['cat-file', '--batch'], {
    cwd: dir,
    input: `${oids.join('\n')}\n`,
    encoding: 'utf8',
    maxBuffer: 1024 ** 3,
  });
}

/** The words in each form that they may take in a file. */
export function formsOf(words: string): Readonly<Record<string, string>> {
  return {
    plain: words,
    json: JSON.stringify(words).slice(1, -1),
    url: encodeURIComponent(words),
    base64: Buffer.from(`It says ${words}, which nobody should read.`).toString('base64'),
  };
}
