import { UsageError } from '../shared/errors.ts';
import type { Flags } from '../shared/flags.ts';
import { safeThreadId } from '../shared/thread-id.ts';
import { plain } from './words.ts';

/** What somebody asks to have forgotten. */
export type Target =
  /** A session's id, or the short one that evidence shows. */
  | { readonly kind: 'thread'; readonly id: string }
  | { readonly kind: 'author'; readonly author: string }
  | { readonly kind: 'match'; readonly words: string }
  /** A line's words, or the file and number that it has today. */
  | {
      readonly kind: 'line';
      readonly at: { readonly path: string; readonly line: number } | { readonly text: string };
    };

/** Characters of a match: a shorter one would take half a memory along. */
const shortestMatch = 4;

/** @throws UsageError unless exactly one target is named. */
export function targetOf(flags: Flags): Target {
  const named = (['thread', 'author', 'match', 'line'] as const).flatMap((kind) => {
    const value = flags.valueOf(kind);
    return value === undefined ? [] : [{ kind, value }];
  });
  const [only, other] = named;
  if (only === undefined || other !== undefined)
    throw new UsageError(
      other === undefined ? 'Nothing is named that should be forgotten.' : 'Only one thing is forgotten at a time.',
      'Name one of --thread <id>, --author <who>, --match <text>, --line <text or MEMORY.md:12>.',
    );
  switch (only.kind) {
    case 'thread':
      return { kind: 'thread', id: safeThreadId(only.value) };
    case 'author':
      return { kind: 'author', author: only.value };
    case 'match':
      if ([...plain(only.value)].length >= shortestMatch) return { kind: 'match', words: only.value };
      throw new UsageError(
        `--match takes at least ${shortestMatch} characters: fewer would take half the memory along.`,
        'Write more of the words, or forget a line: --line MEMORY.md:12',
      );
    case 'line':
      return { kind: 'line', at: lineOf(only.value) };
  }
}

function lineOf(value: string): Extract<Target, { kind: 'line' }>['at'] {
  const place = /^(?:memories\/)?((?:[A-Za-z0-9._-]+\/)*[A-Za-z0-9._-]+\.md):(\d{1,7})$/.exec(value);
  if (place?.[1] === undefined) return { text: value };
  return { path: `memories/${place[1]}`, line: Number(place[2]) };
}
