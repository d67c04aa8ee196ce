import { resolve } from 'node:path';
import { UsageError } from '../shared/errors.ts';
import type { CommandSpec, Flags } from '../shared/flags.ts';
import { type HookAgent, hookAgents, type Where } from './targets.ts';

/** Agents that we can connect; `agents-md` is any agent that reads AGENTS.md and has no hook. */
export type Connected = HookAgent | 'agents-md';

export const connectSpec: CommandSpec = {
  name: 'connect',
  purpose: `Gives an agent's new sessions the team's memory, or takes it from them: ${[...hookAgents, 'agents-md'].join(', ')}.`,
  flags: {
    memory: {
      kind: 'value',
      value: '<dir|url>',
      help: 'the memory repository: a clone, or an address (default: the repository that this runs in)',
    },
    scope: {
      kind: 'value',
      oneOf: ['user', 'project', 'local'],
      help: 'whose files: yours (default), a project’s, or yours within a project (Claude Code)',
    },
    project: { kind: 'value', value: '<dir>', help: 'the project; without --scope it means --scope project' },
    plugin: { kind: 'value', value: '<dir>', help: 'claude-code: write a plugin into this folder instead' },
    skills: { kind: 'switch', help: 'also link the memory’s skills to where agents look for them' },
    copy: { kind: 'switch', help: 'with --skills: copy them instead' },
    print: { kind: 'switch', help: 'show what would be written, and write nothing' },
    remove: { kind: 'switch', help: 'take out what this command put in' },
    mcp: {
      kind: 'switch',
      help: 'show the configuration of the MCP server for this client (any: for others), and write nothing',
    },
    force: { kind: 'switch', help: 'connect although sessions get the memory from another place too' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: ['<agent>'],
  examples: [
    'npm run connect -- claude-code',
    'npm run connect -- codex --print',
    'npm run connect -- agents-md --project ~/src/shop',
    'npm run connect -- claude-code --remove',
  ],
};

/** @throws UsageError for none, or one that we do not know. */
export function agentOf({ positionals, isOn }: Flags): Connected | 'any' {
  const [name] = positionals;
  const known: readonly string[] = [...hookAgents, 'agents-md', ...(isOn('mcp') ? ['any'] : [])];
  if (name !== undefined && known.includes(name) && !(isOn('mcp') && name === 'agents-md')) return name as Connected;
  throw new UsageError(
    name === undefined ? 'Which agent?' : `“${name}” is no agent that can be connected${isOn('mcp') ? ' by MCP' : ''}.`,
    isOn('mcp')
      ? `Name one of ${[...hookAgents, 'any'].join(', ')}.`
      : `Name one of ${known.join(', ')}. Any other agent that reads AGENTS.md: npm run connect -- agents-md --project <dir>`,
  );
}

/** @throws UsageError where a project is needed and none is named, or flags contradict each other. */
export function whereOf(flags: Flags, agent: Connected, cwd: string): Where {
  const named = flags.valueOf('project');
  const scope = flags.valueOf('scope') ?? (named === undefined && agent !== 'agents-md' ? 'user' : 'project');
  if (flags.isOn('copy') && !flags.isOn('skills'))
    throw new UsageError('--copy says how skills are placed.', 'Use it with --skills.');
  if (flags.valueOf('plugin') !== undefined && agent !== 'claude-code')
    throw new UsageError(`--plugin is Claude Code’s; ${agent} has no such plugin.`, 'Leave it out.');
  if (flags.valueOf('plugin') !== undefined && flags.isOn('skills'))
    throw new UsageError('--skills and --plugin are two ways.', 'Run the command once with each.');
  if (flags.valueOf('plugin') !== undefined && (scope !== 'user' || flags.valueOf('scope') !== undefined))
    throw new UsageError('A plugin is nobody’s settings.', 'Use --plugin without --scope and --project.');
  if (flags.isOn('print') && flags.isOn('remove'))
    throw new UsageError('--print shows what connecting writes.', 'Use --remove without it.');
  if (scope === 'user') {
    if (agent === 'agents-md' || named !== undefined)
      throw new UsageError(
        agent === 'agents-md' ? 'AGENTS.md is a project’s file.' : '--scope user concerns no project.',
        'Use --project <dir> without --scope user.',
      );
    return { scope };
  }
  if (scope === 'local' && agent !== 'claude-code')
    throw new UsageError(
      `--scope local is Claude Code’s; ${agent} has no such file.`,
      'Use --scope user, or --scope project.',
    );
  if (named === undefined) throw new UsageError('Which project?', 'Name its folder: --project <dir>.');
  return { scope: scope === 'local' ? 'local' : 'project', project: resolve(cwd, named) };
}
