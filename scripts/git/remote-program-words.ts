import { explain } from './errors.ts';
import { authError, notFoundError, unreachableError } from './remote-failures.ts';
import type { Refusal } from './remote-transport.ts';

/**
 * What the git program's words about a failed command mean. It speaks English, since LC_ALL is C.
 * @param words the same, safe to show.
 */
export function failureOf(url: string, stderr: string, words: string): Error {
  const own = stderr.replace(/^remote: .{0,4000}$/gm, '');
  if (denied.test(stderr)) return authError(url, words);
  if (absent.test(stderr)) return notFoundError(url, words);
  if (local.test(own)) return explain(`git could not work with ${url}`, new Error(words));
  return unreachableError(url, words);
}

/** Whether a fetch met something that moved while it ran. */
export function isRace(stderr: string): boolean {
  return races.test(stderr);
}

/** A redirect that git was told not to follow, as it would take the token along. */
export function isRedirect(stderr: string): boolean {
  return /returned error: 30[1278]\b/.test(stderr);
}

/** The line about one ref in what `git push --porcelain` prints; null where the server never came to it. */
export function refusalIn(
  stdout: string,
  ref: string,
  hookLines: string,
  words: (text: string) => string,
): Refusal | null {
  const line = stdout.split('\n').find((text) => text.startsWith('!\t') && text.split('\t')[1]?.endsWith(`:${ref}`));
  const found = /\[(rejected|remote rejected|remote failure)\] \((.{0,1000})\)$/.exec(line ?? '');
  if (found === null) return null;
  if (found[1] === 'rejected') return { why: 'stale' };
  return { why: 'refused', words: words([found[2], hookLines].join('\n')) };
}

/** The lines that the server sent along, as hooks write them. */
export function remoteLines(stderr: string): string {
  return stderr
    .slice(0, 65_536)
    .split('\n')
    .filter((line) => line.startsWith('remote: '))
    .map((line) => line.slice('remote: '.length).trim())
    .filter((line) => !/^error: (?:hook|cannot lock|failed to)/.test(line))
    .join('\n');
}

const races =
  /couldn't find remote ref|not our ref|unadvertised object|cannot lock ref|unable to update local ref|unable to (?:create|lock) [^\n]{0,4096}\.lock|shallow file has changed|File exists/i;
const denied =
  /returned error: (?:401|403)|Authentication failed|could not read (?:Username|Password)|terminal prompts disabled|Permission denied \(|Invalid username or|access denied|not granted/i;
const absent =
  /returned error: (?:404|410)|repository (?:'[^'\n]{0,4096}' )?(?:does not exist|not found)|does not appear to be a git repository/i;
const local =
  /No space left|quota exceeded|Read-only file system|Permission denied|insufficient permission|dubious ownership|unable to write|bad object|missing (?:blob|tree|commit)/i;
