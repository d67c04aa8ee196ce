import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';

/** A folder of files, owner's only. Links are never followed. */
export interface JournalFolder {
  /** Names of its plain files, in binary order. Left-over unfinished ones are removed first. */
  names(): string[];
  /** @throws Error for a link, a folder, a file over 16 MB or one that cannot be read. */
  read(name: string): string;
  /** Written beside its place, flushed to the disk, then moved there, before anything else happens. */
  writeNow(name: string, text: string): void;
  /**
   * To the end of a file that is made where it is missing, at once and not flushed: outlives the process only. The file
   * stays open until `close`, `remove` or a write that fails.
   */
  append(name: string, text: string): void;
  close(name: string): void;
  remove(name: string): void;
}

/** @throws MemoryError when the folder cannot be made. */
export function openFolder(path: string): JournalFolder {
  let unfinished = 0;
  const growing = new Map<string, number>();
  const close = (name: string): void => {
    const file = growing.get(name);
    growing.delete(name);
    if (file !== undefined) closeSync(file);
  };
  attempt(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  return {
    names() {
      const files = readdirSync(path, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
      for (const { name } of files.filter((entry) => entry.name.endsWith('.tmp')))
        rmSync(join(path, name), { force: true });
      return files
        .map((entry) => entry.name)
        .filter((name) => !name.endsWith('.tmp'))
        .sort(byBinary);
    },
    read: (name) => readSmall(join(path, name)),
    writeNow(name, text) {
      const beside = join(path, `${name}.${++unfinished}.tmp`);
      attempt(path, () => {
        const file = openSync(beside, 'wx', 0o600);
        try {
          writeFileSync(file, text);
          fsyncSync(file);
        } finally {
          closeSync(file);
        }
        renameSync(beside, join(path, name));
      });
    },
    append: (name, text) =>
      attempt(path, () => {
        const file = growing.get(name) ?? openSync(join(path, name), appending, 0o600);
        growing.set(name, file);
        try {
          writeFileSync(file, text);
        } catch (error) {
          close(name);
          throw error;
        }
      }),
    close,
    remove: (name) =>
      attempt(path, () => {
        close(name);
        rmSync(join(path, name), { force: true });
      }),
  };
}

/** The same folder to be looked at: nothing is made or removed, and one that is missing holds nothing. */
export function lookInto(path: string): Pick<JournalFolder, 'names' | 'read'> {
  return {
    names() {
      if (!existsSync(path)) return [];
      const files = readdirSync(path, { withFileTypes: true }).filter((entry) => !entry.isDirectory());
      return files
        .map((entry) => entry.name)
        .filter((name) => !name.endsWith('.tmp'))
        .sort(byBinary);
    },
    read: (name) => readSmall(join(path, name)),
  };
}

/** Made where it is missing; a link is not followed. */
export const appending = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

const largestFile = 16 * 1024 * 1024;

/** @throws Error for a link, a folder, a file over 16 MB or one that cannot be read. */
function readSmall(place: string): string {
  const file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const { size } = fstatSync(file);
    if (!fstatSync(file).isFile() || size > largestFile) throw new Error('no plain file, or too large');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function attempt(path: string, change: () => void): void {
  try {
    change();
  } catch (thrown) {
    throw writeError(path, thrown);
  }
}

/** @param path of the folder or of what could not be written in it. */
export function writeError(path: string, thrown: unknown): MemoryError {
  return new MemoryError(
    `The journal in ${path} cannot be written: ${messageOf(thrown)}.`,
    'Free some space on the disk or make the folder writable; what has been paid for and written is used by the next run.',
    { cause: thrown },
  );
}
