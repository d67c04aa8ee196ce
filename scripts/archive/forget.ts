import { parseRollout, RolloutError, writeRollout } from '../rollout/canonical.ts';
import type { Oid } from '../shared/files.ts';
import type { Archive } from './archive.ts';
import { type ChangeOptions, changeArchive, type Derived } from './change.ts';
import { withoutForgotten } from './forgotten-items.ts';
import { tombstonesPath } from './layout.ts';
import { formatNote, notePath } from './note-file.ts';
import { withoutForgottenNote } from './note-items.ts';
import { archivedNotes } from './notes.ts';
import { storedRollouts } from './stored.ts';
import { type Forgetting, forgettingOf, formatTombstones, readTombstones } from './tombstones.ts';

/** What a rewrite took from the ref. */
export interface ForgottenThere {
  /** Ids of sessions that went whole, and of those that lost items. */
  readonly threads: readonly string[];
  readonly items: readonly string[];
  /** Names of notes and resources that went, or lost lines. */
  readonly notes: readonly string[];
}

/**
 * Writes the ref anew, without a parent, from its current tip: without the sessions, items and notes that are to be forgotten,
 * with the keys by which no laptop sends them again. A ref that holds neither stays as it is.
 * @param keysFor the keys to add, made with the salt that the ref uses already ('': it has none yet).
 */
export function forgetInArchive(
  archive: Archive,
  keysFor: (salt: string) => { readonly salt: string; readonly keys: readonly string[] },
  options: ChangeOptions,
): Promise<ForgottenThere> {
  return changeArchive(archive, (tip) => deriveForgetting(archive, tip, keysFor, options.signal), options);
}

async function deriveForgetting(
  { repository }: Archive,
  tip: Oid | null,
  keysFor: Parameters<typeof forgetInArchive>[1],
  signal: AbortSignal | undefined,
): Promise<Derived<ForgottenThere>> {
  const before = tip === null ? { salt: '', keys: [] } : await readTombstones(repository, tip);
  const { salt, keys } = keysFor(before.salt);
  const tombstones = { salt, keys: [...new Set([...before.keys, ...keys])] };
  const forgetting = forgettingOf(tombstones);
  const threads: string[] = [];
  const items: string[] = [];
  const changes = new Map<string, string | null>();
  if (tip !== null) {
    for await (const { path, thread, bytes } of storedRollouts(repository, tip, () => true, signal)) {
      const left = without(bytes, thread, forgetting);
      if (left === 'same') continue;
      changes.set(path, left);
      (left === null ? threads : items).push(thread);
    }
  }
  const notes: string[] = [];
  for (const note of (await archivedNotes(repository, tip)).notes) {
    const left = withoutForgottenNote(note, forgetting);
    if (left === note) continue;
    notes.push(note.name);
    changes.set(notePath(note), left === null ? null : formatNote(left));
  }
  const value = { threads, items, notes };
  if (changes.size === 0 && tombstones.keys.length === before.keys.length) return { commit: null, value };
  changes.set(tombstonesPath, formatTombstones(tombstones));
  return { commit: { changes, message: 'Forget', isRewrite: true }, value };
}

/** null: the session goes whole. One that cannot be read goes by its name alone. */
function without(bytes: Buffer, thread: string, forgetting: Forgetting): string | null | 'same' {
  if (forgetting.hides({ kind: 'thread', thread })) return null;
  try {
    const rollout = parseRollout(bytes.toString('utf8'));
    const { author } = rollout.thread;
    if (author !== null && forgetting.hides({ kind: 'author', author })) return null;
    const left = withoutForgotten(rollout, forgetting);
    return left === rollout ? 'same' : writeRollout(left);
  } catch (error) {
    if (error instanceof RolloutError) return 'same';
    throw error;
  }
}
