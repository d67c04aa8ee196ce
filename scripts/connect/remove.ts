import { join, resolve } from 'node:path';
import type { World } from '../shared/main.ts';
import { type Desk, type Outcome, uninstall } from './apply.ts';
import { blockEdit } from './block.ts';
import type { Edit } from './edit.ts';
import { textOf } from './file.ts';
import type { Connected } from './flags.ts';
import { pinnedNames, unpin } from './pinned.ts';
import { pluginEdits } from './plugin.ts';
import type { Report } from './report.ts';
import { removeSkills, type SkillDesk, type SkillOutcome, skillFolders } from './skills.ts';
import { editFor, fileOf, hookAgents, type Where } from './targets.ts';

/** What disconnecting works with. */
export interface Undoing {
  readonly world: World;
  /** Where pinned programs are. */
  readonly cache: string;
  readonly desk: Desk;
  readonly skillDesk: SkillDesk;
}

/** Takes out what `connect` put in. Needs no memory repository: it may be gone by now. */
export async function disconnect(agent: Connected, where: Where, undoing: Undoing): Promise<Report> {
  const { world, cache, desk, skillDesk } = undoing;
  const skills: SkillOutcome[] = [];
  for (const folder of skillFolders(where, world)) skills.push(...(await removeSkills(folder, skillDesk)));
  const files: { path: string; outcome: Outcome }[] = [];
  const named = new Set<string>();
  for (const edit of editsOf(agent, where, world).toReversed()) {
    for (const folder of await pinnedBy(edit.path, undoing)) named.add(folder);
    files.push({ path: edit.path, outcome: await uninstall(edit, desk) });
  }
  const used = await stillUsed(undoing);
  const pinned = await unpin(
    cache,
    [...named].filter((folder) => !used.has(folder)),
  );
  const base = { agent, action: 'removed' as const, scope: where.scope, memory: null, recall: false, collect: false };
  return { ...base, files, skills, pinned, notes: [] };
}

function editsOf(agent: Connected, where: Where, world: World): readonly Edit[] {
  const wanted = { memory: '', collect: '', folder: '' };
  if (agent === 'agents-md') return where.scope === 'user' ? [] : [blockEdit(join(where.project, 'AGENTS.md'), '')];
  const plugin = world.flags.valueOf('plugin');
  if (plugin === undefined) return [editFor(agent, where, wanted, world)];
  const programs = new Map(['recall.cjs', 'collect.mjs', 'collector.mjs'].map((name) => [name, '']));
  return pluginEdits(resolve(world.cwd, plugin), '', wanted, programs);
}

/** The pinned folders that a file names, or has named since it was connected. */
async function pinnedBy(path: string, { cache, desk }: Undoing): Promise<readonly string[]> {
  const record = await desk.records.of(path);
  return [...(record?.pinned ?? []), ...pinnedNames(await textOf(path)).map((name) => join(cache, name))];
}

/** Those that other connected agents run: by our records, and by what their files say. */
async function stillUsed({ world, cache, desk }: Undoing): Promise<ReadonlySet<string>> {
  const paths = (await desk.records.all()).map(({ path }) => path);
  for (const agent of hookAgents) paths.push(fileOf(agent, { scope: 'user' }, world));
  const texts = await Promise.all(paths.map(textOf));
  return new Set(texts.flatMap(pinnedNames).map((name) => join(cache, name)));
}
