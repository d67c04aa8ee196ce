/**
 * What the page's script reads out of the page: compact, since two thousand memories go into one file. Times are epoch
 * seconds, other things are named by their place in an array. This file imports nothing: it is of Node and of the browser.
 */

/** Figures of use within the window. */
export interface WireUse {
  /** Sessions that were given it, in which a search found it, that read it. */
  readonly given: number;
  readonly found: number;
  readonly read: number;
  /** One a person and day. */
  readonly cited: number;
  readonly last: number | null;
}

/** What a line's evidence makes of it: a person said so, a tool's output shows it, an agent says so, a person's own line. */
export type Authority = 'human' | 'observed' | 'agent' | 'none';

export interface WireLine {
  readonly text: string;
  /** Of `MEMORY.md`, from 1. */
  readonly line: number;
  readonly section: 'preferences' | 'knowledge' | 'failures' | 'note';
  readonly authority: Authority;
  /** Session's place, or the short id of one that is not known any more; its item numbers. */
  readonly evidence: readonly (readonly [number | string, readonly string[]])[];
}

export interface WireTopic {
  readonly title: string;
  readonly line: number;
  /** Folder and rule of reuse, as the block says. */
  readonly cwd: string;
  readonly reuse: string;
  readonly keywords: readonly string[];
  readonly use: WireUse;
  readonly lines: readonly WireLine[];
}

export interface WireRepository {
  /** Its id; `*`: what holds everywhere; '': sections of people without one. */
  readonly id: string;
  readonly topics: readonly WireTopic[];
  readonly skills: readonly { readonly name: string; readonly description: string }[];
}

export interface WireSession {
  readonly id: string;
  readonly shortId: string;
  readonly title: string;
  readonly repo: string;
  readonly agent: string;
  readonly author: string | null;
  readonly at: number;
  readonly use: WireUse;
  /** Whether a line of the handbook stands on it. */
  readonly named: boolean;
}

export interface WireIndex {
  readonly windowDays: number;
  readonly repositories: readonly WireRepository[];
  /** The most used first. */
  readonly sessions: readonly WireSession[];
}

/** Where the words of an item are from: the session itself, what was extracted of it, or nowhere any more. */
export type WordsFrom = 'session' | 'extract' | 'forgotten' | 'gone';

export interface WireItem {
  readonly n: string;
  /** Who said it; '' where that is not known. */
  readonly who: string;
  readonly at: number | null;
  readonly text: string;
  readonly from: WordsFrom;
}

/** Of one session, in the order of the index. */
export interface WireWords {
  readonly items: readonly WireItem[];
  readonly summary: string;
}
