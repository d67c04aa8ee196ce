import type { Oid } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { GitError } from './errors.ts';

/** A full ref name (`refs/heads/main`) by Git's rules. @throws GitError for anything else. */
export function checkedRef(ref: string): string {
  const wrong =
    !ref.startsWith('refs/') ||
    pathFault(ref) !== null ||
    /[ ~^:?*[\\]|\.\.|@\{|\/$/.test(ref) ||
    ref.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock') || part.endsWith('.')) ||
    ref.split('/').length < 3;
  if (wrong)
    throw new GitError(
      `${JSON.stringify(ref.slice(0, 200))} is no name for a ref.`,
      'Write it in full, such as refs/heads/main.',
    );
  return ref;
}

/** @throws GitError for text that is no full object id. */
export function checkedOid(oid: Oid): Oid {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(oid))
    throw new GitError(`${JSON.stringify(String(oid).slice(0, 80))} is no object id.`, 'Give all its digits.');
  return oid;
}

/** What a lock file that is in the way means. */
export function lockError(lock: string, since: string | null): GitError {
  return new GitError(
    `${lock} is in the way${since === null ? '' : ` (since ${since})`}: another program is writing there, or one was killed.`,
    `Wait for it. If no git program runs here, remove the file: rm '${lock}'`,
  );
}
