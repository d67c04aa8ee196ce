import { explain, GitError } from './errors.ts';
import { fileBackend } from './file-backend.ts';
import { findRepository } from './layout.ts';
import { whatNeedsTheProgram } from './needs-program.ts';
import { type Environment, gitProgram, isMissingProgram, output } from './program.ts';
import { programBackend } from './program-backend.ts';
import { repositoryOver } from './repository.ts';
import type { Repository } from './types.ts';

export interface OpenOptions {
  /** `auto`: the git program where it is installed, else isomorphic-git for the repositories that it reads rightly. */
  readonly backend?: 'auto' | 'git' | 'isomorphic';
  /** Where to find the git program, and whose settings it reads; without it the usual folders, and nobody's. */
  readonly env?: Environment;
}

/** Opens the repository that a folder belongs to. @throws GitError where there is none, or none that can be used. */
export async function openRepository(dir: string, options: OpenOptions = {}): Promise<Repository> {
  const layout = await findRepository(dir).catch((error: unknown) => {
    throw explain(`${dir} cannot be opened`, error);
  });
  const { backend = 'auto', env = {} } = options;
  if (backend !== 'isomorphic') {
    const git = gitProgram(layout, env);
    try {
      await output(git, ['rev-parse', '--git-dir']);
      return repositoryOver(programBackend(git, layout), layout);
    } catch (error) {
      if (!isMissingProgram(error)) throw explain(`${dir} cannot be opened`, error);
      if (backend === 'git') throw new GitError('The git program is not installed.', 'Install it: https://git-scm.com');
    }
  }
  const why = whatNeedsTheProgram(layout);
  if (why !== null) throw new GitError(`${dir} ${why}, which needs the git program.`, 'Install git and run it again.');
  return repositoryOver(fileBackend(layout), layout);
}
