import { join } from 'node:path';
import type { Source } from './source.ts';

/** The agents' own folders on this machine, whether they are there or not. OpenCode keeps a database: its exports. */
export function agentFolders(env: Readonly<Record<string, string | undefined>>, home: string): readonly Source[] {
  const codex = env.CODEX_HOME || join(home, '.codex');
  const pi = env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent');
  const shared = env.XDG_DATA_HOME || join(home, '.local', 'share');
  return [
    { agent: 'codex', path: join(codex, 'sessions') },
    { agent: 'codex', path: join(codex, 'archived_sessions') },
    { agent: 'claude-code', path: join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects') },
    { agent: 'copilot', path: join(env.COPILOT_HOME || join(home, '.copilot'), 'session-state') },
    { agent: 'gemini', path: join(env.GEMINI_CLI_HOME || home, '.gemini', 'tmp') },
    { agent: 'opencode', path: join(shared, 'opencode', 'exports') },
    { agent: 'pi', path: env.PI_CODING_AGENT_SESSION_DIR || join(pi, 'sessions') },
  ];
}
