import type { Oid } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';

export type ForgeKind = 'github' | 'gitlab';

/** A pull request, or with GitLab's word a merge request, as far as a night needs it. */
export interface PullRequest {
  readonly number: number;
  /** For people; '' where the host sent none that is fit to be shown. */
  readonly url: string;
  readonly state: 'open' | 'closed' | 'merged';
  /** The commit that a merge, squash or rebase left on the base branch; null unless merged. */
  readonly mergeOid: Oid | null;
  readonly title: string;
  /** `bodyHash` of the description. */
  readonly bodyHash: string;
  readonly labels: readonly string[];
  readonly draft: boolean;
  readonly headOid: Oid | null;
  readonly headBranch: string;
  /** Whether its branch stands in the repository itself, not in a fork. */
  readonly isFromHere: boolean;
  readonly base: string;
  readonly author: string;
}

export interface RepositoryFacts {
  /** `owner/name`, or GitLab's path, as the host spells it today. */
  readonly name: string;
  readonly url: string;
  readonly visibility: 'public' | 'internal' | 'private';
  readonly isFork: boolean;
  readonly defaultBranch: string;
  readonly isArchived: boolean;
  /** null where the host does not tell this token. */
  readonly mayPush: boolean | null;
  readonly mayOpenPullRequests: boolean | null;
}

export interface Query {
  /** The number that the state recorded. */
  readonly number: number | null;
  readonly headBranch: string;
  readonly base: string;
  /** Where no number is recorded: tips with which one of ours may have ended before anybody noted it. */
  readonly tips?: readonly Oid[];
}

export interface Found {
  /**
   * What the recorded number names, whatever its state; null where it names none from this branch. Without a number the
   * newest of ours that ended with one of the tips, if none is open.
   */
  readonly recorded: PullRequest | null;
  /** The one open pull request that is ours. */
  readonly open: PullRequest | null;
}

/** What a pull request says. */
export interface Wording {
  readonly title: string;
  readonly body: string;
  readonly base: string;
  /** Those that are missing are added; others stay. */
  readonly labels: readonly string[];
}

export interface Draft extends Wording {
  readonly headBranch: string;
  readonly draft: boolean;
  /** User names; GitHub also `organization/team`. */
  readonly reviewers: readonly string[];
}

export interface Outcome {
  readonly pullRequest: PullRequest;
  /** Whether anything was written. */
  readonly changed: boolean;
  /** What was refused without harm: labels, reviewers, draft mode. */
  readonly warnings: readonly string[];
}

/** Where a team reviews. Every method rejects with ForgeError only, retries spent. */
export interface Forge {
  readonly kind: ForgeKind;
  /** In lower case, with its port where that is not the usual one. */
  readonly host: string;
  /** The token's own login, such as `github-actions[bot]`. */
  whoAmI(): Promise<string>;
  repository(): Promise<RepositoryFacts>;
  /**
   * Ours is what the recorded number names if it comes from this repository's branch; else, of the open ones from this
   * repository's branch, one that this token's login opened. A branch's name alone makes nothing ours.
   */
  find(query: Query): Promise<Found>;
  /**
   * Opens one. Where ours is open already, as after a death in the middle, that one gets the words, labels and
   * reviewers instead.
   */
  open(draft: Draft): Promise<Outcome>;
  /** Gives an open one these words, if they differ; one that is closed or merged is left alone. */
  refresh(number: number, wording: Wording): Promise<Outcome>;
}

/** A closed pull request with it: its evidence is never used again. */
export const rejectLabel = 'memory:reject';

/** Equal descriptions have equal hashes, whatever line ends the host gives them back with. */
export function bodyHash(body: string): string {
  return sha256(body.replace(/\r\n?/g, '\n').trimEnd());
}
