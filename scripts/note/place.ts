import { resolve } from 'node:path';
import { type Checkouts, checkoutsOnDisk } from '../rollout/checkouts.ts';
import { chooseRepository, repositoryId } from '../rollout/identity.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';

/**
 * The repository that a note is for: the one that was named, else that of the folder that it is about. npm starts every
 * script in the package's folder and tells where it was called itself.
 * @throws UsageError where the folder is in none.
 */
export async function repositoryOf({ flags, env, cwd }: World, { include }: Config): Promise<string> {
  const named = flags.valueOf('repository');
  if (named !== undefined) return named;
  const folder = resolve(env.INIT_CWD || cwd, flags.valueOf('cwd') ?? '.');
  const repo = await repositoryAt(folder, include, checkoutsOnDisk());
  if (repo !== null) return repo;
  throw new UsageError(
    `${folder} is in no repository with a remote.`,
    'Say whose memory the note is for: --repository <host/owner/name>, or "*" for all.',
  );
}

/** null where the folder is in no repository with a remote. */
export async function repositoryAt(
  folder: string,
  include: readonly string[],
  checkouts: Checkouts,
): Promise<string | null> {
  const checkout = await checkouts.of(folder);
  const ids = (checkout?.remotes ?? []).map(repositoryId).filter((id) => id !== null);
  return chooseRepository(ids, include).repo;
}
