import type { EpochSeconds } from '../shared/clock.ts';
import type { Files, Oid } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import type { SessionWords } from './session-words.ts';
import type { WireUse } from './wire.ts';

/** What the report is made of, as values. */
export interface Facts {
  /** The full name of the memory's branch. */
  readonly branch: string;
  /** null: no state ref, the published copy was read. */
  readonly stateOid: Oid | null;
  readonly state: State;
  readonly memories: Files;
  readonly usage: UseFacts;
  /** Who waits and what failed. */
  readonly waiting: WaitingFacts;
  readonly words: SessionWords;
  readonly now: EpochSeconds;
}

/** Use of every session that is remembered or named, the most used first, and of every block of the handbook. */
export interface UseFacts {
  readonly windowDays: number;
  readonly threads: readonly (Use & { readonly threadId: string })[];
  readonly blocks: readonly (Use & { readonly line: number })[];
  readonly agents: readonly { readonly agent: string; readonly injected: number; readonly citing: number }[];
}

export interface Use {
  readonly retrieved: number;
  readonly injected: number;
  readonly read: number;
  readonly cited: number;
  readonly last: EpochSeconds | null;
}

export interface WaitingFacts {
  /** Sessions that the state knows, and those that no extraction has read yet. */
  readonly known: number;
  readonly unread: number;
  readonly failed: readonly {
    readonly threadId: string;
    readonly repo: string;
    readonly title: string;
    readonly error: string;
    readonly triedAgainAt: EpochSeconds | null;
    readonly retriesLeft: number;
  }[];
  readonly scopes: readonly {
    readonly scope: string;
    readonly selected: number;
    readonly waiting: number;
    readonly leaving: number;
    readonly consolidatedAt: EpochSeconds | null;
    readonly failures: number;
    readonly lastError: string | null;
  }[];
  readonly month: { readonly tokens: number; readonly usd: number; readonly usdPerMonth: number | null };
  readonly warnings: readonly string[];
}

export function wireUse(use: Use | undefined): WireUse {
  if (use === undefined) return { given: 0, found: 0, read: 0, cited: 0, last: null };
  return { given: use.injected, found: use.retrieved, read: use.read, cited: use.cited, last: use.last };
}
