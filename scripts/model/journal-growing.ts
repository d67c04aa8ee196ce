import { closeSync, fdatasync, openSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { appending, writeError } from './journal-files.ts';

/** A file to whose end whole lines are written, made by the first of them. */
export interface GrowingFile {
  /** Flushed to the disk before it returns; what comes while a flush is under way shares the next one. */
  add(lines: string): Promise<void>;
  /** Nothing more belongs there: it is long enough, or a write went wrong and may have left half a line. */
  isOver(): boolean;
}

/** Bytes: well below what is read at once. */
export const enough = 8 * 1024 * 1024;

/** @param place in a folder of the journal. @throws (add) MemoryError when it cannot be written. */
export function growingFile(place: string): GrowingFile {
  let file: number | null = null;
  let bytes = 0;
  let writers = 0;
  let flushing: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const flush = (open: number): Promise<void> => {
    if (flushing === null) {
      flushing = flushed(open).finally(() => {
        flushing = null;
      });
      return flushing;
    }
    next ??= flushing
      .catch(() => undefined)
      .then(() => {
        next = null;
        return flush(open);
      });
    return next;
  };
  return {
    isOver: () => bytes >= enough,
    async add(lines) {
      writers += 1;
      try {
        file ??= openSync(place, appending, 0o600);
        writeFileSync(file, lines);
        bytes += Buffer.byteLength(lines);
        await flush(file);
      } catch (thrown) {
        bytes = enough;
        throw writeError(place, thrown);
      } finally {
        writers -= 1;
        if (writers === 0 && file !== null) {
          closeSync(file);
          file = null;
        }
      }
    },
  };
}

/** The disk is what one waits for; the rest is quicker done than awaited. */
const flushed = promisify(fdatasync);
