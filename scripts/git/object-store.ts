import type { Oid } from '../shared/files.ts';
import { isomorphicReader } from './isomorphic.ts';
import { findRepository } from './layout.ts';
import type { ObjectFormat, ReadObjects } from './objects.ts';
import { type Environment, gitProgram, output } from './program.ts';
import { programBackend } from './program-backend.ts';
import type { Repository } from './types.ts';

/** A repository's objects as they are stored, whatever they are. */
export interface ObjectStore {
  readonly format: ObjectFormat;
  readonly read: ReadObjects;
  /**
   * Every commit that the given ones grow from, as far as this program can list them at once; null where whoever asks
   * has to follow the parents.
   */
  commits(tips: readonly Oid[]): Promise<readonly Oid[] | null>;
}

/** By the way in which the repository was opened. */
export async function openObjectStore(repository: Repository, env: Environment): Promise<ObjectStore> {
  const layout = await findRepository(repository.workTree ?? repository.commonDir);
  const { format } = layout;
  if (repository.backend === 'isomorphic')
    return { format, read: isomorphicReader(layout.gitDir), commits: () => Promise.resolve(null) };
  const git = gitProgram(layout, env);
  return {
    format,
    read: programBackend(git, layout).readObjects,
    commits: async (tips) => {
      const listed = await output(git, ['rev-list', '--ignore-missing', '--stdin'], `${tips.join('\n')}\n`);
      return listed.toString('latin1').split('\n').filter(Boolean);
    },
  };
}
