import type { Oid } from '../shared/files.ts';
import { GitError } from './errors.ts';

/** Any failure that has to do with the other side. */
export class RemoteError extends GitError {}

/** No right to it: no credentials, wrong or expired ones, or ones that may not write. */
export class RemoteAuthError extends RemoteError {}

/** No answer, or none of a Git server: name resolution, refused, timeout, TLS, proxy, overload, a page for people. */
export class RemoteUnreachableError extends RemoteError {}

/** There is no such repository, or these credentials may not see it. */
export class RemoteNotFoundError extends RemoteError {}

interface Refused {
  readonly ref: string;
  readonly expected: Oid | null;
  /** What the server holds now; try again only where it differs from `expected`. */
  readonly actual: Oid | null;
}

/** The ref no longer held what was expected; nothing was sent. */
export class PushRejectedError extends RemoteError {
  readonly refused: Refused;

  constructor(url: string, refused: Refused) {
    super(
      `${refused.ref} has moved on ${url}: expected ${short(refused.expected)}, found ${short(refused.actual)}.`,
      'Fetch it and start again from what it holds now; nothing was pushed.',
    );
    this.refused = refused;
  }
}

/** The server refused the update: somebody was faster, a hook, or a protected ref. */
export class GitPushError extends RemoteError {
  readonly refused: Refused;
  /** What the server said, safe to show; perhaps empty. */
  readonly words: string;

  constructor(url: string, refused: Refused, words: string) {
    const moved = refused.actual !== refused.expected;
    super(
      `${url} refused ${refused.ref}${words === '' ? '' : `: ${words}`}.`.replace(/\.{2,9}$/, '.'),
      moved
        ? `It holds ${short(refused.actual)} now: fetch it and start again; nothing was pushed.`
        : 'It holds what it did before: a rule of the server (a hook, a protected ref) says no. Allow this token to push it.',
    );
    this.refused = refused;
    this.words = words;
  }
}

function short(oid: Oid | null): string {
  return oid === null ? 'no such ref' : oid.slice(0, 12);
}
