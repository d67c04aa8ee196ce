import type { EpochSeconds } from '../shared/clock.ts';
import type { Agent, Counts, Item, Rollout, Thread } from './types.ts';

/** What a session's own files say: no repository is known yet, and paths are as the agent wrote them. */
export interface Session {
  readonly id: string;
  readonly origin: string;
  readonly kind: Thread['kind'];
  readonly cwd: string | null;
  readonly branch: string | null;
  readonly commit: string | null;
  /** The origin's URL, where the agent records it. */
  readonly remote: string | null;
  readonly startedAt: EpochSeconds;
  /** Ids of the sessions whose records this one copied at its start. */
  readonly parents: readonly string[];
  readonly source: Rollout['source'];
  readonly skipped: Counts;
  /** `files` are absolute, or relative to `cwd`. */
  readonly items: readonly Item[];
  /** Short ids in injected memory that no item holds (`ItemList.injected`). */
  readonly injected?: readonly string[];
}

export type Reading =
  | { readonly outcome: 'session'; readonly session: Session }
  | { readonly outcome: 'ignored'; readonly reason: string };

export interface ReadOptions {
  /** The home folder of whoever runs this; other homes are recognised by their form. */
  readonly home: string;
  readonly signal?: AbortSignal;
}

/** Reads the sessions of one agent; a file is read to its end once, in bounded memory. */
export interface Reader {
  readonly agent: Agent;
  /** Whether the folder `<session>/` beside `<session>.jsonl` belongs to that session. */
  readonly sideFolders: boolean;
  /** How the names of files end that may hold a session: no other file below a folder is opened. */
  readonly endings: readonly string[];
  /**
   * The files that `read` looks into for a session's file beside it, whether they are there or not; in a fixed order.
   * @throws what the file system says.
   */
  filesBeside(path: string): Promise<readonly string[]>;
  /** @throws what the file system says; a file that is no session of this agent is an outcome. */
  read(path: string, options: ReadOptions): Promise<Reading>;
}

export function ignored(reason: string): Reading {
  return { outcome: 'ignored', reason };
}

export const noneBeside: Reader['filesBeside'] = () => Promise.resolve([]);
