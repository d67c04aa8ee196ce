import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Repository } from '../git/types.ts';
import { type Believed, takeShards } from '../model/shard-offers.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { currentState } from '../state/current.ts';
import { listRuns } from '../state/runs.ts';
import { nightJournal } from './settings.ts';
import type { StartFile } from './stages/start-file.ts';

/**
 * The night that is to come, as shards name it that no claim told of it: by the last run in the books. What they paid for
 * is then of no other night, whatever happens to the refs in between.
 */
export async function comingNight(repository: Repository): Promise<string> {
  const { state } = await currentState(repository);
  const [last] = listRuns(state, 1);
  state.close();
  return `after ${last?.runId ?? 'none'}`;
}

/** What `--journal <dir>` names. @throws UsageError for one that is not there. */
export async function takeGivenShards(
  repository: Repository,
  redact: (text: string) => string,
  world: World,
): Promise<void> {
  const given = world.flags.listOf('journal').map((path) => resolve(world.cwd, path));
  if (given.length === 0) return;
  const missing = given.find((path) => !existsSync(path));
  if (missing !== undefined) {
    throw new UsageError(
      `--journal names ${missing}, which is not there.`,
      'Name the folder that a shard wrote, or one that holds several: npm run phase1 -- --shard 1/5 says where.',
    );
  }
  take(given, repository, { nights: new Set([await comingNight(repository)]), threads: null }, redact, world);
}

/** Below `.git/memory/`, where the workflow puts what this run's shards left. */
export const stagedShards = 'shards';

/** What this run's shards left, and in the night's own journal those of the run before that left no result. */
export function takeStagedShards(
  repository: Repository,
  file: Pick<StartFile, 'runId' | 'unfinished' | 'threads'>,
  redact: (text: string) => string,
  world: World,
): number {
  const before = join(nightJournal(repository), stagedShards);
  const from = [join(repository.commonDir, 'memory', stagedShards), before].filter((path) => existsSync(path));
  const nights = [file.runId, file.unfinished].filter((night) => night !== null);
  const believed = { nights: new Set(nights), threads: new Set(file.threads) };
  const answers = take(from, repository, believed, redact, world);
  rmSync(before, { recursive: true, force: true });
  return answers;
}

function take(
  from: readonly string[],
  repository: Repository,
  believed: Believed,
  redact: (text: string) => string,
  { log }: World,
): number {
  const { answers, problems } = takeShards(from, nightJournal(repository), believed, redact);
  for (const problem of problems.slice(0, mostProblems)) log.warn(problem);
  if (problems.length > mostProblems) log.warn(`The shards left ${problems.length - mostProblems} more such things.`);
  if (from.length > 0) log.info(`Shards paid for ${answers} answers that this night need not ask for.`);
  return answers;
}

const mostProblems = 20;
