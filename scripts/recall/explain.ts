import { isoTime } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import { type MemoryCopy, wholeHandbook } from './copy.ts';
import { type Entry, otherBlocks } from './entries.ts';
import { blocksFor } from './own-blocks.ts';
import { type LeftOut, sessionBudget } from './recall.ts';
import type { SessionMemory } from './session.ts';
import { tokensAtMost } from './tokens-at-most.ts';

/** What a session was given and what was left out, with the reason, for a person. */
export interface Explanation {
  readonly memory: string;
  readonly fetchedAt: string | null;
  readonly root: string | null;
  readonly repositories: readonly string[];
  readonly characters: number;
  /** At most so many. */
  readonly tokens: number;
  readonly chosen: readonly Entry[];
  readonly leftOut: readonly Omission[];
  /** Files that were not read, and why. */
  readonly refused: readonly string[];
  readonly notice: string;
  readonly failure: string | null;
}

export interface Omission {
  readonly entry: Entry;
  readonly why: LeftOut['why'] | 'names no repository';
}

export function explain({ source, where, copy, recalled, text, notice, failure }: SessionMemory): Explanation {
  return {
    memory: source.kind === 'folder' ? source.folder : source.cache,
    fetchedAt: copy === null || copy.fetchedAt === null ? null : isoTime(copy.fetchedAt),
    root: where.root,
    repositories: where.repositories,
    characters: text.length,
    tokens: tokensAtMost(recalled?.text ?? ''),
    chosen: recalled?.chosen ?? [],
    leftOut: [...(recalled?.leftOut ?? []), ...(copy === null ? [] : others(copy, where.repositories))],
    refused: copy?.refused ?? [],
    notice,
    failure,
  };
}

/** Lines for a terminal; whoever prints them escapes them. */
export function explanationText(explanation: Explanation): string {
  const { repositories, chosen, leftOut, refused, failure } = explanation;
  const fetched = explanation.fetchedAt === null ? '' : `, fetched ${explanation.fetchedAt}`;
  return [
    `memory: ${explanation.memory}${fetched}`,
    `repository: ${repositories.join(', ') || 'none with a remote: what holds everywhere alone'}`,
    `given: ${chosen.length} lines, ${explanation.characters} of ${sessionBudget.characters} characters, at most ${explanation.tokens} of ${sessionBudget.tokens} tokens`,
    ...(failure === null ? [] : [`not fetched: ${failure}`]),
    ...refused.map((sentence) => `not read: ${sentence}`),
    ...[...leftOut]
      .sort((a, b) => byBinary(a.why, b.why))
      .map(({ entry, why }) => `left out, ${why}: ${lineOf(entry)}`),
  ].join('\n');
}

function others({ folder, texts }: MemoryCopy, repositories: readonly string[]): Omission[] {
  return otherBlocks(wholeHandbook(folder), blocksFor(texts.groups, repositories)).map((entry) => ({
    entry,
    why: entry.scope === null ? 'names no repository' : 'another repository',
  }));
}

function lineOf({ file, line, scope, title, text }: Entry): string {
  const words = text === '' ? `the block “${title}”${scope === null ? '' : ` of ${scope}`}` : text;
  return `${file}:${line} ${words.replace(/\s+/g, ' ').slice(0, 100)}`;
}
