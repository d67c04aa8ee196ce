import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { byBinary } from '../shared/files.ts';

/** The folder beside `<session>.jsonl` that holds its sub-agents' transcripts and its large outputs. */
export function sideFolderOf(path: string): string {
  return path.replace(/\.jsonl$/, '');
}

/** The sub-agents' transcripts of a session, by name: the first has index 1. */
export async function sideFilesOf(path: string): Promise<string[]> {
  const folder = join(sideFolderOf(path), 'subagents');
  if (!isRealFolder(sideFolderOf(path)) || !isRealFolder(folder)) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => entry.name)
    .sort(byBinary)
    .map((name) => join(folder, name));
}

/** Every file that a session has beside its own. */
export async function filesOfSession(path: string): Promise<string[]> {
  const folder = sideFolderOf(path);
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return [];
  return [
    ...(await sideFilesOf(path)),
    ...(await namesIn(join(folder, outputs))).map((name) => join(folder, outputs, name)),
  ];
}

const outputs = 'tool-results';
const headBytes = 24 * 1024;
const tailBytes = 8 * 1024;

/**
 * Head and tail of an output that was moved to a file of the session's own folder.
 * @param name a plain file name (`persistedName`).
 * @returns null where there is no such regular file; a symbolic link is none.
 */
export function persistedText(folder: string, name: string): string | null {
  let file: number;
  try {
    file = openSync(join(folder, outputs, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return null;
    if (stat.size <= headBytes + tailBytes) return piece(file, 0, stat.size);
    const gap = `\n[… ${stat.size - headBytes - tailBytes} bytes omitted …]\n`;
    return piece(file, 0, headBytes) + gap + piece(file, stat.size - tailBytes, tailBytes);
  } finally {
    closeSync(file);
  }
}

function piece(file: number, from: number, length: number): string {
  const bytes = Buffer.alloc(length);
  return bytes.toString('utf8', 0, readSync(file, bytes, 0, length, from));
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort(byBinary);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

/** At once, and without an error where nothing is: most sessions have none, and each is asked for. */
function isRealFolder(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EACCES';
}
