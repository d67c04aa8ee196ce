import { GitError } from '../git/errors.ts';
import {
  decodeUtf8,
  fromRaw,
  isFolder,
  type ObjectFormat,
  parseTree,
  shownPath,
  type TreeEntry,
} from '../git/objects.ts';
import { output, type RunGit } from '../git/program.ts';
import { terminalText } from '../shared/escape.ts';
import type { Oid } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { isKnownPath } from '../workspace/layout.ts';
import { isOffIn } from './copy.ts';
import { largestFile } from './read-own.ts';

export interface Extracted {
  /** By path, all of them memory files: regular, not executable, UTF-8. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** false: the repository's configuration switches it off. */
  readonly enabled: boolean;
  /** What was not taken, and why: sentences for a terminal. */
  readonly refused: readonly string[];
}

const most = { depth: 8, entries: 20_000, treeBytes: 2 * 1024 * 1024, allBytes: 64 * 1024 * 1024, named: 20 } as const;

/**
 * Takes the memory files out of a commit that a stranger may have made: trees level by level and only below `memories/`,
 * sizes before contents, nothing through links or submodules. Of other folders only `.github/memory.yml` is looked at.
 * @throws GitError for trees that are made to harm whoever unfolds them.
 */
export async function extract(git: RunGit, commit: Oid, format: ObjectFormat): Promise<Extracted> {
  const objects = objectsIn(git);
  const [root] = await objects.trees([`${commit}^{tree}`], format);
  const refused: string[] = [];
  const leaves = await leavesBelow(
    root?.find(({ name }) => name === 'memories'),
    objects,
    format,
    refused,
  );
  const known = [...leaves].filter(([path, { mode }]) => isWanted(path, mode, refused));
  const wanted = withoutClashes(known, refused);
  const contents = await objects.blobs(wanted.map(([, { oid }]) => oid));
  const files = new Map<string, Buffer>();
  wanted.forEach(([path], at) => {
    const bytes = contents[at] ?? null;
    if (bytes === null) refused.push(`${shown(path)} is too large.`);
    else if (decodeUtf8(bytes) === null) refused.push(`${shown(path)} is no UTF-8 text.`);
    else files.set(path, bytes);
  });
  const more = refused.length - most.named;
  return {
    files,
    enabled: await isEnabled(root ?? [], objects, format),
    refused: more > 0 ? [...refused.slice(0, most.named), `${more} more were refused.`] : refused,
  };
}

interface Objects {
  /** By name; one too large is refused with an error. */
  trees(names: readonly string[], format: ObjectFormat): Promise<TreeEntry[][]>;
  /** null for one that is too large, alone or together with those before it. */
  blobs(oids: readonly Oid[]): Promise<(Buffer | null)[]>;
}

function objectsIn(git: RunGit): Objects {
  const sizes = async (names: readonly string[]): Promise<{ type: string; bytes: number }[]> => {
    const lines = (await batch(git, '--batch-check', names)).toString('latin1').split('\n');
    return names.map((_, at) => {
      const [, type = '', bytes = ''] = (lines[at] ?? '').split(' ');
      return { type, bytes: Number(bytes) };
    });
  };
  return {
    trees: async (names, format) => {
      if (names.length === 0) return [];
      const found = await sizes(names);
      const all = found.reduce((sum, { bytes }) => sum + bytes, 0);
      if (found.some(({ type }) => type !== 'tree') || !(all <= most.treeBytes)) throw harmful();
      return contentsOf(await batch(git, '--batch', names), names.length).map((bytes) => parseTree(bytes, format));
    },
    blobs: async (oids) => {
      const found = oids.length === 0 ? [] : await sizes(oids);
      let left: number = most.allBytes;
      const fits = found.map(({ type, bytes }) => {
        if (type !== 'blob' || !(bytes <= Math.min(left, largestFile))) return false;
        left -= bytes;
        return true;
      });
      const taken = oids.filter((_, at) => fits[at]);
      const contents = taken.length === 0 ? [] : contentsOf(await batch(git, '--batch', taken), taken.length);
      return fits.map((fit) => (fit ? (contents.shift() ?? null) : null));
    },
  };
}

