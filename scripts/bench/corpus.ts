import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Source } from '../rollout/source.ts';
import { agents } from '../rollout/types.ts';
import { UsageError } from '../shared/errors.ts';
import { byBinary } from '../shared/files.ts';

/** The corpus' folders by their agent's name: `codex`, `claude-code`, `claude-code-2`. */
export async function sourcesIn(corpus: string): Promise<Source[]> {
  const entries = await readdir(corpus, { withFileTypes: true }).catch(cannotRead(corpus));
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const sources = names.sort(byBinary).flatMap((name) => {
    const agent = agents.find((candidate) => name === candidate || name.startsWith(`${candidate}-`));
    return agent === undefined ? [] : [{ agent, path: join(corpus, name) }];
  });
  if (sources.length > 0) return sources;
  throw new UsageError(
    `${corpus} holds no sessions.`,
    `Its folders are named after their agents: ${agents.join(', ')}, or one of these with -something behind.`,
  );
}

export function cannotRead(path: string): (cause: unknown) => never {
  return (cause) => {
    throw new UsageError(`${path} cannot be read.`, 'Name a file or folder that is there.', { cause });
  };
}
