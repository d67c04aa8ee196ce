import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeUtf8 } from '../git/objects.ts';
import type { Leaf, Repository } from '../git/types.ts';
import { MemoryError, messageOf } from '../shared/errors.ts';
import { byBinary, type Files, type Oid } from '../shared/files.ts';
import { pathFault } from '../shared/safe-path.ts';
import { statePath } from '../state/current.ts';
import type { Finding } from './finding.ts';

/** What is to be judged. */
export interface Tree {
  /** The texts at `state.sqlite.json` and below `memories/`, CRLF read as LF, by path. */
  readonly files: Files;
  /** What stands there and is no plain text file. */
  readonly odd: readonly Finding[];
}

/** The files of a commit; null is a branch that has none. */
export async function committedTree(repository: Repository, commit: Oid | null): Promise<Tree> {
  if (commit === null) return { files: new Map(), odd: [] };
  const files = await repository.readFiles(commit, roots);
  const leaves = await repository.leaves(commit, roots);
  return { files, odd: leaves.flatMap(({ path, kind }) => oddities(path, kind, files.has(path))) };
}

/** The files as they stand in the working tree. Links are not followed. */
export async function workingTree(workTree: string): Promise<Tree> {
  const files = new Map<string, string>();
  const odd: Finding[] = [];
  const visit = async (path: string): Promise<void> => {
    const place = join(workTree, path);
    const kind = await kindAt(place);
    if (kind === null) return;
    if (kind === 'folder') {
      for (const name of (await readdir(place)).sort(byBinary)) await visit(`${path}/${name}`);
      return;
    }
    const isPlain = kind === 'file' || kind === 'executable';
    const text = isPlain && pathFault(path) === null ? await textAt(place) : null;
    if (text !== null) files.set(path, text);
    odd.push(...oddities(path, kind, text !== null));
  };
  try {
    for (const root of roots) await visit(root);
  } catch (error) {
    throw new MemoryError(`The files cannot be read: ${messageOf(error)}.`, 'Check who may read memories/.', {
      cause: error,
    });
  }
  return { files: new Map([...files].sort(([a], [b]) => byBinary(a, b))), odd };
}

/** A file beside the memory: the working tree's, of a bare repository HEAD's; null where there is none. */
export async function textBeside(repository: Repository, head: Oid | null, path: string): Promise<string | null> {
  const { workTree } = repository;
  if (workTree !== null) return (await kindAt(join(workTree, path))) === 'file' ? textAt(join(workTree, path)) : null;
  return head === null ? null : ((await repository.readFiles(head, [path])).get(path) ?? null);
}

const roots = ['memories', statePath] as const;

type Kind = Leaf['kind'] | 'folder' | 'device';

async function kindAt(place: string): Promise<Kind | null> {
  try {
    const stats = await lstat(place);
    if (stats.isSymbolicLink()) return 'link';
    if (stats.isDirectory()) return (await isRepository(place)) ? 'repository' : 'folder';
    if (!stats.isFile()) return 'device';
    return (stats.mode & 0o100) === 0 ? 'file' : 'executable';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function isRepository(place: string): Promise<boolean> {
  return (await readdir(place)).includes('.git');
}

/** @returns null for what is no UTF-8 text, as Git's reader says it. */
async function textAt(place: string): Promise<string | null> {
  const bytes = await readFile(place);
  return bytes.includes(0) ? null : (decodeUtf8(bytes)?.replaceAll('\r\n', '\n') ?? null);
}

function oddities(path: string, kind: Exclude<Kind, 'folder'>, isText: boolean): Finding[] {
  const say = (rule: string, message: string, remedy: string, severity: Finding['severity'] = 'error'): Finding[] => [
    { severity, rule, path, line: 1, message, remedy },
  ];
  switch (kind) {
    case 'link':
      return say(
        'file.link',
        'A symbolic link: whoever reads it would read another file.',
        'Put the file itself there.',
      );
    case 'repository':
      return say('file.kind', 'A repository of its own stands here.', 'Take it out: memory files are plain files.');
    case 'device':
      return say('file.kind', 'This is no file.', 'Take it out: memory files are plain files.');
    case 'file':
    case 'executable': {
      const fault = pathFault(path);
      if (fault !== null) return say('path.name', `The name ${fault}.`, 'Rename the file or take it out.');
      if (!isText) return say('file.text', 'This is no UTF-8 text.', 'Take it out: memory files are UTF-8 text.');
      if (kind === 'file') return [];
      return say('file.mode', 'The file is executable.', `Make it a plain file: chmod -x '${path}'`, 'warning');
    }
  }
}
