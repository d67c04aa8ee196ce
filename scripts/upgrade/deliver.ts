import type { Remote } from '../git/remote-types.ts';
import type { Repository, Signature } from '../git/types.ts';
import type { Forge, Outcome } from '../publish/forge.ts';
import { MemoryError } from '../shared/errors.ts';
import { commitText } from '../shared/escape.ts';
import type { Oid } from '../shared/files.ts';
import type { Prepared } from './prepare.ts';
import type { Version } from './template.ts';

/** Where an upgrade is proposed. */
export const upgradeRef = 'refs/heads/memory/upgrade';

const subjectStart = 'Upgrade to ';

/**
 * One commit on top of `base`, without a checkout. Its time is the template's, so that the same upgrade is the same
 * commit.
 */
export async function writeUpgrade(
  repository: Repository,
  base: Oid,
  { changes, executable, plan }: Prepared,
  {
    versions,
    author,
    at,
  }: {
    readonly versions: { readonly base: Version; readonly target: Version };
    readonly author: Signature;
    readonly at: number;
  },
): Promise<Oid> {
  const subject = commitText(`${subjectStart}${versions.target.name}`);
  const counts = `${changes.size} files from ${versions.base.name}, ${plan.conflicts.length} conflicts left as they are`;
  const message = `${subject}\n\n${commitText(counts)}\n`;
  return repository.writeCommit({ base, parents: [base], changes, executable, message, author, at });
}

/** On a new local branch. @throws MemoryError where there is one already. */
export async function deliverHere(repository: Repository, commit: Oid): Promise<void> {
  const standing = await repository.readRef(upgradeRef);
  if (standing === commit) return;
  if (standing !== null)
    throw new MemoryError(
      'There is a branch memory/upgrade already.',
      'Merge it, or delete it, then run it again: git branch -D memory/upgrade',
    );
  await repository.swapRef(upgradeRef, null, commit);
}

export interface Request {
  readonly title: string;
  readonly body: string;
  readonly base: string;
  readonly labels: readonly string[];
  readonly reviewers: readonly string[];
  readonly draft: boolean;
}

/**
 * On the remote's branch, and as a pull request where the host has such. An upgrade of ours that waits there is
 * replaced.
 * @throws MemoryError where a person has worked on that branch.
 */
export async function deliverThere(
  repository: Repository,
  remote: Remote,
  forge: Forge | null,
  { commit, author, request }: { readonly commit: Oid; readonly author: Signature; readonly request: Request },
  signal: AbortSignal,
): Promise<Outcome | null> {
  const standing = (await remote.fetch([upgradeRef], { signal })).get(upgradeRef) ?? null;
  if (standing !== null && !(await isOurs(repository, standing, author)))
    throw new MemoryError(
      'Somebody has worked on the branch memory/upgrade, and nothing of theirs is overwritten.',
      'Merge it, or delete it, then run it again: git push origin :memory/upgrade',
    );
  await remote.push([{ ref: upgradeRef, expected: standing, next: commit }], signal);
  return forge === null ? null : forge.open({ ...request, headBranch: 'memory/upgrade' });
}

async function isOurs(repository: Repository, tip: Oid, author: Signature): Promise<boolean> {
  const { message, author: by } = await repository.readCommit(tip);
  return by.email === author.email && message.startsWith(subjectStart);
}
