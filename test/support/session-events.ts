import { createBuiltinExtractor } from '../../scripts/phase1/builtin.ts';
import type { ExtractionInput, Stage1Text } from '../../scripts/phase1/types.ts';
import type { Does, Item, Thread, Who } from '../../scripts/rollout/types.ts';

export const aThread: Thread = {
  id: '01a229b0-a4cb-70d0-9c00-6fba5df96ff3',
  agent: 'codex',
  origin: 'cli',
  kind: 'root',
  repo: 'github.com/acme/orders',
  aliases: [],
  cwd: '.',
  branch: 'main',
  commit: '87b2a060c9a8d0f5a1b2c3d4e5f60718293a4b5c',
  author: 'dana',
  title: 'a session',
  startedAt: 1_795_995_772,
  updatedAt: 1_795_996_000,
};

/** What happened, one entry after another; items are numbered from 1 in that order, a call and its output apart. */
export type Event =
  | { readonly human: string }
  | { readonly says: string }
  | { readonly note: string }
  | { readonly other: string }
  | { readonly run: string; readonly exit?: number; readonly out?: string }
  | { readonly edit: readonly string[]; readonly patch?: string; readonly fails?: string }
  | { readonly read: string; readonly out: string };

export function itemsOf(events: readonly Event[]): Item[] {
  const items: Item[] = [];
  const add = (who: Who, kind: Item['kind'], text: string, rest: Partial<Item> = {}) => {
    const line = items.length + 1;
    items.push({ n: String(line), at: 1_795_995_772 + line, who, kind, text, src: { line, id: `r${line}` }, ...rest });
  };
  const tool = (does: Does, text: string, out: string, exit: number | undefined, files?: readonly string[]) => {
    const call = `c${items.length + 1}`;
    add('tool', 'call', text, { does, call, ...(files ? { files } : {}) });
    add('tool', 'output', out, { does, call, ...(exit === undefined ? {} : { exit }) });
  };
  for (const event of events) {
    if ('human' in event) add('human', 'text', event.human);
    else if ('says' in event) add('assistant', 'text', event.says);
    else if ('note' in event) add('harness', 'text', event.note);
    else if ('other' in event) add('other_agent', 'text', event.other);
    else if ('run' in event) tool('shell', event.run, event.out ?? '', event.exit ?? 0);
    else if ('edit' in event)
      tool('edit', event.patch ?? '', event.fails ?? 'done', event.fails === undefined ? 0 : 1, event.edit);
    else tool('read', JSON.stringify({ file_path: event.read }), event.out, 0);
  }
  return items;
}

export function inputOf(items: readonly Item[], thread: Thread = aThread): ExtractionInput {
  return { thread, rolloutPath: `2026/11/29/${thread.id}.jsonl`, items };
}

/** @returns the texts, or null for "nothing worth keeping". */
export async function extracted(events: readonly Event[] | readonly Item[]): Promise<Stage1Text | null> {
  const items = events.every((event) => 'n' in event) ? events : itemsOf(events as readonly Event[]);
  const extraction = await createBuiltinExtractor().extract(inputOf(items as readonly Item[]));
  return extraction.outcome === 'extracted' ? extraction.text : null;
}

/** The bullets under a heading of all blocks of a raw memory. */
export function bulletsUnder(heading: string, rawMemory: string): string[] {
  const bullets: string[] = [];
  let inside = false;
  for (const line of rawMemory.split('\n')) {
    if (line.startsWith('- ')) {
      if (inside) bullets.push(line);
    } else if (line.trim() !== '') inside = line === heading;
  }
  return bullets;
}
