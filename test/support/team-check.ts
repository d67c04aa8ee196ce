import { basisOf } from '../../scripts/check/basis.ts';
import { check } from '../../scripts/check/run.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { loadConfig } from '../../scripts/nightly/settings.ts';
import { env } from './repository.ts';
import type { TestTeam } from './team.ts';

/** What `npm run check`, without `--base`, says is wrong with a branch of the server: `<rule> <path>`. */
export async function errorsAt({ dir, tip }: TestTeam, ref: string): Promise<string[]> {
  const repository = await openRepository(dir, { env });
  const wishes = { committed: true, base: null, repositories: [], sources: [], cwd: dir, home: '/nowhere', env };
  const { tree, basis } = await basisOf(repository, await loadConfig(repository), { ...wishes, tree: tip(ref) });
  const { findings } = await check(tree, basis);
  return findings.filter(({ severity }) => severity === 'error').map(({ rule, path }) => `${rule} ${path}`);
}
