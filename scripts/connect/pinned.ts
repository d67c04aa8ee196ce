import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { MemoryError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';

/** Programs of this version as files that stand alone, by their names. */
export type Programs = ReadonlyMap<string, string>;

/** The folder of the programs of one version: `<version>-<first 8 hex digits of their sha256>`. */
export interface Pinned {
  readonly folder: string;
  readonly programs: Programs;
}

/** Where pinned programs are: `CTM_HOME`, else the cache folder of the XDG base directories. */
export function cacheOf(env: Readonly<Record<string, string | undefined>>, home: string): string {
  const cache = env.CTM_HOME ? join(env.CTM_HOME, 'cache') : env.XDG_CACHE_HOME || join(home, '.cache');
  return join(cache, 'commit-to-memory');
}

export function pinnedAt(cache: string, version: string, programs: Programs): Pinned {
  const whole = [...programs].sort(([a], [b]) => byBinary(a, b)).map(([name, text]) => `${name}\n${sha256(text)}\n`);
  return { folder: join(cache, `${version}-${sha256(whole.join('')).slice(0, 8)}`), programs };
}

/**
 * Writes the programs, each whole or not at all; what is there already and right is left.
 * @param token of this process alone.
 */
export async function pin({ folder, programs }: Pinned, token: string): Promise<void> {
  if (folder.includes('\\'))
    throw new MemoryError(
      `Node runs no program below a folder with a backslash in its name, such as ${folder}; nothing was connected.`,
      'Name another folder for what this program keeps: CTM_HOME.',
    );
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const [name, text] of programs) await writeProgram(join(folder, name), text, token);
  } catch (error) {
    throw new MemoryError(
      `${folder} cannot be written (${codeOf(error)}), so nothing was connected.`,
      'Correct its rights, or name another folder: CTM_HOME.',
      { cause: error },
    );
  }
}

/** Removes pinned folders of ours, by their paths; anything else stays. */
export async function unpin(cache: string, folders: Iterable<string>): Promise<readonly string[]> {
  const gone: string[] = [];
  for (const folder of folders) {
    if (dirname(folder) !== cache || !folderForm.test(folder)) continue;
    await rm(folder, { recursive: true, force: true });
    gone.push(folder);
  }
  const isBare = await readdir(cache).then(
    (names) => names.length === 0,
    () => false,
  );
  if (isBare) await rmdir(cache);
  return gone;
}

/** A command runs a pinned program of ours, of whatever version. */
export function isOurs(command: string): boolean {
  return programForm.test(command);
}

/** The names of the pinned folders that a text mentions. */
export function pinnedNames(text: string): readonly string[] {
  return [...text.matchAll(new RegExp(programForm, 'g'))].map((match) => match[1] ?? '');
}

const programForm = /commit-to-memory[\\/]+(\d+\.\d+\.\d+[0-9A-Za-z.+-]*-[0-9a-f]{8})[\\/]+(?:recall|collect)\.[cm]js/;
const folderForm = /[\\/]commit-to-memory[\\/]\d+\.\d+\.\d+[0-9A-Za-z.+-]*-[0-9a-f]{8}$/;

async function writeProgram(path: string, text: string, token: string): Promise<void> {
  const standing = await readFile(path, 'utf8').catch(() => null);
  if (standing === text) return;
  await writeFile(`${path}.${token}`, text, { mode: 0o644 });
  await rename(`${path}.${token}`, path);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown reason';
}
