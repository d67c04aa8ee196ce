import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder with those above it. Where Node's own way says only ENOENT (a disk that is full or mounted for reading
 * only), the error is the system's reason.
 * @returns the first folder that was made; undefined where all were there.
 */
export async function makeFolder(path: string, mode?: number): Promise<string | undefined> {
  try {
    return await mkdir(path, { recursive: true, mode });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const first = firstMissing(path);
    await mkdir(first, { mode });
    await mkdir(path, { recursive: true, mode });
    return first;
  }
}

function isNotFound(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function firstMissing(path: string): string {
  const above = dirname(path);
  return above === path || existsSync(above) ? path : firstMissing(above);
}
