import { stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type ExitCode, exitCodes, MemoryError, UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { type Desk, install, type Outcome } from './apply.ts';
import { blockEdit } from './block.ts';
import { besideAgentsFile, besideHook, type Duplicate } from './duplicates.ts';
import type { Edit } from './edit.ts';
import { textOf } from './file.ts';
import { agentOf, type Connected, whereOf } from './flags.ts';
import { mcpText } from './mcp.ts';
import { notesFor } from './notes.ts';
import { cacheOf, type Pinned, pin, pinnedAt } from './pinned.ts';
import { pluginEdits } from './plugin.ts';
import { isChange } from './record.ts';
import { recordsIn } from './records.ts';
import { disconnect } from './remove.ts';
import { type Report, reportJson, reportText } from './report.ts';
import type { MemoryPlace, Setup } from './setup.ts';
import { readSkills } from './skill-tree.ts';
import { isPlacedSkill, placeSkill, type SkillOutcome, skillFolders } from './skills.ts';
import { editFor, type Where } from './targets.ts';

/** Connects an agent, disconnects it, or shows how, as the command line says. @returns 3 where something of ours had to be left. */
export async function connectCommand(world: World, setup: Setup): Promise<ExitCode> {
  const { flags, cwd, log } = world;
  const agent = agentOf(flags);
  if (flags.isOn('mcp') || agent === 'any') return showMcp(world, setup, agent);
  requirePosix(platform());
  const where = whereOf(flags, agent, cwd);
  const report = flags.isOn('remove')
    ? await disconnect(agent, where, { world, cache: cacheOf(world.env, world.home), ...desksOf(world, setup, where) })
    : await connect(agent, where, world, setup);
  log.result(flags.isOn('json') ? reportJson(report) : reportText(report));
  const isLeft = [...report.files, ...report.skills].some(({ outcome }) => outcome === 'left');
  return isLeft ? exitCodes.partly : exitCodes.done;
}

async function connect(agent: Connected, where: Where, world: World, setup: Setup): Promise<Report> {
  const { flags, self } = world;
  if (where.scope !== 'user') await requireFolder(where.project);
  const place = await setup.memory(flags.valueOf('memory'));
  const plan = await planOf(agent, where, place, world, setup);
  const skills = flags.isOn('skills') ? await skillsOf(place, where, setup) : null;
  const isPrint = flags.isOn('print');
  if (!isPrint) refuseTwice(plan.duplicates, world);
  const { desk, skillDesk } = desksOf(world, setup, where);
  const base = { agent, scope: where.scope, memory: place.named, recall: true, collect: plan.collects };
  if (isPrint) {
    const files = plan.edits.map(({ path, shown }) => ({ path, outcome: 'printed' as const, text: shown }));
    return { ...base, action: 'printed', files, skills: [], pinned: [], notes: [] };
  }
  if (plan.pinned !== null) await pin(plan.pinned, self.token);
  const files: { path: string; outcome: Outcome }[] = [];
  for (const edit of plan.edits)
    files.push({ path: edit.path, outcome: await install(edit, plan.pinned?.folder ?? null, desk) });
  const placed: SkillOutcome[] = [];
  for (const skill of skills?.skills ?? [])
    for (const folder of skillFolders(where, world))
      placed.push(await placeSkill(skill, folder, flags.isOn('copy') ? 'copy' : 'link', skillDesk));
  const notes = [
    ...notesFor(agent, where, place, await settingsOf(agent, plan.edits)),
    ...(flags.valueOf('plugin') === undefined ? [] : [pluginNote]),
    ...(skills?.refused ?? []).map(({ name, why }) => `The skill ${name} was left out: ${why}.`),
  ];
  const pinned = plan.pinned === null ? [] : [plan.pinned.folder];
  return { ...base, action: 'connected', files, skills: placed, pinned, notes };
}

/** What the agent's settings say now, for what may be off in them; Codex has two files. */
async function settingsOf(agent: Connected, edits: readonly Edit[]): Promise<string> {
  const paths = edits.map(({ path }) => path);
  const more = agent === 'codex' ? paths.map((path) => join(dirname(path), 'config.toml')) : [];
  return (await Promise.all([...paths, ...more].map(textOf))).join('\n');
}

const pluginNote = 'Where the plugin is enabled, connect claude-code without --plugin would give the memory twice.';

interface Plan {
  readonly edits: readonly Edit[];
  readonly pinned: Pinned | null;
  readonly collects: boolean;
  readonly duplicates: readonly Duplicate[];
}

async function planOf(agent: Connected, where: Where, place: MemoryPlace, world: World, setup: Setup): Promise<Plan> {
  if (agent === 'agents-md') {
    const project = where.scope === 'user' ? world.cwd : where.project;
    const edits = [blockEdit(join(project, 'AGENTS.md'), await textFor(place, project, setup))];
    return { edits, pinned: null, collects: false, duplicates: await besideAgentsFile(project, world) };
  }
  const collect = place.consented && agent !== 'opencode' ? place.clone : null;
  const wanted = { memory: place.named, collect };
  const programs = await setup.programs(collect !== null);
  const plugin = world.flags.valueOf('plugin');
  const duplicates = await besideHook(agent, where, world);
  if (plugin !== undefined) {
    const edits = pluginEdits(resolve(world.cwd, plugin), setup.version, wanted, programs);
    return { edits, pinned: null, collects: collect !== null, duplicates };
  }
  const pinned = pinnedAt(cacheOf(world.env, world.home), setup.version, programs);
  const edits = [editFor(agent, where, { ...wanted, folder: pinned.folder }, world)];
  return { edits, pinned, collects: collect !== null, duplicates };
}

/** A file that a team commits names no folder of this machine. */
async function textFor(place: MemoryPlace, project: string, setup: Setup): Promise<string> {
  const text = await setup.recalled(place, project);
  if (text === '')
    throw new MemoryError(
      `The memory in ${place.named} holds nothing for ${project} yet, so AGENTS.md was left as it is.`,
      'Play a night first (npm run nightly), or wait until the copy of an address has arrived and run it again.',
    );
  return text.replace(/`\/[^`\n]*\/MEMORY\.md`/g, () => `\`memories/MEMORY.md\` of ${place.name}`);
}

