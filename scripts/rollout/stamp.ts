import { lstatSync } from 'node:fs';
import { sha256 } from '../shared/thread-id.ts';
import type { Reader } from './reader.ts';

/** A session's files as they are now, without a look into them: whatever changes one changes its stamp. */
export interface Stamp {
  /** 32 hexadecimal digits. */
  readonly key: string;
  /** When the last of them was written, in milliseconds since 1970 by the clock of their file system. */
  readonly newest: number;
}

/**
 * Sizes, times, inodes and names of a session's file and of those that are read beside it.
 * @returns null where the file is none that is read, or one beside it cannot be looked at.
 */
export async function stampOf(path: string, { filesBeside }: Pick<Reader, 'filesBeside'>): Promise<Stamp | null> {
  try {
    const own = lookAt(path);
    if (own === null || !own.isFile) return null;
    const beside = (await filesBeside(path)).map((file) => ({ file, look: lookAt(file) }));
    const facts = [own.facts, ...beside.flatMap(({ file, look }) => [file, look?.facts ?? 'none'])];
    const newest = [own, ...beside.flatMap(({ look }) => look ?? [])].map(({ written }) => written);
    return {
      key: sha256(facts.join('\n')).slice(0, 32),
      newest: Math.max(...newest),
    };
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}

/** What changes with a file: its change time too, which nobody can set back. */
function lookAt(path: string): { isFile: boolean; facts: string; written: number } | null {
  const found = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return null;
  const { size, mtimeNs, ctimeNs, ino, mode } = found;
  return {
    isFile: found.isFile(),
    facts: [size, mtimeNs, ctimeNs, ino, mode].join(' '),
    written: Number(mtimeNs / 1_000_000n),
  };
}
