import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, sep } from 'node:path';
import { readers } from '../rollout/readers.ts';
import type { Source } from '../rollout/source.ts';
import { agents } from '../rollout/types.ts';

/**
 * A transcript that somebody names, if it is one that a search of the agents' folders would find: a regular
 * file below one of them, named as that agent's are, reached through no symbolic link.
 * @returns why it is refused, as the rest of a sentence.
 */
export async function placeOf(
  agent: string,
  path: string,
  roots: readonly Source[],
): Promise<Source | { refused: string }> {
  if (!isAbsolute(path) || path.includes('\0') || path.length > 4096) return { refused: 'is no absolute path' };
  const known = agents.find((name) => name === agent);
  if (known === undefined) return { refused: 'is of an agent that has no reader yet' };
  const { endings } = readers[known];
  if (!endings.some((ending) => path.endsWith(ending))) return { refused: `is no ${endings.join(' or ')} file` };
  const own = roots.filter((root) => root.agent === known);
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
