import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** Bytes of one memory file that recall reads or keeps. */
export const largestFile = 4 * 1024 * 1024;

/** A file by its path and no other: never through a symbolic link, no device, no folder, not too large. Without a byte order mark. */
export type FileRead =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

/**
 * At once, as all that a session's start reads: it has nothing else to do meanwhile, a turn of other threads takes longer
 * than to read a file does, and where a disk hangs nothing of Node's ends before the agent's own patience with its hooks.
 */
export function readRegular(path: string, limit: number = largestFile): FileRead {
  return withRegular(path, limit, (file, size) => ({ kind: 'file', bytes: withoutMark(contentOf(file, size)) }));
}

/**
 * As `readRegular`, piece by piece: memory that is touched for the first time takes longer than to read a file into it.
 * @param take is given what was read, in front what it did not use of the last piece; its buffer is used again.
 * @returns an empty `file`.
 */
export function readPieces(
  path: string,
  take: (bytes: Buffer, isLast: boolean) => number,
  pieceBytes: number = 65_536,
): FileRead {
  return withRegular(path, largestFile, (file) => {
    let buffer = Buffer.allocUnsafeSlow(pieceBytes);
    let kept = 0;
    for (let isFirst = true; ; isFirst = false) {
      if (kept === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
      const bytesRead = readSync(file, buffer, kept, buffer.length - kept, null);
      const bytes = buffer.subarray(0, kept + bytesRead);
      const unmarked = isFirst ? withoutMark(bytes) : bytes;
      const used = take(unmarked, bytesRead === 0);
      if (bytesRead === 0) return { kind: 'file', bytes: Buffer.alloc(0) };
      kept = unmarked.length - used;
      unmarked.copy(buffer, 0, used);
    }
  });
}

function withRegular(path: string, limit: number, use: (file: number, size: number) => FileRead): FileRead {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = openSync(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    try {
      const found = fstatSync(file);
      if (!found.isFile()) return { kind: 'refused', why: 'is no regular file' };
      if (found.size > limit) return { kind: 'refused', why: `is larger than ${limit} bytes` };
      return use(file, found.size);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return refusal(error);
  }
}

/** In one step where it has the size that it was said to have. */
function contentOf(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafeSlow(size + 1);
  const bytesRead = readSync(file, bytes, 0, bytes.length, 0);
  return bytesRead === size ? bytes.subarray(0, size) : readFileSync(file);
}

/** Whether a folder is one itself, and not what a link leads to. */
export function isOwnFolder(path: string): boolean {
  try {
    return lstatSync(path).isDirectory();
  } catch (error) {
    if (refusal(error).kind === 'missing') return false;
    throw error;
  }
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

function refusal(error: unknown): FileRead {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
  if (code === 'ELOOP') return { kind: 'refused', why: 'is a symbolic link' };
  if (code === undefined) throw error;
  return { kind: 'refused', why: `cannot be read (${code})` };
}
