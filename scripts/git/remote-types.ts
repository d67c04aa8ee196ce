import type { Oid } from '../shared/files.ts';
import type { Environment } from './program.ts';

/** What one ref on the server shall become. */
export interface RefUpdate {
  /** In full, such as `refs/memory/state`. */
  readonly ref: string;
  /** What it must hold on the server now; null: it must not exist. */
  readonly expected: Oid | null;
  /** What it holds afterwards, a commit of the local repository; null deletes it. */
  readonly next: Oid | null;
}

/** A copy of the repository elsewhere. Every failure is one of `remote-errors.ts`, or a GitError of the local part. */
export interface Remote {
  /** Without user, password and query. */
  readonly url: string;
  readonly backend: 'git' | 'isomorphic';
  /**
   * What the server says now, by name: every ref below a prefix that ends in a slash, and the very ref that a full
   * name is. Refs that this reader may not see are as if absent.
   */
  listRefs(prefixes: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, Oid>>;
  /**
   * Fetches refs with all their files to `trackingRef(ref)`, over no other local ref, and reads back that the commit
   * is there. null is the only answer that may lead to a create; it leaves an older tracking ref alone.
   * @param options.depth commits of history that must be there: 1 the commit alone, null all; without it whatever is
   * new. History that the clone has is never cut off; a branch of a complete clone always comes as a whole.
   */
  fetch(
    refs: readonly string[],
    options?: { readonly depth?: number | null; readonly signal?: AbortSignal },
  ): Promise<ReadonlyMap<string, Oid | null>>;
  /**
   * Compare-and-swap on the server, one update after the other: the first that fails ends it, those before it stand.
   * One whose ref already is `next` has succeeded.
   * @throws PushRejectedError, GitPushError, both with what the ref holds now.
   */
  push(updates: readonly RefUpdate[], signal?: AbortSignal): Promise<void>;
  /** The default branch (`main`) and its commit; null where the server has none, as an empty one. */
  head(signal?: AbortSignal): Promise<{ readonly branch: string; readonly oid: Oid } | null>;
}

/** Which remote: an address, perhaps with user and password in it, or the name of one of the clone's remotes. */
export type RemoteAddress = { readonly url: string } | { readonly name: string };

export type RemoteOptions = RemoteAddress & {
  /** For http(s): sent to the address's own host only, and never shown. Without one the user's Git settings apply. */
  readonly token?: string | undefined;
  /** Where the git program is, whose settings it reads, and the proxy variables. */
  readonly env: Environment;
  /** `auto`: the git program where it is installed and new enough, else isomorphic-git for http(s). */
  readonly backend?: 'auto' | 'git' | 'isomorphic';
  /** Seconds without a byte after which a connection is given up. */
  readonly stallSeconds?: number;
};

/** Where a fetched ref is kept: `refs/heads/main` as `refs/memory/remote/heads/main`. */
export function trackingRef(ref: string): string {
  return `refs/memory/remote/${ref.slice('refs/'.length)}`;
}
