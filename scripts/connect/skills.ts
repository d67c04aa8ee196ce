import { readlink, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../shared/make-folder.ts';
import { foldersFrom, kindOf, removeFolders, requireInside } from './file.ts';
import type { Records } from './records.ts';
import { filesBelow, hashOfFiles, type Skill, writeSkill } from './skill-tree.ts';
import type { Machine, Where } from './targets.ts';

/** A skill that we put somewhere. */
export interface PlacedSkill {
  readonly path: string;
  readonly kind: 'link' | 'copy';
  /** Of a link: where it leads. Of a copy: `hashOfFiles` as we left it. */
  readonly content: string;
  readonly folders: readonly string[];
}

export interface SkillOutcome {
  readonly path: string;
  readonly outcome: 'linked' | 'copied' | 'unchanged' | 'removed' | 'left';
  /** Of `left`. */
  readonly why: string | null;
}

export interface SkillDesk {
  readonly records: Records<PlacedSkill>;
  /** Of this process alone. */
  readonly token: string;
  readonly within: string | null;
}

/** Where agents look for skills: `.agents/skills` is read by all but Claude Code, which has its own. */
export function skillFolders(where: Where, { env, home }: Machine): readonly string[] {
  if (where.scope !== 'user') return ['.agents/skills', '.claude/skills'].map((path) => join(where.project, path));
  return [join(home, '.agents/skills'), join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'skills')];
}

/** Puts a skill where agents look for it, in the place of our own earlier one; a person's own stays. */
export async function placeSkill(
  skill: Skill,
  folder: string,
  kind: PlacedSkill['kind'],
  desk: SkillDesk,
): Promise<SkillOutcome> {
  const path = join(folder, skill.name);
  if (desk.within !== null) await requireInside(folder, desk.within);
  const content = kind === 'link' ? skill.folder : hashOfFiles(skill.files);
  const record = await desk.records.of(path);
  const standing = await standingAt(path, record);
  if (standing === 'theirs')
    return { path, outcome: 'left', why: 'it is there already and is not ours, or was edited' };
  if (standing === 'ours' && record?.kind === kind && record.content === content)
    return { path, outcome: 'unchanged', why: null };
  const first = await makeFolder(folder);
  const folders = first === undefined ? (record?.folders ?? []) : foldersFrom(first, folder);
  await desk.records.keep({ path, kind, content, folders });
  if (standing === 'ours') await rm(path, { recursive: true });
  if (kind === 'link') await symlink(skill.folder, path);
  else {
    const draft = join(folder, `.commit-to-memory-${desk.token.slice(0, 8)}`);
    await writeSkill(draft, skill.files);
    await rename(draft, path);
  }
  return { path, outcome: kind === 'link' ? 'linked' : 'copied', why: null };
}

/** Removes what we put into a folder, unless somebody edited it or put something else in its place. */
export async function removeSkills(folder: string, { records, within }: SkillDesk): Promise<readonly SkillOutcome[]> {
  const outcomes: SkillOutcome[] = [];
  const made: (readonly string[])[] = [];
  if (within !== null) await requireInside(folder, within);
  for (const record of await records.all()) {
    if (dirname(record.path) !== folder) continue;
    const standing = await standingAt(record.path, record);
    if (standing === 'ours') await rm(record.path, { recursive: true });
    made.push(record.folders);
    await records.drop(record.path);
    const why = standing === 'theirs' ? 'it is not ours any more, or was edited' : null;
    if (standing !== 'absent') outcomes.push({ path: record.path, outcome: why === null ? 'removed' : 'left', why });
  }
  for (const folders of made) await removeFolders(folders);
  return outcomes;
}

export function isPlacedSkill(
  value: Readonly<Record<string, unknown>>,
): value is PlacedSkill & Record<string, unknown> {
  const { path, kind, content, folders } = value;
  return (
    typeof path === 'string' &&
    (kind === 'link' || kind === 'copy') &&
    typeof content === 'string' &&
    Array.isArray(folders) &&
    folders.every((folder) => typeof folder === 'string')
  );
}

/** A link is ours when it leads where we made it lead, a copy when nobody edited it since. */
async function standingAt(path: string, record: PlacedSkill | null): Promise<'absent' | 'ours' | 'theirs'> {
  const kind = await kindOf(path);
  if (kind === null) return 'absent';
  if (record?.kind === 'link' && kind === 'link') return (await readlink(path)) === record.content ? 'ours' : 'theirs';
  if (record?.kind !== 'copy' || kind !== 'folder') return 'theirs';
  const files = await filesBelow(path);
  return typeof files !== 'string' && hashOfFiles(files) === record.content ? 'ours' : 'theirs';
}
