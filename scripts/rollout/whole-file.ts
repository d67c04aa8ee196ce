import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * A regular file's bytes as they are when it is opened.
 * @returns null where it has more than `most` bytes, or is no regular file.
 * @throws what the file system says; a symbolic link is refused (`ELOOP`).
 */
export function wholeFile(path: string, most: number): Buffer | null {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size > most) return null;
    const bytes = Buffer.alloc(found.size);
    let read = 0;
    while (read < bytes.length) {
      const part = readSync(file, bytes, read, bytes.length - read, read);
      if (part === 0) break;
      read += part;
    }
    return bytes.subarray(0, read);
  } finally {
    closeSync(file);
  }
}

/** The text of a small file that an agent may have written, or null where there is no such file to read. */
export function textBeside(path: string, most: number): string | null {
  try {
    return wholeFile(path, most)?.toString('utf8') ?? null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'EPERM', 'ENAMETOOLONG'].includes(code)) return null;
    throw error;
  }
}
