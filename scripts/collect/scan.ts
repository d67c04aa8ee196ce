import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { sideFilesOf } from '../rollout/claude-side.ts';
import { readers } from '../rollout/readers.ts';
import type { Source } from '../rollout/source.ts';
import type { Agent } from '../rollout/types.ts';
import { sessionFiles } from '../rollout/walk.ts';

/** A transcript on this machine, not read. */
export interface Transcript {
  readonly agent: Agent;
  readonly path: string;
  readonly fingerprint: string;
}

/** Every transcript below the agents' folders; those that are not there have none. */
export async function scan(roots: readonly Source[], signal?: AbortSignal): Promise<Transcript[]> {
  const found: Transcript[] = [];
  for (const { agent, path } of roots) {
    if (!existsSync(path)) continue;
    const { paths } = await sessionFiles(path, readers[agent], signal);
    found.push(...(await looked(paths.map((file) => ({ agent, path: file })))));
  }
  return found;
}

/** With their fingerprints; what is gone meanwhile is left out. */
export async function looked(files: readonly Source[]): Promise<Transcript[]> {
  const found = await Promise.all(
    files.map(async ({ agent, path }) => {
      const fingerprint = await fingerprintOf(agent, path);
      return fingerprint === null ? [] : [{ agent, path, fingerprint }];
    }),
  );
  return found.flat();
}

/** Sizes and times of a transcript and its side files; null where it is gone. */
async function fingerprintOf(agent: Agent, path: string): Promise<string | null> {
  const own = await sizeAndTime(path);
  if (own === null || !readers[agent].sideFolders) return own;
  const sides = await Promise.all((await sideFilesOf(path)).map(sizeAndTime));
  return [own, ...sides].join(' ');
}

async function sizeAndTime(path: string): Promise<string | null> {
  try {
    const { size, mtimeMs } = await stat(path);
    return `${size}@${mtimeMs}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
