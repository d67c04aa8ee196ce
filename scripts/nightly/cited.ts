import type { Citation, CitedPlace } from '../recall/citations.ts';
import type { Files } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { threadByShortId, threadByStem } from '../state/threads.ts';
import { bulletsOf, parseHandbook } from '../workspace/handbook.ts';
import { handbookPath, stemOf } from '../workspace/layout.ts';

/**
 * The threads that a citation names, each once; what its session was not shown is left out. The ids decide. Only where
 * there are none do the places: a summary is its thread's (its name never changes), lines of the handbook are the
 * threads of the bullets that stand there today. The handbook may have moved since; what was not shown still counts for
 * nothing.
 * @param shown short ids
 */
export function citedThreads(
  state: State,
  memories: Files,
  { ids, places }: Citation,
  shown: ReadonlySet<string>,
): string[] {
  const named = ids.length > 0 ? ids : places.flatMap((place) => placedIds(state, memories, place));
  const threads = named.filter((id) => shown.has(id)).flatMap((id) => threadByShortId(state, id)?.threadId ?? []);
  return [...new Set(threads)];
}

function placedIds(state: State, memories: Files, { path, lineStart, lineEnd }: CitedPlace): string[] {
  const file = `memories/${path.replace(/^(?:\.\/)?(?:memories\/)?/, '')}`;
  const stem = stemOf(file);
  if (stem !== null) {
    const thread = threadByStem(state, stem);
    return thread === null ? [] : [shortThreadId(thread)];
  }
  if (file !== handbookPath) return [];
  return parseHandbook(memories.get(handbookPath) ?? '')
    .blocks.flatMap(bulletsOf)
    .filter(({ line, raw }) => line <= lineEnd && line + raw.split('\n').length - 1 >= lineStart)
    .flatMap(({ evidence }) => evidence.map(({ thread }) => thread));
}
