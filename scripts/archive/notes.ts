import type { Repository } from '../git/types.ts';
import { type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { isRepositoryPattern } from '../shared/config.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { jsonFields } from '../shared/json.ts';
import { sha256 } from '../shared/thread-id.ts';
import { entryThreadId, extensionPath, importExtension, notesExtension } from '../workspace/extension.ts';
import { everywhere } from '../workspace/layout.ts';
import { isNoteName, noteLimits } from '../workspace/note.ts';
import type { Archive } from './archive.ts';
import { type ChangeOptions, changeArchive, type Derived } from './change.ts';
import type { NoteKind } from './note-spool.ts';
import { forgettingOf, noTombstones, readTombstones } from './tombstones.ts';

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

/** What became of a note: `same` stands there already; a `tombstoned` one is never uploaded. */
export type CarryOutcome = 'added' | 'same' | 'tombstoned';

/**
 * Adds notes to the ref, in one commit on its current tip. A name that another one has gets a suffix from the words.
 * @returns by the given order.
 * @throws TombstonesError where the copy of what is forgotten cannot be read.
 */
export async function addNotes(
  archive: Archive,
  notes: readonly CarriedNote[],
  options: ChangeOptions,
): Promise<readonly CarryOutcome[]> {
  return changeArchive(archive, (tip) => deriveNotes(archive, tip, notes), options);
}

/** What `addNotes` would do on this tip. */
export async function deriveNotes(
  { repository }: Archive,
  tip: Oid | null,
  notes: readonly CarriedNote[],
): Promise<Derived<readonly CarryOutcome[]>> {
  const forgetting = forgettingOf(tip === null ? noTombstones : await readTombstones(repository, tip));
  const days = [...new Set(notes.map((note) => notePath(note).slice(0, 'notes/2026/11/30'.length)))];
  const standing = new Map(tip === null ? [] : await repository.readFiles(tip, days));
  const changes = new Map<string, string>();
  const outcomes = notes.map((note): CarryOutcome => {
    const isForgotten =
      forgetting.hides({ kind: 'thread', thread: noteThreadId(note) }) ||
      (note.author !== null && forgetting.hides({ kind: 'author', author: note.author }));
    if (isForgotten) return 'tombstoned';
    const [path, text] = placed(note, standing);
    if (standing.get(path) === text) return 'same';
    standing.set(path, text);
    changes.set(path, text);
    return 'added';
  });
  const message = `Collect ${changes.size} ${changes.size === 1 ? 'note' : 'notes'}`;
  return { commit: changes.size === 0 ? null : { changes, message, isRewrite: false }, value: outcomes };
}

/** The notes of one commit of the rollouts ref, by path; what is none is told and passed over. */
export async function archivedNotes(
  repository: Repository,
  commit: Oid | null,
): Promise<{ readonly notes: readonly CarriedNote[]; readonly ignored: readonly string[] }> {
  if (commit === null) return { notes: [], ignored: [] };
  const notes: CarriedNote[] = [];
  const ignored: string[] = [];
  const files = [...(await repository.readFiles(commit, ['notes']))].sort(([a], [b]) => byBinary(a, b));
  for (const [path, text] of files) {
    const note = parseNote(text);
    if (note !== null && notePath(note) === path) notes.push(note);
    else ignored.push(path);
  }
  return { notes, ignored };
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

function placed(note: CarriedNote, standing: ReadonlyMap<string, string>): [string, string] {
  const own: [string, string] = [notePath(note), formatNote(note)];
  const there = standing.get(own[0]);
  if (there === undefined || there === own[1]) return own;
  const other = { ...note, name: suffixed(note.name, sha256(own[1]).slice(0, 8)) };
  return [notePath(other), formatNote(other)];
}

/** Within the bounds of a name. */
function suffixed(name: string, suffix: string): string {
  const room = noteLimits.slugBytes - suffix.length - 1;
  return `${name.slice(0, 20)}${name.slice(20, -3).slice(0, room).replace(/-+$/, '')}-${suffix}.md`;
}

function formatNote(note: CarriedNote): string {
  const { kind, name, authority, channel, author, repo, at, text } = note;
  const words = { format: 'ctm-note', version: 1, kind, name, authority, channel, author, repo, at: isoTime(at), text };
  return `${JSON.stringify(words)}\n`;
}

function parseNote(json: string): CarriedNote | null {
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
