import type { Repository } from '../git/types.ts';
import { byBinary, type Oid } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { noteLimits } from '../workspace/note.ts';
import type { Archive } from './archive.ts';
import { type ChangeOptions, changeArchive, type Derived } from './change.ts';
import { type CarriedNote, formatNote, notePath, parseNote } from './note-file.ts';
import { withoutForgottenNote } from './note-items.ts';
import { forgettingOf, noTombstones, readTombstones } from './tombstones.ts';

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
    const left = withoutForgottenNote(note, forgetting);
    if (left === null) return 'tombstoned';
    const [path, text] = placed(left, standing);
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
