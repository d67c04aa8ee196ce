import { existsSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Repository } from '../git/types.ts';
import { type Believed, type Nights, takeShards } from '../model/shard-offers.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { currentState } from '../state/current.ts';
import { listJobs } from '../state/jobs.ts';
import { listRuns } from '../state/runs.ts';
import { nightJournal } from './settings.ts';
import type { StartFile } from './stages/start-file.ts';

/** The night that is to come, as shards name it that no claim told of it. */
export interface ComingNight {
  readonly name: string;
  /** What they may still name it. */
  readonly nights: Nights;
}

/**
 * By the last run in the books. Where a run came in between, what was paid for stays of use for the sessions that no night
 * has begun since.
 */
export async function comingNight(repository: Repository): Promise<ComingNight> {
  const { state } = await currentState(repository);
  const begun = new Map(listJobs(state, 'memory_stage1').map(({ key, startedAt }) => [key, startedAt ?? 0]));
  const runs = listRuns(state, mostRuns);
  state.close();
  const since = [...runs.map(({ runId, startedAt }) => ({ runId, startedAt })), { runId: 'none', startedAt: 0 }];
  const name = (runId: string) => `after ${runId}`;
  return {
    name: name(since[0]?.runId ?? 'none'),
    nights: new Map(
      since.map(({ runId, startedAt }) => [name(runId), (id: string) => (begun.get(id) ?? 0) <= startedAt]),
    ),
  };
}

/** Older shards are of no use. */
const mostRuns = 20;

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
  take(given, repository, { nights: (await comingNight(repository)).nights, threads: null }, redact, world);
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
  const nights = nightsOf([file.runId, file.unfinished]);
  const believed = { nights, threads: new Set(file.threads) };
  const answers = take(from, repository, believed, redact, world);
  rmSync(before, { recursive: true, force: true });
  return answers;
}

/** Nights whose shards are believed in all they say. */
export function nightsOf(names: readonly (string | null)[]): Nights {
  return new Map(names.flatMap((name) => (name === null ? [] : [[name, () => true] as const])));
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
