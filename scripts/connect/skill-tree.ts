import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { byBinary } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import { skillScope } from '../workspace/skill.ts';

/** A skill's files: path below its folder to bytes. */
export type SkillFiles = ReadonlyMap<string, Buffer>;

export interface Skill {
  readonly name: string;
  /** Its folder in the clone. */
  readonly folder: string;
  readonly files: SkillFiles;
}

/** The skills of a folder that hold for these repositories or for all, and why others are left out. */
export async function readSkills(
  folder: string,
  repositories: readonly string[],
): Promise<{
  readonly skills: readonly Skill[];
  readonly refused: readonly { readonly name: string; readonly why: string }[];
}> {
  const skills: Skill[] = [];
  const refused: { name: string; why: string }[] = [];
  for (const name of (await namesIn(folder)).toSorted(byBinary)) {
    const own = join(folder, name);
    const fault = nameForm.test(name) && name.length <= 64 ? null : 'its name is no skill’s';
    const read = fault ?? (await filesBelow(own));
    if (typeof read === 'string') {
      refused.push({ name, why: read });
      continue;
    }
    const text = read.get('SKILL.md')?.toString('utf8');
    const scope = text === undefined ? null : skillScope(text);
    if (text === undefined) refused.push({ name, why: 'it has no SKILL.md' });
    else if (scope === null || scope === '*' || repositories.includes(scope))
      skills.push({ name, folder: own, files: read });
    else refused.push({ name, why: `it is of ${scope}` });
  }
  return { skills, refused };
}

/**
 * The files of a folder. @returns why it is not taken, as a sentence's rest: a link or a special file would lead out of
 * the repository, and too much is no skill.
 */
export async function filesBelow(folder: string): Promise<SkillFiles | string> {
  const files = new Map<string, Buffer>();
  const open = [''];
  let bytes = 0;
  for (let below = open.pop(); below !== undefined; below = open.pop()) {
    for (const name of await readdir(join(folder, below))) {
      const path = below === '' ? name : `${below}/${name}`;
      const facts = await lstat(join(folder, path));
      if (facts.isSymbolicLink()) return `${path} is a symbolic link`;
      if (facts.isDirectory()) open.push(path);
      else if (!facts.isFile()) return `${path} is no file`;
      else {
        bytes += facts.size;
        if (bytes > mostBytes || files.size >= mostFiles) return 'it is larger than 4 MB or 200 files';
        files.set(path, await readFile(join(folder, path)));
      }
    }
  }
  return files;
}

export async function writeSkill(folder: string, files: SkillFiles): Promise<void> {
  await mkdir(folder);
  for (const [path, bytes] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytes);
  }
}

/** Equal for equal files. */
export function hashOfFiles(files: SkillFiles): string {
  const lines = [...files].map(([path, bytes]) => `${path}\n${sha256(bytes.toString('latin1'))}\n`);
  return sha256(lines.sort(byBinary).join(''));
}

const nameForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const mostBytes = 4 * 1024 * 1024;
const mostFiles = 200;

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    const facts = await lstat(folder);
    if (!facts.isDirectory()) return [];
    return (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.isFile()).map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
