import { withoutEvidence } from '../../shared/evidence.ts';
import type { Scope } from '../../workspace/layout.ts';

/** The least that a ranked search answers with: a bullet or a task of the handbook, a task of a summary, a paragraph. */
export interface Passage {
  /** Relative to `memories/`. */
  readonly path: string;
  /** Lines, counted from 0; `to` is the last. */
  readonly from: number;
  readonly to: number;
  readonly scope: Scope | null;
  readonly body: string;
  /** What it stands under. */
  readonly title: string;
  readonly keywords: string;
  /** Repository without its host, folder. */
  readonly appliesTo: string;
  /** How much it is worth beside others that hold the same words: what a person said counts most. */
  readonly worth: number;
}

/** What people said, what went wrong, what works, and what only leads to where it is told. */
export const worth = { preference: 1.3, failure: 1.1, usual: 1, record: 0.8, pointer: 0.7 } as const;

/** Where a passage applies, to be searched for. */
export function placeOf(repo: string, cwd: string): string {
  return `${repo.slice(repo.indexOf('/') + 1)} ${cwd}`;
}

/** A source's words, without its marker and evidence, in one line. */
export function plain(text: string): string {
  return withoutEvidence(text.replace(/^[ \t]*[-*+][ \t]+/, '').replace(/\s*\n\s*/g, ' ')).trim();
}
