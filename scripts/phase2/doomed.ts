import type { ItemNumber } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { listThreads } from '../state/threads.ts';
import { listTombstones, onRequest } from '../state/tombstones.ts';
import type { Scope } from '../workspace/layout.ts';

/** What goes for good, asked of texts by the names that they give to sessions. */
export interface Doomed {
  /** Whole sessions. */
  readonly threads: ReadonlySet<string>;
  hidesThread(threadId: string): boolean;
  hidesItem(threadId: string, n: ItemNumber): boolean;
  hidesShort(shortId: string, n: ItemNumber): boolean;
  /** Whether a text holds words that go wherever they stand. */
  says(text: string): boolean;
  /** Whether a line says what a line says that goes. */
  isLine(text: string): boolean;
  /** Whether a line of a block stays as its writer left it, unless it rests on nothing else than what goes. */
  spares(scope: Scope, line: string): boolean;
}

/** Sessions and items, by the ids of their threads. */
export interface Meant {
  readonly threads: ReadonlySet<string>;
  readonly items: readonly { readonly thread: string; readonly n: ItemNumber }[];
}

const nothing: Meant = { threads: new Set(), items: [] };

/** What was asked for on request until now. Words are not kept, so its evidence alone tells what it is. */
export function doomedSoFar(state: State, more: Meant = nothing): Doomed {
  const threads = new Set(more.threads);
  const items = new Set(more.items.map(({ thread, n }) => `${thread} ${n}`));
  for (const { kind, key, reason, liftedAt } of listTombstones(state)) {
    if (reason !== onRequest || liftedAt !== null) continue;
    if (kind === 'thread') threads.add(key);
    if (kind === 'evidence') items.add(key.split(' ', 2).join(' '));
  }
  const known = listThreads(state).map(({ threadId }) => threadId);
  const ids = [...threads, ...[...items].map((key) => key.split(' ')[0] ?? ''), ...known];
  const byShort = new Map(ids.map((id) => [shortThreadId(id), id]));
  const hidesThread = (id: string) => threads.has(id);
  const hidesItem = (id: string, n: ItemNumber) => threads.has(id) || items.has(`${id} ${n}`);
  return {
    threads,
    hidesThread,
    hidesItem,
    hidesShort: (short, n) => hidesItem(byShort.get(short) ?? '', n),
    says: () => false,
    isLine: () => false,
    spares: () => false,
  };
}
