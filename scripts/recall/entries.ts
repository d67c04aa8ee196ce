import { readBlockLines } from '../workspace/block-lines.ts';
import type { GroupBytes } from '../workspace/groups-naming.ts';
import { blockSources, scopeOf } from '../workspace/handbook.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { normaliseLine } from '../workspace/lines.ts';
import { readHead } from '../workspace/read-block.ts';
import { summaryHeadings, summarySections } from '../workspace/summary-sections.ts';

/** What a session is given lines of. */
export interface MemoryTexts {
  /** Of the handbook those that may speak for the session's repositories, or for all. */
  readonly groups: readonly GroupBytes[];
  /** Empty where it is missing. */
  readonly summary: string;
}

export type EntryKind = 'summary' | 'preference' | 'failure' | 'knowledge' | 'block';

/** The least that is given or left out: a line of the summary, a bullet, or another repository's whole block. */
export interface Entry {
  readonly kind: EntryKind;
  readonly file: 'MEMORY.md' | 'memory_summary.md';
  /** null: the block names no repository. */
  readonly scope: Scope | null;
  /** Of the block, or the summary's heading. */
  readonly title: string;
  /** In its file, from 1. */
  readonly line: number;
  /** As it stands there; '' for a block. */
  readonly text: string;
}

/** The other blocks, by their headings alone. */
export function otherBlocks(handbook: string, own: readonly { readonly line: number }[]): Entry[] {
  const lines = new Set(own.map(({ line }) => line));
  return blockSources(handbook)
    .filter(({ line }) => !lines.has(line))
    .map(({ raw, line }) => {
      const head = readHead(readBlockLines(raw));
      return { kind: 'block', file: 'MEMORY.md', scope: scopeOf(head), title: head.title, line, text: '' };
    });
}

/** The summary's lines that concern a session: those for all and its own repositories' lines of the index. */
export function summaryEntries(
  summary: string,
  repositories: readonly string[],
): { readonly own: Entry[]; readonly others: Entry[] } {
  const own: Entry[] = [];
  const others: Entry[] = [];
  for (const { heading, lines } of summarySections(summary)) {
    let scope: Scope = everywhere;
    for (const { text, line } of lines) {
      if (heading === '' && text === 'v1') continue;
      if (heading === summaryHeadings.contents && !/^[ \t]/.test(text)) scope = repositoryIn(text) ?? everywhere;
      const entry: Entry = { kind: 'summary', file: 'memory_summary.md', scope, title: heading, line, text };
      (scope === everywhere || repositories.includes(scope) ? own : others).push(entry);
    }
  }
  return { own, others };
}

/** Whether a bullet for all says what the summary says already. */
export function repeats(entry: Entry, said: ReadonlySet<string>): boolean {
  return entry.scope === everywhere && said.has(normaliseLine(entry.text.split(/\s*\n\s*/).join(' ')));
}

/** Of a line of the index, `- <repository>: topics`; null for a line of another form. */
function repositoryIn(line: string): Scope | null {
  return /^- ((?:local:|none(?=:|$)|[^\s:/]+\/)[^\s:]*)(?::? |:?$)/.exec(line)?.[1] ?? null;
}
