import { join } from 'node:path';
import { shellWord } from './shell.ts';
import type { HookAgent, Machine } from './targets.ts';

/**
 * What a client needs to start our MCP server over standard input and output, for a person to add: clients keep it in
 * files that they write themselves (`~/.claude.json`) or in TOML, so we print it. Not by `npm run`, which would change the
 * folder: the client's own says which repository the session is about.
 * @param words the program and its arguments, each as it is.
 */
export function mcpText(client: HookAgent | 'any', words: readonly string[], { env, home }: Machine): string {
  const [command = 'node', ...args] = words;
  const server = { command, args };
  switch (client) {
    case 'claude-code':
      return `${['claude mcp add --scope user commit-to-memory --', command, ...args.map(shellWord)].join(' ')}\n`;
    case 'codex':
      return [
        `# ${join(env.CODEX_HOME || join(home, '.codex'), 'config.toml')}`,
        '[mcp_servers.commit-to-memory]',
        `command = ${JSON.stringify(command)}`,
        `args = ${JSON.stringify(args)}`,
        '',
      ].join('\n');
    case 'copilot':
      return shown(join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'), {
        mcpServers: { 'commit-to-memory': { type: 'local', ...server, tools: ['*'] } },
      });
    case 'gemini':
      return shown(join(env.GEMINI_CLI_HOME || home, '.gemini/settings.json'), {
        mcpServers: { 'commit-to-memory': server },
      });
    case 'opencode':
      return shown(join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode/opencode.json'), {
        mcp: { 'commit-to-memory': { type: 'local', command: [command, ...args], enabled: true } },
      });
    case 'any':
      return `${JSON.stringify({ mcpServers: { 'commit-to-memory': server } }, null, 2)}\n`;
  }
}

function shown(path: string, value: unknown): string {
  return `// ${path}\n${JSON.stringify(value, null, 2)}\n`;
}
