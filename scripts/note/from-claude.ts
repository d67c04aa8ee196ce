import { lstat, open, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { byBinary } from '../shared/files.ts';
import { jsonFields } from '../shared/json.ts';
import { entriesOf, type Found, type ImportPlace, type Memories, requireFolder, textOf } from './memories.ts';
import { repositoryAt } from './place.ts';

/**
 * Claude Code's own notes, `projects/<slug>/memory/*.md`, of included repositories. Which repository a project is says
 * its newest session whose folder is there still: the slug alone cannot be turned back.
 * @param projects the folder `projects`, or one project in it.
 * @source spec §10
 */
export async function claudeMemories(projects: string, place: ImportPlace): Promise<Memories> {
  await requireFolder(projects);
  const isOne = (await entriesOf(projects, 'folder')).includes('memory');
  const folders = isOne ? [projects] : (await entriesOf(projects, 'folder')).map((name) => join(projects, name));
  const files: Found[] = [];
  const refused: { path: string; why: string }[] = [];
  for (const folder of folders) {
    const memory = join(folder, 'memory');
    const names = (await entriesOf(memory, 'file')).filter((name) => name.endsWith('.md'));
    if (names.length === 0) continue;
    const repo = await repositoryOfProject(folder, place);
    if (typeof repo !== 'string') {
      refused.push({ path: memory, why: repo.why });
      continue;
    }
    for (const name of names) {
      const path = join(memory, name);
      const read = await textOf(path);
      if ('why' in read) refused.push({ path, why: read.why });
      else files.push({ path, name: name.slice(0, -3), repo, text: read.text });
    }
  }
  return { files, refused };
}

async function repositoryOfProject(
  folder: string,
  { include, checkouts, whyStays }: ImportPlace,
): Promise<string | { readonly why: string }> {
  const cwd = await newestFolder(folder);
  if (cwd === null) return { why: 'no session of it names a folder that is there' };
  const repo = await repositoryAt(cwd, include, checkouts);
  if (repo === null) return { why: 'its folder is in no repository with a remote' };
  const why = whyStays(repo);
  return why === null ? repo : { why };
}

/** The folder of the newest session that names an absolute one that is there. */
async function newestFolder(project: string): Promise<string | null> {
  const sessions = (await entriesOf(project, 'file')).filter((name) => name.endsWith('.jsonl'));
  const dated = await Promise.all(
    sessions.map(async (name) => ({ path: join(project, name), at: (await lstat(join(project, name))).mtimeMs })),
  );
  for (const { path } of dated.sort((a, b) => b.at - a.at || byBinary(a.path, b.path))) {
    const cwd = await folderOfSession(path);
    if (cwd !== null && isAbsolute(cwd) && (await isFolder(cwd))) return cwd;
  }
  return null;
}

/** A session names its folder in its first records. */
const headBytes = 262_144;

async function folderOfSession(path: string): Promise<string | null> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    for (const line of buffer.toString('utf8', 0, bytesRead).split('\n')) {
      const cwd = cwdIn(line);
      if (cwd !== null) return cwd;
    }
    return null;
  } finally {
    await file.close();
  }
}

function cwdIn(line: string): string | null {
  if (!line.includes('"cwd"')) return null;
  const { cwd } = jsonFields(line);
  return typeof cwd === 'string' && !cwd.includes('\0') ? cwd : null;
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
