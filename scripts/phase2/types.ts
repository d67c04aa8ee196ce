import type { Usage } from '../model/types.ts';
import type { Files } from '../shared/files.ts';
import type { ExtractorClass } from '../state/types.ts';

/** What one consolidation of one scope is given. */
export interface ConsolidationTask {
  /** A repository id, or `*`. */
  readonly scope: string;
  /** `init`: the scope has no handbook yet, or an unusable one. */
  readonly mode: 'init' | 'incremental';
  /** The scope's projection: its blocks of `memories/MEMORY.md`, its raw memories, summaries and skills. */
  readonly files: Files;
  /** The workspace diff against the scope's baseline, as Markdown, cut at `maxBytes` of UTF-8. */
  changes(maxBytes: number): string;
  /** Every repository that has memory: for the scope `*`. */
  readonly repositories: readonly string[];
  /** The scope was last consolidated by a better class than this one: its blocks stay, new ones are appended. */
  readonly appendOnly: boolean;
  /** Whether evidence names an item of a note or resource. @param thread its short id. */
  isNote(thread: string, item: string): boolean;
  /** Whether a person wrote or pinned this line of the handbook. */
  isPersons(line: string): boolean;
  /** What a result of the agent's breaks, each as a sentence for it. Empty: it may end. */
  review(files: Files): readonly string[];
}

/** What a consolidation proposes. After spent reviews it is judged block by block; unfinished, it counts as failed. */
export interface Proposal {
  readonly files: Files;
  readonly usage: Usage;
  readonly turns: number;
  /** Why it ended. */
  readonly end: 'finished' | 'review_spent' | 'turns_spent' | 'tokens_spent' | 'time_spent' | 'cut_off';
}

/** Rejects with a ModelError that stops the night, or with one that fails this scope. */
export interface Consolidator {
  readonly class: ExtractorClass;
  readonly promptHash: string;
  consolidate(task: ConsolidationTask, signal?: AbortSignal): Promise<Proposal>;
}
