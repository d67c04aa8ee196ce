import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import { isoTime, parseIsoTime } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { jsonFields } from '../shared/json.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { sha256 } from '../shared/thread-id.ts';
import { isNoteName, judgeNote, type Note, noteLimits, notesFolder } from '../workspace/note.ts';

/** What is known of a note beside its words. */
export interface NoteOrigin {
  /** Whose word it is: only a person at a terminal makes a `human` one. */
  readonly authority: 'human' | 'agent';
  /** How it came. */
  readonly channel: string;
  /** The memory that it is for: `host/path`, or an absolute folder. */
  readonly memory: string;
  /** Repository id of the session; `none` where it has none; `*` for all. */
  readonly repo: string;
  readonly at: EpochSeconds;
  /** A note is somebody's own; a resource was brought in from another memory. Undefined: a note. */
  readonly kind?: NoteKind;
}

export type NoteKind = 'note' | 'resource';

/** Where a note or a resource stands, below the spool as below `memories/`. */
const places: Readonly<Record<NoteKind, string>> = {
  note: notesFolder,
  resource: 'extensions/external_agent_import/resources/',
};

/** Where a memory's notes wait on this laptop until `collect` carries them. */
export function spoolOf(stateFolder: string, memory: string): string {
  return join(stateFolder, 'notes', sha256(memory).slice(0, 16));
}

/**
 * Puts a note into the spool: `about/<name>.json` says whose it is, then `extensions/ad_hoc/notes/<name>` (of a
 * resource its own folder) holds it verbatim. One without the other is an attempt that died, and no note.
 * @returns false where there is one of that name; it stays as it was.
 * @throws MemoryError where the spool cannot be written, or a link stands in it.
 */
export async function spoolNote(stateFolder: string, note: Note, origin: NoteOrigin): Promise<boolean> {
  const spool = spoolOf(stateFolder, origin.memory);
  try {
    await makeFolder(stateFolder, 0o700);
    const { kind = 'note' } = origin;
    const place = await folderIn(spool, places[kind], stateFolder);
    const about = join(await folderIn(spool, 'about', stateFolder), `${note.name}.json`);
    const { authority, channel, memory, repo, at } = origin;
    const more = kind === 'note' ? {} : { kind };
    const words = { format: 'ctm-note', version: 1, authority, channel, memory, repo, at: isoTime(at), ...more };
    if (!(await createNew(about, `${JSON.stringify(words)}\n`))) return false;
    if (await createNew(join(place, note.name), note.text)) return true;
    await rm(about, { force: true });
    return false;
  } catch (error) {
    if (error instanceof MemoryError) throw error;
    throw new MemoryError(
      `The note cannot be kept in ${spool} (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}).`,
      'Correct its rights, or name another folder: CTM_HOME.',
      { cause: error },
    );
  }
}

/** What waits on this laptop. */
export interface SpooledNote {
  readonly note: Note;
  readonly origin: Required<NoteOrigin>;
}

/** More than a person writes between two collections; the rest waits. */
const most = 1_000;

/**
 * What waits for one memory, by name; without the secrets that somebody may have put there by hand.
 * @returns `refused` are those that can never be carried, each with why.
 */
export async function spooledNotes(
  stateFolder: string,
  memory: string,
  redact: (text: string) => string,
): Promise<{ readonly notes: readonly SpooledNote[]; readonly refused: readonly { name: string; why: string }[] }> {
  const spool = spoolOf(stateFolder, memory);
  const notes: SpooledNote[] = [];
  const refused: { name: string; why: string }[] = [];
  for (const name of await waitingIn(join(spool, 'about'))) {
    const about = await plainText(join(spool, 'about', `${name}.json`), 8_192);
    const origin = about === null ? null : originIn(about, memory);
    if (origin === null) {
      refused.push({ name, why: 'nothing says whose it is' });
      continue;
    }
    const bytes = origin.kind === 'note' ? noteLimits.textBytes : noteLimits.resourceBytes;
    const text = await plainText(join(spool, places[origin.kind], name), bytes);
    if (text === null) continue;
    const judgement = judgeNote(name, text, redact, bytes);
    if (judgement.outcome === 'accepted') notes.push({ note: judgement.note, origin });
    else refused.push({ name, why: `it ${judgement.fault}` });
  }
  return { notes, refused };
}

/** Takes away what was carried, or was taken back: the words first, so that what is left of a dead try is no note. */
export async function removeSpooled(stateFolder: string, { note, origin }: SpooledNote): Promise<void> {
  const spool = spoolOf(stateFolder, origin.memory);
  await rm(join(spool, places[origin.kind], note.name), { force: true });
  await rm(join(spool, 'about', `${note.name}.json`), { force: true });
}

async function waitingIn(folder: string): Promise<string[]> {
  try {
    const names = (await readdir(folder)).map((file) => file.replace(/\.json$/, ''));
    return names.filter(isNoteName).sort(byBinary).slice(0, most);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** null where there is none, or something else than a regular file of at most `bytes`. */
async function plainText(path: string, bytes: number): Promise<string | null> {
  try {
    const found = await lstat(path);
    return found.isFile() && found.size <= bytes ? await readFile(path, 'utf8') : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function originIn(text: string, memory: string): Required<NoteOrigin> | null {
  const { format, version, authority, channel, repo, at, kind = 'note', memory: meant } = jsonFields(text);
  if (format !== 'ctm-note' || version !== 1 || meant !== memory) return null;
  if (authority !== 'human' && authority !== 'agent') return null;
  if (kind !== 'note' && kind !== 'resource') return null;
  const time = typeof at === 'string' ? parseIsoTime(at) : null;
  if (time === null || typeof repo !== 'string' || typeof channel !== 'string') return null;
  return { authority, channel, memory, repo, at: time, kind };
}

/** Makes the folders below the laptop's own one by one: nothing is written through a link. */
async function folderIn(spool: string, path: string, stateFolder: string): Promise<string> {
  let folder = stateFolder;
  for (const part of `${spool.slice(stateFolder.length)}/${path}`.split(/[\\/]/).filter((name) => name !== '')) {
    folder = join(folder, part);
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (!(await lstat(folder)).isDirectory())
      throw new MemoryError(`${folder} is a link or a file.`, 'Take it away: notes are kept in folders of their own.');
  }
  return folder;
}

/** @returns false where the file is there already. A write that fails leaves nothing. */
async function createNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await rm(path, { force: true });
    throw error;
  }
}
