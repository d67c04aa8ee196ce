import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import type { Agent } from '../rollout/types.ts';

/** A folder in which an agent keeps its sessions. */
export interface Root {
  readonly agent: Agent;
  readonly path: string;
}

/** The agents' own folders on this machine: no configuration adds one. */
export function rootsOf(env: Readonly<Record<string, string | undefined>>, home: string): readonly Root[] {
  const codex = env.CODEX_HOME || join(home, '.codex');
  return [
    { agent: 'codex', path: join(codex, 'sessions') },
    { agent: 'codex', path: join(codex, 'archived_sessions') },
    { agent: 'claude-code', path: join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'projects') },
  ];
}

/**
 * A transcript that somebody names, if it is one that a search of the agents' folders would find: a regular `.jsonl`
 * file below one of them, reached through no symbolic link.
 * @returns why it is refused, as the rest of a sentence.
 */
export async function placeOf(
  agent: string,
  path: string,
  roots: readonly Root[],
): Promise<Root | { refused: string }> {
  if (!isAbsolute(path) || path.includes('\0') || path.length > 4096) return { refused: 'is no absolute path' };
  if (!path.endsWith('.jsonl')) return { refused: 'is no .jsonl file' };
  const own = roots.filter((root) => root.agent === agent);
  if (own.length === 0) return { refused: 'is of an agent that has no reader yet' };
  try {
    if (!(await lstat(path)).isFile()) return { refused: 'is no regular file' };
    const real = await realpath(path);
    for (const root of own) {
      const folder = await realpath(root.path).catch(() => null);
      if (folder === null || !real.startsWith(folder + sep)) continue;
      const below = real.slice(folder.length);
      if (!path.endsWith(below)) return { refused: 'leads through a symbolic link' };
      return { agent: root.agent, path: join(root.path, below) };
    }
    return { refused: 'is not below the agent’s own folder' };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown reason';
    return { refused: `cannot be read (${code})` };
  }
}
