import { join } from 'node:path';
import type { Edit } from './edit.ts';
import { type Handler, hooksEdit, type Shape } from './hooks.ts';
import { openCodePlugin } from './opencode.ts';
import { shellWord } from './shell.ts';

/** Agents that run something of ours when a session starts. */
export const hookAgents = ['claude-code', 'codex', 'copilot', 'gemini', 'opencode'] as const;
export type HookAgent = (typeof hookAgents)[number];

/** Whose files are changed: a person's own, a project's, or (Claude Code) a person's own within a project. */
export type Where = { readonly scope: 'user' } | { readonly scope: 'project' | 'local'; readonly project: string };

/** This machine, as far as it says where agents look for their files. */
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
}

/** What an agent is told to run. */
export interface Wanted {
  /** The memory repository: the folder of a clone, or an address. */
  readonly memory: string;
  /** Sessions are collected from this clone; null: this laptop has not allowed it. */
  readonly collect: string | null;
}

/** An agent’s configuration with our hooks. */
export function editFor(
  agent: HookAgent,
  where: Where,
  wanted: Wanted & { readonly folder: string },
  machine: Machine,
): Edit {
  const path = fileOf(agent, where, machine);
  const program = (name: string): string => join(wanted.folder, name);
  if (agent === 'opencode') return openCodePlugin(path, ['node', program('recall.cjs'), ...recallWords(agent, wanted)]);
  return hooksEdit(
    path,
    shapeOf(agent),
    handlersFor(agent, wanted, (name) => shellWord(program(name))),
  );
}

/** @param program a pinned program’s path as a shell reads it. */
export function handlersFor(
  agent: Exclude<HookAgent, 'opencode'>,
  wanted: Wanted,
  program: (name: string) => string,
): readonly Handler[] {
  const { recall, collect } = events[agent];
  const words = recallWords(agent, wanted).map(shellWord);
  const { collect: clone } = wanted;
  const handlers = [
    { event: recall, value: handlerOf(agent, ['node', program('recall.cjs'), ...words].join(' '), recallSeconds) },
  ];
  if (clone === null) return handlers;
  const command = ['node', program('collect.mjs'), agent, shellWord(clone), program('collector.mjs')].join(' ');
  return [...handlers, ...collect.map((event) => ({ event, value: handlerOf(agent, command, collectSeconds) }))];
}

/** Where an agent looks for its hooks; only Claude Code has a `local` file, the others take it for the project’s. */
export function fileOf(agent: HookAgent, where: Where, { env, home }: Machine): string {
  const isUser = where.scope === 'user';
  const below = isUser ? '' : where.project;
  switch (agent) {
    case 'claude-code':
      return join(
        isUser ? env.CLAUDE_CONFIG_DIR || join(home, '.claude') : join(below, '.claude'),
        where.scope === 'local' ? 'settings.local.json' : 'settings.json',
      );
    case 'codex':
      return join(isUser ? env.CODEX_HOME || join(home, '.codex') : join(below, '.codex'), 'hooks.json');
    case 'copilot':
      return join(
        isUser ? env.COPILOT_HOME || join(home, '.copilot') : join(below, '.github'),
        'hooks/commit-to-memory.json',
      );
    case 'gemini':
      return join(isUser ? env.GEMINI_CLI_HOME || home : below, '.gemini/settings.json');
    case 'opencode': {
      const config = env.OPENCODE_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode');
      return join(isUser ? config : join(below, '.opencode'), 'plugin/commit-to-memory.js');
    }
  }
}

export function shapeOf(agent: HookAgent): Shape {
  return agent === 'copilot' ? 'flat' : 'grouped';
}

/** For how long a session may be held up at most; the programs give up by themselves long before. */
const recallSeconds = 15;
const collectSeconds = 10;

/** When memory goes in, and when a transcript is announced. */
const events: Readonly<
  Record<Exclude<HookAgent, 'opencode'>, { readonly recall: string; readonly collect: readonly string[] }>
> = {
  'claude-code': { recall: 'SessionStart', collect: ['Stop', 'SessionEnd'] },
  codex: { recall: 'SessionStart', collect: ['Stop'] },
  copilot: { recall: 'sessionStart', collect: ['agentStop', 'sessionEnd'] },
  gemini: { recall: 'SessionStart', collect: ['AfterAgent', 'SessionEnd'] },
};

function handlerOf(agent: HookAgent, command: string, seconds: number): Handler['value'] {
  switch (agent) {
    case 'copilot':
      return { type: 'command', bash: command, timeoutSec: seconds };
    case 'gemini':
      return { name: 'commit-to-memory', type: 'command', command, timeout: seconds * 1000 };
    default:
      return { type: 'command', command, timeout: seconds };
  }
}

/** OpenCode’s plugin is ours and takes Claude Code’s form of answer. */
function recallWords(agent: HookAgent, { memory }: Wanted): readonly string[] {
  return ['--agent', agent === 'opencode' ? 'claude-code' : agent, '--memory', memory];
}
