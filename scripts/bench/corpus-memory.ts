import { createRepository } from '../git/create.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import { day, type EpochSeconds, isoTime } from '../shared/clock.ts';
import { MemoryError } from '../shared/errors.ts';
import type { Files } from '../shared/files.ts';
import type { World } from '../shared/main.ts';
import { runScript } from './child.ts';

/**
 * What one night without a model makes of a corpus: the night after its last session, however old the corpus is.
 * @param path of the repository that it makes. @returns path below `memories/` → text.
 */
export async function memoryOf(world: World, path: string, sources: readonly Source[]): Promise<Files> {
  const repository = await createRepository(path, { branch: 'main', env: world.env });
  const env = { ...world.env, CTM_CLOCK: isoTime((await lastSession(world, sources)) + day) };
  const named = sources.flatMap((source) => ['--source', `${source.agent}:${source.path}`]);
  const wishes = ['--now', '--since', 'all', '--model', 'builtin'];
  await runScript({ ...world, env }, 'nightly.ts', ['--repo', path, ...wishes, ...named, '--json']);
  const { oid } = await repository.head();
  if (oid === null) throw taughtNothing();
  const files = await repository.readFiles(oid, ['memories']);
  return new Map([...files].map(([file, text]) => [file.replace(/^memories\//, ''), text]));
}

async function lastSession({ home, signal }: World, sources: readonly Source[]): Promise<EpochSeconds> {
  const rollouts = openRollouts(sources, { include: [], checkouts: checkoutsOnDisk(), home });
  const { found } = await rollouts.list(signal);
  if (found.length === 0) throw taughtNothing();
  return found.reduce((latest, { thread }) => Math.max(latest, thread.updatedAt), 0);
}

function taughtNothing(): MemoryError {
  return new MemoryError('The sessions taught nothing.', 'Name a corpus in which people speak.');
}
