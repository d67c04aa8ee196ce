import type { Repository } from '../../git/types.ts';
import type { Config } from '../../shared/config-schema.ts';
import { UsageError } from '../../shared/errors.ts';
import type { World } from '../../shared/main.ts';
import type { Refs } from '../commits.ts';

/** What each stage works with. */
export interface Stage {
  readonly repository: Repository;
  readonly config: Config;
  readonly delivery: 'push' | 'pull-request';
  readonly world: World;
}

/** Seconds that an environment variable gives in minutes. @throws UsageError */
export function secondsOf({ env }: Pick<World, 'env'>, name: string, minutes: number): number {
  const text = env[name] ?? String(minutes);
  const found = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (found === 0) throw new UsageError(`${name} is no number of minutes.`, `Set it like ${name}=${minutes}.`);
  return found * 60;
}

/** Moves nothing: the commits are made, and whoever may write swaps the refs to them. */
export const refsOnPaper: Refs = {
  keepsTips: true,
  swap: async () => undefined,
  follow: async (start) => ({ pullRequest: start.night.pullRequest }),
};
