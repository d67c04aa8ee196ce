import type { Oid } from '../shared/files.ts';
import type { RefUpdate } from './remote-types.ts';

/** What the git program and isomorphic-git do each in their own way; `remote-over.ts` does the rest once. */
export interface Transport {
  readonly name: 'git' | 'isomorphic';
  /** Every ref that may match; more is fine. */
  refs(prefixes: readonly string[], signal: AbortSignal | undefined): Promise<ReadonlyMap<string, Oid>>;
  /** `target` is the branch's full name where the server says it. */
  head(signal: AbortSignal | undefined): Promise<{ readonly oid: Oid; readonly target: string | null } | null>;
  /** Brings refs, which were listed just before, to their tracking refs. @throws FetchRaceError */
  fetch(refs: readonly WantedRef[], depth: number | null, signal: AbortSignal | undefined): Promise<void>;
  /** @returns null where the server said that it is done. */
  push(update: RefUpdate, signal: AbortSignal | undefined): Promise<Refusal | null>;
}

export interface WantedRef {
  readonly ref: string;
  /** What the server has said that it holds. */
  readonly oid: Oid;
  /** A commit of the same line that is here with all its files. */
  readonly known: Oid | null;
}

/** `stale`: the expectation did not hold, nothing was sent. `refused`: the server's answer, words safe to show. */
export type Refusal = { readonly why: 'stale' } | { readonly why: 'refused'; readonly words: string };

/** Something moved while it was fetched, here or there; the next try sees it. */
export class FetchRaceError extends Error {}