async function skillsOf({ clone, named }: MemoryPlace, where: Where, setup: Setup) {
  if (clone === null)
    throw new UsageError(
      `Skills are taken from a clone, and ${named} is an address.`,
      'Name a folder: --memory <dir>.',
    );
  const repositories = where.scope === 'user' ? [] : await setup.repositories(where.project);
  return readSkills(join(clone, 'memories/skills'), repositories);
}

async function requireFolder(project: string): Promise<void> {
  const facts = await stat(project).catch(() => null);
  if (facts?.isDirectory() === true) return;
  throw new UsageError(`${project} is no folder.`, 'Name the project’s: --project <dir>.');
}

function refuseTwice(duplicates: readonly Duplicate[], { flags, log }: World): void {
  if (duplicates.length === 0) return;
  const places = duplicates.map(({ agent, path }) => `  ${agent}: ${path}`).join('\n');
  if (flags.isOn('force')) {
    log.warn(`Sessions get the same memory twice, from here and from\n${places}`);
    return;
  }
  throw new UsageError(
    `Nothing was connected, since sessions would get the same memory twice. They get it from\n${places}`,
    `Choose one: ${[...new Set(duplicates.map(({ remedy }) => remedy))].join('; ')}. Or keep both: --force.`,
  );
}

async function showMcp({ flags, env, home, log }: World, setup: Setup, agent: Connected | 'any'): Promise<ExitCode> {
  const { clone, named } = await setup.memory(flags.valueOf('memory'));
  if (clone === null || agent === 'agents-md')
    throw new UsageError(
      `The MCP server runs in a clone, and ${named} is an address.`,
      'Name a folder: --memory <dir>.',
    );
  const text = mcpText(agent, [...setup.server, '--memory', clone], { env, home });
  log.result(flags.isOn('json') ? JSON.stringify({ agent, text }) : text);
  return exitCodes.done;
}

function desksOf({ self: { token } }: World, { state }: Setup, where: Where) {
  const within = where.scope === 'user' ? null : where.project;
  const desk: Desk = { records: recordsIn(join(state, 'connect'), token, isChange), token, within };
  const skillDesk = { records: recordsIn(join(state, 'connect/skills'), token, isPlacedSkill), token, within };
  return { desk, skillDesk };
}

/** Hooks' commands are written for the shells of Linux and macOS. */
function requirePosix(system: string): void {
  if (system !== 'win32') return;
  throw new UsageError(
    'connect writes commands for the shells of Linux and macOS.',
    'On Windows run the agent and this command within WSL.',
  );
}