function batch(git: RunGit, how: '--batch' | '--batch-check', names: readonly string[]): Promise<Buffer> {
  return output(git, ['cat-file', how], `${names.join('\n')}\n`);
}

/** `<oid> <type> <size>\n<bytes>\n` for each. */
function contentsOf(bytes: Buffer, count: number): Buffer[] {
  const contents: Buffer[] = [];
  for (let at = 0; contents.length < count; ) {
    const end = bytes.indexOf(0x0a, at);
    const size = Number(bytes.toString('latin1', at, end).split(' ')[2]);
    if (end < 0 || !Number.isInteger(size)) throw new Error('git cat-file ended early');
    contents.push(bytes.subarray(end + 1, end + 1 + size));
    at = end + size + 2;
  }
  return contents;
}

async function leavesBelow(
  top: TreeEntry | undefined,
  objects: Objects,
  format: ObjectFormat,
  refused: string[],
): Promise<Map<string, TreeEntry>> {
  const leaves = new Map<string, TreeEntry>();
  if (top === undefined) return leaves;
  if (!isFolder(top)) refused.push('memories is no folder.');
  let level = isFolder(top) ? [{ path: 'memories', oid: top.oid }] : [];
  let count = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const trees = await objects.trees(
      level.map(({ oid }) => oid),
      format,
    );
    const next: typeof level = [];
    trees.forEach((entries, at) => {
      count += entries.length;
      for (const entry of entries) {
        const path = `${level[at]?.path ?? ''}/${entry.name}`;
        if (isFolder(entry)) next.push({ path, oid: entry.oid });
        else leaves.set(path, entry);
      }
    });
    if (depth >= most.depth || count > most.entries) throw harmful();
    level = next;
  }
  return new Map([...leaves].flatMap(([raw, entry]) => named(raw, entry, refused)));
}

/** Its path as text; nothing where no file may have it. */
function named(raw: string, entry: TreeEntry, refused: string[]): [string, TreeEntry][] {
  const path = fromRaw(raw);
  const fault = path === null ? 'is no UTF-8' : pathFault(path);
  if (path !== null && fault === null) return [[path, entry]];
  refused.push(`${shown(shownPath(raw))} ${fault}.`);
  return [];
}

function isWanted(path: string, mode: string, refused: string[]): boolean {
  if (!isKnownPath(path)) return false;
  if (mode === '100644') return true;
  const what = { '120000': 'is a symbolic link', '160000': 'is a submodule', '100755': 'is executable' }[mode];
  refused.push(`${shown(path)} ${what ?? `has the mode ${mode}`}.`);
  return false;
}

/** On some file systems case makes no difference, and a tree made by hand may hold a file and a folder of one name. */
function withoutClashes(
  leaves: readonly [path: string, entry: TreeEntry][],
  refused: string[],
): [path: string, entry: TreeEntry][] {
  const taken = new Set<string>();
  const folders = new Set(leaves.flatMap(([path]) => foldersOf(path.toLowerCase())));
  return leaves.filter(([path]) => {
    const name = path.toLowerCase();
    const isFree = !taken.has(name) && !folders.has(name);
    if (isFree) taken.add(name);
    else refused.push(`${shown(path)} has the name of another one.`);
    return isFree;
  });
}

function foldersOf(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'));
}

async function isEnabled(root: readonly TreeEntry[], objects: Objects, format: ObjectFormat): Promise<boolean> {
  const folder = root.find((entry) => entry.name === '.github' && isFolder(entry));
  const [entries] = folder === undefined ? [] : await objects.trees([folder.oid], format);
  const file = entries?.find(({ name, mode }) => name === 'memory.yml' && mode.startsWith('100'));
  const [bytes] = file === undefined ? [] : await objects.blobs([file.oid]);
  return bytes == null || !isOffIn(bytes.toString('utf8'));
}

function shown(path: string): string {
  return terminalText(path.length <= 200 ? path : `${path.slice(0, 199)}…`);
}

function harmful(): GitError {
  return new GitError(
    'The memory repository’s folders are larger than any memory’s, or damaged.',
    'Such a tree is made to harm its readers: see who may write to it. The copy that is here stays.',
  );
}
