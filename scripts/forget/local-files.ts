import { lstat, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { byBinary } from '../shared/files.ts';

/** A file that is larger holds no note and no answer. */
const largestFile = 64 * 1024 * 1024;

/** The plain files at or below the folders in which something is found; links are not followed. */
export async function filesHolding(
  folders: readonly string[],
  holds: (bytes: Buffer) => boolean,
  signal?: AbortSignal,
): Promise<string[]> {
  const found: string[] = [];
  for (const folder of folders) {
    for await (const path of plainFiles(folder)) {
      signal?.throwIfAborted();
      const { size } = await lstat(path);
      if (size <= largestFile && holds(await readFile(path))) found.push(path);
    }
  }
  return found;
}

/**
 * A note's words and what is known of it go together: a file `about/<name>.json` beside `…/<name>`. Of records that stand
 * a line each, such as a journal's answers, the others stay.
 */
export async function removeHeld(paths: readonly string[], holds: (bytes: Buffer) => boolean): Promise<void> {
  for (const path of paths) {
    const kept = path.endsWith('.jsonl') ? await linesWithout(path, holds) : '';
    if (kept === '') {
      await rm(path, { force: true });
      continue;
    }
    const beside = `${path}.forget.tmp`;
    await writeFile(beside, kept, { mode: 0o600, flush: true });
    await rename(beside, path);
  }
}

/** Empty where what is looked for is found across lines too. */
async function linesWithout(path: string, holds: (bytes: Buffer) => boolean): Promise<string> {
  const text = await readFile(path, 'utf8');
  const kept = text
    .split(/(?<=\n)/)
    .filter((line) => !holds(Buffer.from(line)))
    .join('');
  return holds(Buffer.from(kept)) ? '' : kept;
}

async function* plainFiles(folder: string): AsyncGenerator<string> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  for (const entry of entries.sort((a, b) => byBinary(a.name, b.name))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* plainFiles(path);
    else if (entry.isFile()) yield path;
  }
}
