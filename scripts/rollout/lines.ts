import { createHash, type Hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';

/** Longer lines are counted, never held. */
const maxLineBytes = 16 * 1024 * 1024;

export interface Line {
  /** From 1; blank, bad and over-long lines count too. */
  readonly number: number;
  /** Of its first byte in the file. */
  readonly offset: number;
  /** Without line end and byte order mark; valid only until the visitor returns. Empty when too long. */
  readonly bytes: Buffer;
  readonly tooLong: boolean;
}

export interface FileEnd {
  readonly lines: number;
  readonly bytes: number;
}

const chunkBytes = 512 * 1024;
const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * Visits each line of a file in order. Lines end at `\n` only (U+2028 is text); a last line without one is a line.
 * Reads up to the size that the file had when it was opened, so a session that is being written gives a clean prefix.
 * Holds one chunk and one line, and lets others work between chunks: most files are one, and waiting for it would cost
 * more than reading it. The bytes read are added to `hash`.
 * @throws what the file system says; a symbolic link is refused (`ELOOP`).
 */
export async function eachLine(
  path: string,
  hash: Hash,
  visit: (line: Line) => void,
  signal?: AbortSignal,
): Promise<FileEnd> {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const { size } = fstatSync(file);
    const cutter = lineCutter(visit);
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(size, 1)));
    let position = 0;
    while (position < size) {
      signal?.throwIfAborted();
      const bytesRead = readSync(file, chunk, 0, Math.min(chunk.length, size - position), position);
      if (bytesRead === 0) break;
      const part = chunk.subarray(0, bytesRead);
      hash.update(part);
      cutter.take(part);
      position += bytesRead;
      if (position < size) await setImmediate();
    }
    return { lines: cutter.end(), bytes: position };
  } finally {
    closeSync(file);
  }
}

export function newHash(): Hash {
  return createHash('sha256');
}

function lineCutter(visit: (line: Line) => void): { take(part: Buffer): void; end(): number } {
  let number = 0;
  let offset = 0;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let tooLong = false;

  const hold = (part: Buffer): void => {
    heldBytes += part.length;
    if (heldBytes > maxLineBytes) {
      tooLong = true;
      held = [];
    } else if (part.length > 0) {
      held.push(Buffer.from(part));
    }
  };

  const finish = (last: Buffer): void => {
    const length = heldBytes + last.length;
    const over = tooLong || length > maxLineBytes;
    const whole = over ? Buffer.alloc(0) : held.length === 0 ? last : Buffer.concat([...held, last]);
    number += 1;
    visit({ number, offset, bytes: trimmed(whole, number === 1), tooLong: over });
    offset += length + 1;
    held = [];
    heldBytes = 0;
    tooLong = false;
  };

  return {
    take(part) {
      let from = 0;
      for (let at = part.indexOf(newline); at !== -1; at = part.indexOf(newline, from)) {
        finish(part.subarray(from, at));
        from = at + 1;
      }
      hold(part.subarray(from));
    },
    end() {
      if (heldBytes > 0) finish(Buffer.alloc(0));
      return number;
    },
  };
}

function trimmed(line: Buffer, first: boolean): Buffer {
  const end = line.at(-1) === carriageReturn ? line.length - 1 : line.length;
  const start = first && line.length >= 3 && line.readUIntBE(0, 3) === 0xefbbbf ? 3 : 0;
  return line.subarray(start, Math.max(start, end));
}
