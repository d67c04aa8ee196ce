import type { Oid } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { GitError } from './errors.ts';
import {
  formatTree,
  isFolder,
  isRegularFile,
  type ObjectFormat,
  oidOf,
  type RawObject,
  shownPath,
  type TreeEntry,
  toRaw,
} from './objects.ts';
import type { Trees } from './tree-read.ts';
import type { CommitSpec } from './types.ts';

export interface WrittenTree {
  readonly oid: Oid;
  /** What the repository may lack: new blobs, and the trees on the way to them. */
  readonly objects: ReadonlyMap<Oid, RawObject>;
}

/**
 * Lays changes over a tree. Only the trees on the way to a change are made anew; every other entry keeps its mode and
 * oid, and a folder that became empty goes.
 * @param spec path to text; null deletes, and deleting what is not there changes nothing.
 * @throws GitError for an unsafe path, or one that leads through or onto anything but a folder and a regular file.
 */
export async function rewriteTree(
  trees: Trees,
  format: ObjectFormat,
  base: Oid | null,
  { changes, executable = none }: Pick<CommitSpec, 'changes' | 'executable'>,
): Promise<WrittenTree> {
  const plan = planOf(changes, executable);
  await readAlong(trees, plan, base);
  const objects = new Map<Oid, RawObject>();
  const add = (object: RawObject): Oid => {
    const oid = oidOf(object, format);
    objects.set(oid, object);
    return oid;
  };
  return { oid: build(plan, add) ?? add(emptyTree), objects };
}

interface Folder {
  readonly path: string;
  readonly folders: Map<string, Folder>;
  readonly files: Map<string, NewFile | null>;
  entries: TreeEntry[];
}

interface NewFile {
  readonly mode: '100644' | '100755';
  readonly bytes: Buffer;
}

const none: ReadonlySet<string> = new Set();

const emptyTree: RawObject = { type: 'tree', bytes: Buffer.alloc(0) };

function planOf(changes: CommitSpec['changes'], executable: ReadonlySet<string>): Folder {
  const root = folderAt('');
  for (const [path, content] of changes) {
    const fault = pathFault(path);
    if (fault !== null) throw refused(path, fault);
    const parts = toRaw(path).split('/');
    const name = parts.pop() ?? '';
    let folder = root;
    for (const part of parts) {
      const next: Folder = folder.folders.get(part) ?? folderAt(`${folder.path}${part}/`);
      folder.folders.set(part, next);
      folder = next;
    }
    const mode = executable.has(path) ? '100755' : '100644';
    folder.files.set(name, content === null ? null : { mode, bytes: Buffer.from(content) });
  }
  return root;
}

function folderAt(path: string): Folder {
  return { path, folders: new Map(), files: new Map(), entries: [] };
}

async function readAlong(trees: Trees, root: Folder, base: Oid | null): Promise<void> {
  let level: { readonly folder: Folder; readonly oid: Oid | null }[] = [{ folder: root, oid: base }];
  while (level.length > 0) {
    const read = await trees.read(level.map(({ oid }) => oid));
    const next: typeof level = [];
    level.forEach(({ folder }, at) => {
      folder.entries = read[at] ?? [];
      const known = new Map(folder.entries.map((entry) => [entry.name, entry]));
      refuseObstacles(folder, known);
      for (const [name, child] of folder.folders) next.push({ folder: child, oid: known.get(name)?.oid ?? null });
    });
    level = next;
  }
}

function refuseObstacles(folder: Folder, known: ReadonlyMap<string, TreeEntry>): void {
  for (const name of folder.folders.keys()) {
    const path = shownPath(`${folder.path}${name}`);
    const entry = known.get(name);
    if (entry && !isFolder(entry)) throw refused(path, `is ${kindOf(entry)}, not a folder`);
    if (folder.files.has(name)) throw refused(path, 'would be both a file and a folder');
  }
  for (const name of folder.files.keys()) {
    const entry = known.get(name);
    if (entry && !isRegularFile(entry))
      throw refused(shownPath(`${folder.path}${name}`), `is ${kindOf(entry)}, not a regular file`);
  }
}

/** @returns null for a folder that holds nothing. */
function build(folder: Folder, add: (object: RawObject) => Oid): Oid | null {
  const entries = new Map(folder.entries.map((entry) => [entry.name, entry]));
  for (const [name, file] of folder.files) {
    if (file === null) entries.delete(name);
    else entries.set(name, { mode: file.mode, name, oid: add({ type: 'blob', bytes: file.bytes }) });
  }
  for (const [name, child] of folder.folders) {
    const oid = build(child, add);
    if (oid === null) entries.delete(name);
    else entries.set(name, { mode: '40000', name, oid });
  }
  return entries.size === 0 ? null : add({ type: 'tree', bytes: formatTree([...entries.values()]) });
}

function kindOf(entry: TreeEntry): string {
  if (entry.mode === '120000') return 'a symbolic link';
  if (entry.mode === '160000') return 'a submodule';
  return isFolder(entry) ? 'a folder' : 'a file';
}

function refused(path: string, why: string): GitError {
  return new GitError(
    `Nothing was written: ${JSON.stringify(path.slice(0, 200))} ${why}.`,
    'Make it a plain file in plain folders, commit that, and run it again.',
  );
}
