import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { programMark } from '../shared/built.ts';
import { cacheFolder } from '../shared/cache-folder.ts';
import type { World } from '../shared/main.ts';
import type { ListingFolder } from './kept.ts';

/**
 * This user's folder of kept listings; undefined where there is no home to have one in.
 * @param intent `look` for a command that writes nothing.
 */
export function listingsHere(
  { env, home, self }: Pick<World, 'env' | 'home' | 'self'>,
  intent: 'keep' | 'look',
): ListingFolder | undefined {
  if (!env.CTM_HOME && !env.XDG_CACHE_HOME && !existsSync(home)) return undefined;
  return {
    folder: listingsFolder(env, home),
    program: programMark(['rollout', 'shared']),
    token: intent === 'keep' ? self.token : null,
  };
}

export function listingsFolder(env: World['env'], home: string): string {
  return join(cacheFolder({ env, home }), 'listings');
}
