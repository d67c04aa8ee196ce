import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochSeconds } from '../shared/clock.ts';
import { isoTime } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import { makeFolder } from '../shared/make-folder.ts';
import { sha256 } from '../shared/thread-id.ts';
import { type Note, notesFolder } from '../workspace/note.ts';

/** What is known of a note beside its words. */
export interface NoteOrigin {
  /** Whose word it is: only a person at a terminal makes a `human` one. */
  readonly authority: 'human' | 'agent';
  /** How it came. */
  readonly channel: string;
  /** The memory that it is for: `host/path`, or an absolute folder. */
  readonly memory: string;
  /** Repository id of the session; `none` where it has none. */
  readonly repo: string;
  readonly at: EpochSeconds;
}

/** Where a memory's notes wait on this laptop until `collect` carries them. */
export function spoolOf(stateFolder: string, memory: string): string {
  return join(stateFolder, 'notes', sha256(memory).slice(0, 16));
}

/**
 * Puts a note into the spool: `about/<name>.json` says whose it is, then `extensions/ad_hoc/notes/<name>` holds it
 * verbatim. One without the other is an attempt that died, and no note.
 * @returns false where there is one of that name; it stays as it was.
 * @throws MemoryError where the spool cannot be written, or a link stands in it.
 */
export async function spoolNote(stateFolder: string, note: Note, origin: NoteOrigin): Promise<boolean> {
  const spool = spoolOf(stateFolder, origin.memory);
  try {
    await makeFolder(stateFolder, 0o700);
    const place = await folderIn(spool, notesFolder, stateFolder);
    const about = join(await folderIn(spool, 'about', stateFolder), `${note.name}.json`);
    const { authority, channel, memory, repo, at } = origin;
    const words = { format: 'ctm-note', version: 1, authority, channel, memory, repo, at: isoTime(at) };
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
