import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { textOf } from './file.ts';
import { pinnedNames } from './pinned.ts';
import { fileOf, type HookAgent, hookAgents, type Machine, type Where } from './targets.ts';

/** A place that gives an agent's sessions the same memory already. */
export interface Duplicate {
  readonly agent: HookAgent;
  readonly path: string;
  readonly remedy: string;
}

/** Other places from which an agent would get the memory that a hook is about to give it. */
export async function besideHook(agent: HookAgent, where: Where, machine: Machine): Promise<readonly Duplicate[]> {
  const hooks = await hooksOf(agent, elsewhere(agent, where), machine);
  const project = where.scope === 'user' ? null : where.project;
  const files = [
    ...personal(agent, machine),
    ...(project === null ? [] : (await instructions(agent, project)).map((path) => join(project, path))),
  ];
  const texts: Duplicate[] = [];
  for (const path of files)
    if (holdsMemory(await textOf(path))) texts.push({ agent, path, remedy: remedyOf(path, project) });
  return [...hooks, ...texts];
}

/** Agents that would get a project's AGENTS.md on top of what their hooks, or another file of the project, give them. */
export async function besideAgentsFile(project: string, machine: Machine): Promise<readonly Duplicate[]> {
  const found: Duplicate[] = [];
  for (const agent of hookAgents) {
    const files = await instructions(agent, project);
    if (!files.includes('AGENTS.md')) continue;
    const places: Where[] = [{ scope: 'user' }, { scope: 'project', project }];
    if (agent === 'claude-code') places.push({ scope: 'local', project });
    found.push(...(await hooksOf(agent, places, machine)));
    for (const path of files.filter((name) => name !== 'AGENTS.md'))
      if (holdsMemory(await textOf(join(project, path))))
        found.push({ agent, path: join(project, path), remedy: remedyOf(path, project) });
  }
  return found;
}

async function hooksOf(agent: HookAgent, places: readonly Where[], machine: Machine): Promise<readonly Duplicate[]> {
  const found: Duplicate[] = [];
  for (const place of places) {
    const path = fileOf(agent, place, machine);
    if (pinnedNames(await textOf(path)).length > 0) found.push({ agent, path, remedy: removal(agent, place) });
  }
  return found;
}

function elsewhere(agent: HookAgent, where: Where): readonly Where[] {
  if (where.scope === 'user') return [];
  const { project } = where;
  const others: Where[] = [{ scope: 'user' }];
  if (agent !== 'claude-code') return others;
  return [...others, { scope: where.scope === 'local' ? 'project' : 'local', project }];
}

/** A person's own instruction files, which every session of the agent is given. */
function personal(agent: HookAgent, { env, home }: Machine): readonly string[] {
  switch (agent) {
    case 'claude-code':
      return [join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'CLAUDE.md')];
    case 'codex':
      return [join(env.CODEX_HOME || join(home, '.codex'), 'AGENTS.md')];
    case 'copilot':
      return [join(env.COPILOT_HOME || join(home, '.copilot'), 'copilot-instructions.md')];
    case 'gemini':
      return [join(env.GEMINI_CLI_HOME || home, '.gemini/GEMINI.md')];
    case 'opencode':
      return [join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode/AGENTS.md')];
  }
}

/** A project's instruction files that an agent is given at once. @source marker files in one repository, each agent run */
async function instructions(agent: HookAgent, project: string): Promise<readonly string[]> {
  const isThere = async (path: string): Promise<boolean> => (await textOf(join(project, path))) !== '';
  switch (agent) {
    case 'claude-code': {
      const own = [
        'CLAUDE.md',
        '.claude/CLAUDE.md',
        'CLAUDE.local.md',
        ...(await markdownIn(project, '.claude/rules')),
      ];
      const texts = await Promise.all(['CLAUDE.md', '.claude/CLAUDE.md'].map((path) => textOf(join(project, path))));
      const readsAgents = texts.every((text) => text === '') || texts.some((text) => text.includes('@AGENTS.md'));
      return readsAgents ? [...own, 'AGENTS.md'] : own;
    }
    case 'codex':
      return ['AGENTS.md'];
    case 'copilot':
      return [
        ...['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', '.github/copilot-instructions.md'],
        ...(await markdownIn(project, '.github/instructions')),
        ...(await markdownIn(project, '.claude/rules')),
      ];
    case 'gemini':
      return (await textOf(join(project, '.gemini/settings.json'))).includes('AGENTS.md')
        ? ['GEMINI.md', 'AGENTS.md']
        : ['GEMINI.md'];
    case 'opencode':
      return (await isThere('AGENTS.md')) ? ['AGENTS.md'] : ['AGENTS.md', 'CLAUDE.md'];
  }
}

/** The memory's text itself, our block, or an import of the memory's own files. */
function holdsMemory(text: string): boolean {
  return /<commit-to-memory v=|<!-- commit-to-memory:begin|@\S*memories\/(?:memory_summary|MEMORY)\.md/.test(text);
}

function remedyOf(path: string, project: string | null): string {
  return path.endsWith('AGENTS.md') && project !== null
    ? `npm run connect -- agents-md --remove --project ${project}`
    : `take the memory out of ${path}`;
}

function removal(agent: HookAgent, where: Where): string {
  const more = where.scope === 'user' ? '' : ` --scope ${where.scope} --project ${where.project}`;
  return `npm run connect -- ${agent} --remove${more}`;
}

async function markdownIn(project: string, folder: string): Promise<readonly string[]> {
  const names = await readdir(join(project, folder)).catch((error: unknown) => none(error, []));
  return names.filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`);
}

function none<T>(error: unknown, instead: T): T {
  if (['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return instead;
  throw error;
}
