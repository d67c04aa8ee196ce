import { byBinary } from '../shared/files.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import { memoryClose } from './marker.ts';
import { isMemoryCall, isOwnTool, isSearch } from './memory-calls.ts';
import type { Item } from './types.ts';

/**
 * Which memory a session was shown: the short ids of the threads that it came from, never its words. Kept in a canonical
 * rollout's header, so that a night knows without reading on what may be cited there.
 */
export interface MemorySeen {
  /** A program put it into the session. */
  readonly injected: readonly string[];
  /** A search found it. */
  readonly retrieved: readonly string[];
  /** It was read, from a file or by our tools. */
  readonly read: readonly string[];
  /** Answers that hold a citation: without one nothing has to be read for them. */
  readonly citing: number;
}

/** Short ids of one kind in one session. */
export const maxSeenIds = 2_000;

/** @param injected ids in injected texts that are no items (`ItemList.injected`). @returns undefined where nothing was shown. */
export function memorySeen(items: readonly Item[], injected: readonly string[] = []): MemorySeen | undefined {
  const seen = { injected: new Set(injected), retrieved: new Set<string>(), read: new Set<string>() };
  const calls = new Map<string, 'retrieved' | 'read'>();
  let citing = 0;
  for (const item of items) {
    if (item.who === 'harness') addAll(seen.injected, injectedIds(item.text));
    if (item.who === 'assistant' && item.text.includes(citationOpen)) citing += 1;
    if (item.call !== undefined && isMemoryCall(item)) calls.set(item.call, isSearch(item) ? 'retrieved' : 'read');
    if (item.kind !== 'output') continue;
    const own = isOwnTool(item.tool) ? (isSearch(item) ? 'retrieved' : 'read') : undefined;
    const kind = (item.call === undefined ? undefined : calls.get(item.call)) ?? own;
    if (kind !== undefined) addAll(seen[kind], idsIn(item.text));
  }
  const { retrieved, read } = seen;
  if (seen.injected.size + retrieved.size + read.size === 0) return undefined;
  return { injected: listed(seen.injected), retrieved: listed(retrieved), read: listed(read), citing };
}

/** The ids in the memory that a text carries: between our marks, or Codex's. Other words of it are no memory. */
export function injectedIds(text: string): string[] {
  return passages.flatMap(({ open, close }) => {
    const found: string[] = [];
    for (let at = text.indexOf(open); at !== -1; ) {
      const end = text.indexOf(close, at + open.length);
      found.push(...idsIn(text.slice(at, end === -1 ? text.length : end)));
      at = end === -1 ? -1 : text.indexOf(open, end);
    }
    return found;
  });
}

/** The threads that a memory text names: `[k3f7x2ab@88]` and `[k3f7x2ab]`, `thread_id=…`, and ids as most agents make them. */
export function idsIn(text: string): string[] {
  const short = [...text.matchAll(/\[([a-z2-7]{8})(?:@[0-9:., ]{1,400})?\]/g)].map((match) => match[1] ?? '');
  const full = [...text.matchAll(fullId)].map((match) => shortThreadId(match[1] ?? match[0]));
  return [...new Set([...short, ...full])];
}

export function isShortId(text: string): boolean {
  return /^[a-z2-7]{8}$/.test(text);
}

const citationOpen = '<oai-mem-citation>';

const passages = [
  { open: '<commit-to-memory v="1"', close: memoryClose },
  { open: '========= MEMORY_SUMMARY BEGINS =========', close: '========= MEMORY_SUMMARY ENDS =========' },
];

const fullId =
  /\bthread_id[=:] {0,4}([A-Za-z0-9][A-Za-z0-9._-]{0,79})|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

function addAll(set: Set<string>, ids: readonly string[]): void {
  for (const id of ids) if (set.size < maxSeenIds) set.add(id);
}

function listed(ids: ReadonlySet<string>): string[] {
  return [...ids].sort(byBinary);
}
