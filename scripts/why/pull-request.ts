import type { CommitInfo } from '../git/types.ts';

/** A pull request (GitLab: merge request), and what says so. */
export interface PullRequest {
  readonly number: number;
  /** null where only its number is known. */
  readonly url: string | null;
  readonly from: 'merge' | 'squash' | 'record';
}

/** The number that a host wrote into a commit's message when the pull request was merged; null without one. */
export function pullRequestIn({ message, parents }: Pick<CommitInfo, 'message' | 'parents'>): PullRequest | null {
  const subject = message.split('\n', 1)[0] ?? '';
  for (const pattern of parents.length > 1 ? [...mergeForms, ...squashForms] : [...squashForms, ...mergeForms]) {
    const number = Number(pattern.exec(pattern.multiline ? message : subject)?.[1] ?? 0);
    if (number > 0) return { number, url: null, from: parents.length > 1 ? 'merge' : 'squash' };
  }
  return null;
}

// @source default messages of GitHub, Gitea and Forgejo, GitLab, Bitbucket
const mergeForms = [
  /^Merge pull request #(\d{1,9}) from /,
  /^Merge pull request '.{0,300}' \(#(\d{1,9})\)/,
  /^See merge request \S{0,300}!(\d{1,9})\r?$/m,
  /\(pull request #(\d{1,9})\)$/,
] as const;

const squashForms = [/\(#(\d{1,9})\)$/, /^Reviewed-on: \S{1,300}\/pulls\/(\d{1,9})\r?$/m] as const;
