import { type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { isRepositoryPattern } from '../shared/config.ts';
import { jsonFields } from '../shared/json.ts';
import { entryThreadId, extensionPath, importExtension, notesExtension } from '../workspace/extension.ts';
import { everywhere } from '../workspace/layout.ts';
import { isNoteName, noteLimits } from '../workspace/note.ts';
import type { NoteKind } from './note-spool.ts';

/** A note, or a resource of another memory, on its way to the night. */
export interface CarriedNote {
  readonly kind: NoteKind;
  /** Of the file below `memories/extensions/`. */
  readonly name: string;
  readonly authority: 'human' | 'agent';
  readonly channel: string;
  readonly author: string | null;
  /** A repository id, or `*`. */
  readonly repo: string;
  readonly at: EpochSeconds;
  /** Redacted. */
  readonly text: string;
}

/** A repository's id, or `*` for all. */
export function isNoteRepository(repo: string): boolean {
  return repo === everywhere || (isRepositoryPattern(repo) && !repo.endsWith('/*') && repo !== 'none');
}

/** Where the night puts it. */
export function memoryPathOf({ kind, name }: Pick<CarriedNote, 'kind' | 'name'>): string {
  return extensionPath({ extension: kind === 'note' ? notesExtension : importExtension, kind, name });
}

export function noteThreadId(note: Pick<CarriedNote, 'kind' | 'name'>): string {
  return entryThreadId(memoryPathOf(note));
}

/** `notes/<yyyy>/<mm>/<dd>/<name>.json`, by the day in its name. */
export function notePath({ name }: Pick<CarriedNote, 'name'>): string {
  return `notes/${name.slice(0, 10).replaceAll('-', '/')}/${name}.json`;
}

/** The ref's file of a note. */
export function formatNote(note: CarriedNote): string {
  const { kind, name, authority, channel, author, repo, at, text } = note;
  const words = { format: 'ctm-note', version: 1, kind, name, authority, channel, author, repo, at: isoTime(at), text };
  return `${JSON.stringify(words)}\n`;
}

/** null for what is no note. */
export function parseNote(json: string): CarriedNote | null {
  const { format, version, kind, name, authority, channel, author, repo, at, text } = jsonFields(json);
  if (format !== 'ctm-note' || version !== 1) return null;
  if ((kind !== 'note' && kind !== 'resource') || (authority !== 'human' && authority !== 'agent')) return null;
  if (typeof name !== 'string' || !isNoteName(name) || typeof text !== 'string' || text.trim() === '') return null;
  if (Buffer.byteLength(text) > (kind === 'note' ? noteLimits.textBytes : noteLimits.resourceBytes)) return null;
  if (typeof channel !== 'string' || !/^[a-z][a-z-]{0,39}$/.test(channel)) return null;
  if (author !== null && (typeof author !== 'string' || !/^[\p{L}\p{N}][\p{L}\p{N}._+-]{0,63}$/u.test(author)))
    return null;
  if (typeof repo !== 'string' || !isNoteRepository(repo)) return null;
  const time = typeof at === 'string' ? parseIsoTime(at) : null;
  return time === null ? null : { kind, name, authority, channel, author, repo, at: time, text };
}
