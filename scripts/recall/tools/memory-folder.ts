import { constants, lstatSync, readdirSync, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { byBinary } from '../../shared/files.ts';
import { pathFault } from '../../shared/safe-path.ts';
import { withoutHidden } from '../../shared/sanitize.ts';
import { limits } from './limits.ts';
import { ToolError } from './tool-error.ts';

/** Something below the memory's root. */
export interface Entry {
  /** Relative to the root, `/` between parts; '' is the root. */
  readonly path: string;
  readonly kind: 'file' | 'folder';
  readonly bytes: number;
  /** Changes with the file: for who keeps what was read. */
  readonly version: string;
}

/** A memory's files on disk as the tools may see them: nothing hidden, no symbolic link, nothing outside. */
export interface MemoryFolder {
  /** @throws ToolError for a path that leads elsewhere, is hidden, a link, or is not there. */
  find(path: string | undefined): Entry;
  /** What stands in a folder, one level deep, by path. */
  entriesOf(folder: Entry): readonly Entry[];
  /** All files at or below an entry, by path. @throws ToolError where there are too many. */
  filesBelow(entry: Entry): readonly Entry[];
  /** A file's text without what no reader sees, so lines stay where they are; null where it is no UTF-8 or too large. */
  textOf(file: Entry): Promise<string | null>;
}

/** @param root the folder `memories` of a clone. */
export function openMemoryFolder(root: string): MemoryFolder {
  const at = (path: string) => (path === '' ? root : join(root, path));
  const entryAt = (path: string): Entry | 'link' | null => {
    const found = statusOf(at(path));
    if (found === null) return null;
    return found.isSymbolicLink() ? 'link' : entryOf(path, found);
  };
  const entriesOf = (folder: Entry): Entry[] => {
    const names = namesIn(at(folder.path)).filter((name) => !name.startsWith('.') && pathFault(name) === null);
    const paths = names.map((name) => (folder.path === '' ? name : `${folder.path}/${name}`)).sort(byBinary);
    return paths.map(entryAt).filter((entry) => entry !== null && entry !== 'link');
  };
  const kept = new Map<string, Kept>();
  let keptCharacters = 0;
  return {
    find(path) {
      const parts = partsOf(path ?? '');
      let entry = entryAt('');
      if (entry === null) throw new ToolError('There is no memory here yet.', 'Go on without it.');
      for (const [index, part] of parts.entries()) {
        if (entry === null || entry === 'link') break;
        if (entry.kind === 'file') throw asFolder(parts.slice(0, index).join('/'));
        entry = entryAt(entry.path === '' ? part : `${entry.path}/${part}`);
      }
      if (entry === 'link')
        throw new ToolError(`A symbolic link stands at “${shown(path ?? '')}”.`, 'It is not followed: see list.');
      if (entry === null) throw notFound(path ?? '');
      return entry;
    },
    entriesOf,
    filesBelow(start) {
      const files: Entry[] = [];
      let seen = 0;
      const walk = (entry: Entry, depth: number): void => {
        seen += 1;
        if (seen > limits.entries) throw tooMany(`more than ${limits.entries} files and folders`);
        if (entry.kind === 'file') files.push(entry);
        else if (depth < limits.depth) for (const inner of entriesOf(entry)) walk(inner, depth + 1);
      };
      walk(start, 0);
      if (files.reduce((sum, { bytes }) => sum + Math.min(bytes, limits.fileBytes), 0) > limits.searchBytes)
        throw tooMany(`more than ${limits.searchBytes / 1_048_576} MiB`);
      return files.sort((a, b) => byBinary(a.path, b.path));
    },
    async textOf(file) {
      const known = kept.get(file.path);
      if (known?.version === file.version) return known.text;
      const text = file.bytes === 0 ? '' : await readText(at(file.path));
      if (keptCharacters > mostKept) {
        kept.clear();
        keptCharacters = 0;
      }
      kept.set(file.path, { version: file.version, text });
      keptCharacters += text?.length ?? 0;
      return text;
    },
  };
}

/** A text as it was read, for the next search. */
interface Kept {
  readonly version: string;
  readonly text: string | null;
}

/** UTF-16 units of texts that are kept, a last one aside. */
const mostKept = 16_777_216;

/** The parts of a path from a model. @throws ToolError */
function partsOf(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.');
  const fault = path.startsWith('/')
    ? 'is absolute'
    : parts.includes('..')
      ? 'leads out of the memory'
      : parts.length > 0 && !parts.some((part) => part.startsWith('.'))
        ? pathFault(parts.join('/'))
        : null;
  if (fault !== null)
    throw new ToolError(
      `The path “${shown(path)}” ${fault}.`,
      'Give one relative to the memory, such as MEMORY.md or rollout_summaries.',
    );
  if (parts.some((part) => part.startsWith('.'))) throw notFound(path);
  return parts;
}

function entryOf(path: string, found: Stats): Entry | null {
  if (!found.isFile() && !found.isDirectory()) return null;
  const kind = found.isFile() ? 'file' : 'folder';
  return { path, kind, bytes: found.size, version: `${found.mtimeMs} ${found.ctimeMs} ${found.size} ${found.ino}` };
}

function statusOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** Opens without following a link that came meanwhile, and without waiting for what is no file. */
async function readText(path: string): Promise<string | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isGone(error) || codeOf(error) === 'ELOOP') return null;
    throw error;
  }
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size > limits.fileBytes) return null;
    return withoutHidden(new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile()));
  } catch (error) {
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') return null;
    throw error;
  } finally {
    await file.close();
  }
}

/** What a folder that changes while it is read, or keeps something to itself, does not show. */
function isGone(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code);
}

function asFolder(path: string): ToolError {
  return new ToolError(`“${shown(path)}” is a file, not a folder.`, 'Read it, or list its folder.');
}

function notFound(path: string): ToolError {
  return new ToolError(`“${shown(path)}” was not found.`, 'Use list to see what there is.');
}

function tooMany(what: string): ToolError {
  return new ToolError(`The memory holds ${what}.`, 'Search one folder or file of it: give a path.');
}

function shown(path: string): string {
  return withoutHidden(path.slice(0, 200)).replace(/\s+/g, ' ');
}
