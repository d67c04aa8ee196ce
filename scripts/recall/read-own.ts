import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';

/** Bytes of one memory file that recall reads or keeps. */
export const largestFile = 4 * 1024 * 1024;

/** A file by its path and no other: never through a symbolic link, no device, no folder, not too large. Without a byte order mark. */
export type FileRead =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

export async function readRegular(path: string, limit: number = largestFile): Promise<FileRead> {
  try {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = await open(path, O_RDONLY | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      if (!found.isFile()) return { kind: 'refused', why: 'is no regular file' };
      if (found.size > limit) return { kind: 'refused', why: `is larger than ${limit} bytes` };
      return { kind: 'file', bytes: withoutMark(await contentOf(file, found.size)) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return refusal(error);
  }
}

/** In one step where it has the size that it was said to have: a session waits for every step. */
async function contentOf(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafeSlow(size + 1);
  const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
  return bytesRead === size ? bytes.subarray(0, size) : await file.readFile();
}

/** Whether a folder is one itself, and not what a link leads to. */
export async function isOwnFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
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
