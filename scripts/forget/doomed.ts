import type { ItemNumber } from '../shared/evidence.ts';
import { shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { listThreads } from '../state/threads.ts';
import { listTombstones, onRequest } from '../state/tombstones.ts';
import { lineHash, normaliseLine } from '../workspace/lines.ts';
import { type Words, wordsOf } from './words.ts';

/** An item that goes, with what makes its copies known where its session is at hand. */
export interface DoomedItem {
  readonly thread: string;
  readonly n: ItemNumber;
  /** Repository id of its session. */
  readonly repo: string;
}

/** What is to be forgotten, as it was found. */
export interface Chosen {
  /** Whole sessions, by id. */
  readonly threads: ReadonlySet<string>;
  readonly items: readonly DoomedItem[];
  /** Items of sessions at hand whose copies in other sessions go as well. */
  readonly copies: readonly { readonly at: number | null; readonly text: string }[];
  readonly author: string | null;
  /** The words of a match. */
  readonly words: readonly string[];
  /** The words of a line, which goes wherever it stands as a line. */
  readonly lines: readonly string[];
}

/** Asked of texts, by the names that they give to sessions. */
export interface Doomed {
  /** Whole sessions, those among them that were asked for earlier. */
  readonly threads: ReadonlySet<string>;
  hidesThread(threadId: string): boolean;
  hidesItem(threadId: string, n: ItemNumber): boolean;
  hidesShort(shortId: string, n: ItemNumber): boolean;
  readonly words: Words;
  /** Whether a line says what a line says that goes. */
  isLine(text: string): boolean;
}

/** What is chosen now with what was asked for earlier: so a run that died is finished by the next. */
export function doomedOf(state: State, chosen: Chosen): Doomed {
  const threads = new Set(chosen.threads);
  const items = new Set(chosen.items.map(({ thread, n }) => `${thread} ${n}`));
  for (const { kind, key, reason, liftedAt } of listTombstones(state)) {
    if (reason !== onRequest || liftedAt !== null) continue;
    if (kind === 'thread') threads.add(key);
    if (kind === 'evidence') items.add(key.split(' ', 2).join(' '));
  }
  const ids = [...threads, ...[...items].map((key) => key.split(' ')[0] ?? ''), ...listThreads(state).map(idOf)];
  const byShort = new Map(ids.map((id) => [shortThreadId(id), id]));
  const hidesThread = (id: string) => threads.has(id);
  const hidesItem = (id: string, n: ItemNumber) => threads.has(id) || items.has(`${id} ${n}`);
  const lines = new Set(chosen.lines.map(lineHash));
  const long = chosen.lines.map(normaliseLine).filter((line) => line.length >= quotable);
  return {
    threads,
    hidesThread,
    hidesItem,
    hidesShort: (short, n) => hidesItem(byShort.get(short) ?? '', n),
    words: wordsOf(chosen.words),
    isLine: (text) => lines.has(lineHash(text)) || long.some((line) => normaliseLine(text).includes(line)),
  };
}

/** Characters from which on a line that holds another quotes it. */
const quotable = 24;

function idOf({ threadId }: { readonly threadId: string }): string {
  return threadId;
}
