import type { Scope } from './layout.ts';
import type { Session } from './said.ts';

/** A rule that memory files break. */
export interface Violation {
  /** Such as `bullet.evidence`. */
  readonly rule: string;
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** A sentence for the agent or person who wrote it. */
  readonly message: string;
  /** Title of the handbook block; null outside blocks. */
  readonly block: string | null;
  /** A warning is told and refuses nothing. */
  readonly severity: 'error' | 'warning';
}

/** What is known of an item that evidence names. */
export interface ItemFact {
  readonly who: 'human' | 'assistant' | 'commentary' | 'other_agent' | 'harness' | 'tool';
  /** Repository id of its thread. */
  readonly repo: string;
  /** It is a note or a resource of an extension, which no summary stands for. */
  readonly isNote?: boolean;
}

/** What the rules ask about things outside the files. */
export interface RuleContext {
  /** The scope whose projection the files are; null where they are the whole tree. */
  readonly scope: Scope | null;
  readonly audience: 'team' | 'person';
  /** Whether a person wrote or pinned the line (`lineHash`) in that scope. */
  isPersonLine(scope: Scope, hash: string): boolean;
  /** null where no such item is known. `thread` is the short id. */
  evidenceOf(thread: string, item: string): ItemFact | null;
  /** What is at hand of a session's words, by short id; absent where nobody is to look. */
  readonly sessionOf?: (thread: string) => Session | null;
}

/** Where violations of one part are reported. */
export interface Spot {
  readonly path: string;
  readonly block: string | null;
}

export function error(spot: Spot, line: number, rule: string, message: string): Violation {
  return { rule, path: spot.path, line, message, block: spot.block, severity: 'error' };
}

export function warning(spot: Spot, line: number, rule: string, message: string): Violation {
  return { rule, path: spot.path, line, message, block: spot.block, severity: 'warning' };
}
