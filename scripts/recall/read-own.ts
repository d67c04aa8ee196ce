import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';

/** Bytes of one memory file that recall reads or keeps. */
export const largestFile = 4 * 1024 * 1024;

/** A file by its path and no other: never through a symbolic link, no device, no folder, not too large. */
export type FileRead =
  | { readonly kind: 'text'; readonly text: string }
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
      return { kind: 'text', text: withoutMark((await file.readFile()).toString('utf8')) };
    } finally {
      await file.close();
    }
  } catch (error) {
    return refusal(error);
  }
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

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function refusal(error: unknown): FileRead {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
  if (code === 'ELOOP') return { kind: 'refused', why: 'is a symbolic link' };
  if (code === undefined) throw error;
  return { kind: 'refused', why: `cannot be read (${code})` };
}
