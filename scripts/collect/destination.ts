import { isAbsolute, resolve } from 'node:path';
import type { Repository } from '../git/types.ts';
import { repositoryId } from '../rollout/identity.ts';

/** Where sessions go. */
export interface Destination {
  /** By this name a laptop allows it: `host/path`, or the absolute folder of a repository on this machine. */
  readonly memory: string;
  /** The address to fetch from and push to, whatever else the clone pushes to; null: the repository has no remote. */
  readonly url: string | null;
}

/** @param configured `rollouts.remote`: the name of a remote or an address; undefined: the clone's origin. */
export async function destinationOf(repository: Repository, configured: string | undefined): Promise<Destination> {
  const url = (await repository.remotes()).get(configured ?? 'origin') ?? configured ?? null;
  const folder = repository.workTree ?? repository.commonDir;
  return { memory: url === null ? folder : memoryOf(url, folder), url };
}

/** @param folder where a relative path starts. */
export function memoryOf(url: string, folder: string): string {
  const id = repositoryId(url);
  if (id !== null) return id;
  const path = url.replace(/^file:\/\//, '');
  return isAbsolute(path) ? path : resolve(folder, path);
}
