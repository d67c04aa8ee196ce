import type { Delta } from './delta.ts';
import type { Links } from './links.ts';

/** Everything a pull request tells; no words of the memory, only names, counts and paths. */
export interface Proposal {
  readonly runId: string;
  /** Nights that this pull request holds. */
  readonly nights: number;
  /** Sessions that were read in these nights. */
  readonly sessions: number;
  readonly delta: Delta;
  readonly scopes: ReadonlyMap<string, ScopeNotes>;
  /** Rule → secrets removed before anything was stored. */
  readonly secrets: Readonly<Record<string, number>>;
  readonly usage: Spent;
  readonly next: NextNight;
  /** null where the host has no addresses. */
  readonly links: Links | null;
}

export interface ScopeNotes {
  /** Lines of persons that the agent had lost and that were put back. */
  readonly restored: number;
  /** Rule → blocks and files that were not accepted. */
  readonly leftOut: Readonly<Record<string, number>>;
}

export interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Millionths of a dollar; null where a model has no configured price. */
  readonly microUsd: number | null;
}

export interface NextNight {
  /** Sessions that wait. */
  readonly waiting: number;
  /** Sessions that failed and are tried again. */
  readonly failed: number;
  /** Scopes that rest until a session arrives that a closed pull request did not have. */
  readonly held: readonly string[];
}
