import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What has an end, as a test does, and what is to be done then. */
export interface Ending {
  after(work: () => unknown): void;
}

/** A temporary folder that is removed after the test. */
export function temporaryFolder(t: Ending): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'memory-test-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The git program with nobody's settings and a fixed person and time. @returns its output without the last LF. */
export function git(dir: string, ...args: string[]): string {
  return execFileSync('git', args, {
    cwd: dir,
    env: gitEnv,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trimEnd();
}

/** Where the git program is found, as an entry script would pass it on. */
export const env = { PATH: process.env.PATH };

/** Writes files below a folder, with the folders on the way. */
export function writeFiles(dir: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
}

/** A repository on `main` in a temporary folder, with one commit where there are files. */
export function aRepository(
  t: Ending,
  files: Readonly<Record<string, string | Buffer>> = {},
  init: readonly string[] = [],
): string {
  const dir = temporaryFolder(t);
  git(dir, 'init', '--quiet', '--initial-branch=main', ...init);
  if (Object.keys(files).length > 0) {
    writeFiles(dir, files);
    commitAll(dir, 'Start');
  }
  return dir;
}

/** One for the tests of a whole file, removed when its process ends. */
export function scratchRepository(...init: readonly string[]): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'memory-test-')));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  git(dir, 'init', '--quiet', '--initial-branch=main', ...init);
  return dir;
}

/** Commits everything in the working tree. @returns the commit's oid. */
export function commitAll(dir: string, message: string): string {
  git(dir, 'add', '--all');
  git(dir, 'commit', '--quiet', '--message', message);
  return git(dir, 'rev-parse', 'HEAD');
}

const gitEnv = {
  PATH: process.env.PATH,
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'maintenance.auto',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_AUTHOR_NAME: 'A Person',
  GIT_AUTHOR_EMAIL: 'person@example.org',
  GIT_AUTHOR_DATE: '1767225600 +0100',
  GIT_COMMITTER_NAME: 'A Person',
  GIT_COMMITTER_EMAIL: 'person@example.org',
  GIT_COMMITTER_DATE: '1767225600 +0100',
};
