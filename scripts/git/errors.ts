import { MemoryError, messageOf } from '../shared/errors.ts';
import type { Oid } from '../shared/files.ts';

/** A repository is not as it must be, or refused; the branch is as it was. */
export class GitError extends MemoryError {}

/** A ref no longer held what the writer had read: somebody else was faster. */
export class RefMovedError extends GitError {
  readonly ref: string;
  readonly expected: Oid | null;
  readonly actual: Oid | null;

  constructor(ref: string, expected: Oid | null, actual: Oid | null) {
    super(
      `${ref} moved meanwhile: expected ${expected ?? 'no such ref'}, found ${actual ?? 'none'}.`,
      'Start again from what it holds now; nothing was changed.',
    );
    this.ref = ref;
    this.expected = expected;
    this.actual = actual;
  }
}

/** The branch has moved, a file in the working tree has not. */
export function overwriteError(path: string, to: Oid): GitError {
  return new GitError(
    `${path} was edited or is untracked, so the working tree was left as it is; the branch is at ${to.slice(0, 12)}.`,
    `Put your version aside, then: git restore --source=${to.slice(0, 12)} --staged --worktree -- '${path}'`,
  );
}

/** What a failed file operation or a Git program's message means for a person. */
export function explain(action: string, thrown: unknown): MemoryError {
  if (thrown instanceof MemoryError) return thrown;
  const text = messageOf(thrown).trim();
  const cause = causes.find(([pattern]) => pattern.test(text));
  const message = `${action}: ${cause?.[1] ?? (text.slice(0, 500) || 'no reason was given')}.`;
  return new GitError(message.replace(/\.+$/, '.'), cause?.[2] ?? 'Look at the repository with: git status', {
    cause: thrown,
  });
}

const causes: readonly (readonly [RegExp, string, string])[] = [
  [
    /ENOSPC|EDQUOT|No space left on device|Disk quota exceeded/i,
    'the disk is full',
    'Free some space and run it again.',
  ],
  [/EROFS|Read-only file system/i, 'the file system is read-only', 'Mount it for writing or work in another clone.'],
  [
    /EACCES|EPERM|Permission denied|insufficient permission/i,
    'this user may not write there',
    'Run it as the owner of the repository.',
  ],
  [
    /dubious ownership/,
    'the repository belongs to another user',
    'Run it as its owner, or allow it: git config --global --add safe.directory <folder>',
  ],
  [
    /unknown repository extension|Expected git repo version/i,
    'the repository uses a format that the installed git does not know',
    'Install a newer git (2.45 knows every format of today).',
  ],
];
