import type { Wait } from '../model/retry.ts';
import type { Draft, ForgeKind, PullRequest, RepositoryFacts } from './forge.ts';

/** One host's interface, request by request; the rules of `create-forge.ts` stand on it. Rejects with ForgeError. */
export interface Host {
  readonly kind: ForgeKind;
  readonly host: string;
  whoAmI(): Promise<string>;
  repository(): Promise<RepositoryFacts>;
  /** null where there is no such number. */
  get(number: number): Promise<PullRequest | null>;
  /** Every open one from a branch of that name, forks' too, the oldest first. */
  listOpen(headBranch: string): Promise<readonly PullRequest[]>;
  /** The newest that have ended, from a branch of that name, forks' too, the newest first. */
  listEnded(headBranch: string): Promise<readonly PullRequest[]>;
  create(draft: Draft): Promise<PullRequest>;
  update(pull: PullRequest, fields: { title?: string; body?: string; base?: string }): Promise<PullRequest>;
  /** Adds labels to it; the host makes missing ones where the token may. */
  addLabels(pull: PullRequest, labels: readonly string[]): Promise<void>;
  askReviewers(pull: PullRequest, reviewers: readonly string[]): Promise<void>;
  /** Makes a label that people can choose; one that exists is fine. */
  offerLabel(name: string, description: string): Promise<void>;
  /** Waits, in seconds. */
  wait(seconds: number): Promise<void>;
}

/** How a host is reached. */
export interface Connection {
  readonly apiUrl: string;
  readonly token: string;
  readonly fetch?: typeof fetch;
  readonly wait?: Wait;
  /** Seconds that one request may take in all: 30. */
  readonly timeoutSeconds?: number;
  readonly signal?: AbortSignal;
}
