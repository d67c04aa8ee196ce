import type { ItemNumber } from '../shared/evidence.ts';
import type { Scope } from '../workspace/layout.ts';

/** What the files alone do not say. */
export interface DeltaFacts {
  /** Whether the evidence is hidden in that scope. `thread` is the short id. */
  isTombstoned(thread: string, item: ItemNumber, scope: Scope): boolean;
  isPersonLine(scope: Scope, hash: string): boolean;
  /** Whether people took such a line out before. */
  wasRemoved?(scope: Scope, hash: string): boolean;
}

/** Why a line stands nowhere any more; the first two have a successor: the line was superseded, not forgotten. */
export type Gone = 'corrected' | 'merged' | 'tombstoned' | 'inputLeft' | 'unexplained';

/** Counts of one scope's bullets. */
export interface ScopeDelta extends Record<Gone, number> {
  readonly scope: Scope;
  learned: number;
  /** Those of them that people had taken out before: another session taught the same again. */
  relearned?: number;
  /** The same in other words. */
  changed: number;
  /** Stands under another heading, in another block or scope. */
  moved: number;
  /** Unchanged words, further evidence. */
  confirmed: number;
  /** Learned or changed lines with a quote that its session does not hold. */
  unverified: number;
  /** Lines of persons: still there, and no longer there. */
  readonly persons: { kept: number; gone: number };
  readonly skills: { added: number; changed: number; removed: number };
}

export function emptyScope(scope: Scope): ScopeDelta {
  return {
    scope,
    learned: 0,
    changed: 0,
    moved: 0,
    confirmed: 0,
    unverified: 0,
    corrected: 0,
    merged: 0,
    tombstoned: 0,
    inputLeft: 0,
    unexplained: 0,
    persons: { kept: 0, gone: 0 },
    skills: { added: 0, changed: 0, removed: 0 },
  };
}
