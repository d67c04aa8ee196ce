import type { Item, Thread } from '../rollout/types.ts';
import { entryOf, formatEntry, withoutHiddenItems } from '../workspace/extension.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { type CarriedNote, memoryPathOf } from './note-file.ts';
import type { Forgetting } from './tombstones.ts';

/** A note as evidence names it: a thread of its own, whose items are the note, or the lines of a resource. */
export interface NoteThread {
  readonly thread: Pick<Thread, 'id' | 'repo' | 'author'>;
  readonly items: readonly Item[];
}

export function threadOfNote(note: CarriedNote): NoteThread | null {
  const { entry } = asEntry(note);
  if (entry === null) return null;
  const lines = entry.body.split('\n');
  const items = entry.items.map(
    (n): Item => ({
      n,
      at: note.at,
      who: note.authority === 'human' ? 'human' : 'assistant',
      kind: 'text',
      text: entry.kind === 'note' ? entry.body : (lines[Number(n) - 1] ?? ''),
      src: { line: Number(n) },
    }),
  );
  return { thread: { id: entry.threadId, repo: entry.scope, author: entry.author }, items };
}

/** The note without lines that were forgotten; null where it is forgotten whole. */
export function withoutForgottenNote(note: CarriedNote, forgetting: Forgetting): CarriedNote | null {
  const { text, entry } = asEntry(note);
  if (forgetting.isEmpty || entry === null) return note;
  const thread = entry.threadId;
  if (forgetting.hides({ kind: 'thread', thread })) return null;
  if (note.author !== null && forgetting.hides({ kind: 'author', author: note.author })) return null;
  const left = withoutHiddenItems(entry, text, (n) => forgetting.hides({ kind: 'item', thread, n }));
  if (left === text) return note;
  return left === null ? null : { ...note, text: splitHeader(left).body };
}

/** As the night writes it: its lines are counted there. */
function asEntry(note: CarriedNote) {
  const path = memoryPathOf(note);
  const { repo: scope, author, authority, channel, at } = note;
  const text = formatEntry(path, { scope, author, authority, channel, at }, note.text);
  return { text, entry: entryOf(path, text) };
}
