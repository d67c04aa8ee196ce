import { setInterval } from 'node:timers';
import type { Archive } from '../archive/archive.ts';
import { openRemote } from '../git/remote.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { timerWait } from '../model/retry.ts';
import type { ActionsRuns } from '../publish/actions-runs.ts';
import { actionsRunsOf, forgeOf } from '../publish/forge-of.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { stateRef } from '../state/ref.ts';
import { mirrorState, refuseForeignState } from './begin.ts';
import { signatureOf } from './compose.ts';
import type { Team } from './team.ts';

/** The lease of a night in one process, which renews it: one that fails once loses nothing. */
const nightLeaseSeconds = 3_600;

/** A lease that has run out is watched for so long before it is taken over. @source design §4 */
const watchSeconds = 200;

/** The remote's name in a clone. */
export const remoteName = 'origin';

/** What a night of a team works with: remote, host, the sessions' ref and the lease. */
export async function openTeam(
  delivery: 'push' | 'pull-request',
  config: Config,
  repository: Repository,
  world: World,
  leaseSeconds = nightLeaseSeconds,
): Promise<Team> {
  const { env, log } = world;
  if (!(await repository.remotes()).has(remoteName)) {
    throw new UsageError(
      `delivery “${delivery}” needs a remote named ${remoteName}, and this repository has none.`,
      `Add it: git remote add ${remoteName} <url>, or use delivery commit.`,
    );
  }
  const token = env[config.delivery.token_env];
  const remote = await openRemote(repository, { name: remoteName, token, env });
  const host = { remoteUrl: remote.url, delivery: config.delivery, token: token ?? '', env };
  const forge = delivery === 'pull-request' ? forgeOf(host) : null;
  if (delivery === 'pull-request' && forge === null) {
    log.warn(`${remote.url} has no interface for pull requests that we know: the branch is pushed, open it by hand.`);
  }
  await takeSharedState(repository, remote);
  return {
    config,
    delivery,
    remote,
    forge,
    archive: await openArchive(config, repository, remote, world),
    lease: leaseFor(config, repository, remote, world, leaseSeconds),
    every: (seconds, beat) => {
      const timer = setInterval(() => void beat(), seconds * 1000);
      timer.unref();
      return () => clearInterval(timer);
    },
    warn: log.warn,
  };
}

/** By what, and under which name, this process takes the lease. */
export function leaseFor(
  config: Config,
  repository: Repository,
  remote: Remote,
  { env, clock, self }: World,
  leaseSeconds = nightLeaseSeconds,
): Team['lease'] {
  const run = actionsRun(env);
  const worker = run === null ? `process ${self.pid} on ${self.host}` : `Actions run ${run}`;
  const runs = () => actionsRunsFor(config, remote, { env });
  return {
    terms: { worker, token: self.token, run, leaseSeconds, watchSeconds, author: signatureOf(config) },
    ports: { repository, remote, clock, wait: timerWait, hasEnded: async (id) => runs()?.hasEnded(id) ?? null },
  };
}

/** What GitHub says of the workflow's runs; null elsewhere, or without a token. */
export function actionsRunsFor({ delivery }: Config, remote: Remote, { env }: Pick<World, 'env'>): ActionsRuns | null {
  return actionsRunsOf({ remoteUrl: remote.url, delivery, token: env[delivery.token_env] ?? '', env });
}

/** The Actions run and attempt that this process belongs to; null elsewhere. */
export function actionsRun(env: World['env']): string | null {
  return env.GITHUB_RUN_ID === undefined ? null : `${env.GITHUB_RUN_ID}/${env.GITHUB_RUN_ATTEMPT ?? '1'}`;
}

/** What was spent and seen is the team's, on a machine that has just cloned too. */
async function takeSharedState(repository: Repository, remote: Remote): Promise<void> {
  const shared = (await remote.fetch([stateRef])).get(stateRef) ?? null;
  await refuseForeignState(repository, shared);
  await mirrorState(repository, shared);
}

/** The team's sessions: on the same remote, or on the private one that the configuration names. */
export async function openArchive(
  config: Config,
  repository: Repository,
  remote: Remote,
  { env }: Pick<World, 'env'>,
): Promise<Archive> {
  const { remote: url, ref, token_env: tokenEnv } = config.rollouts;
  if (url === undefined) return { repository, ref, remote };
  const token = tokenEnv === undefined ? undefined : env[tokenEnv];
  return { repository, ref, remote: await openRemote(repository, { url, token, env }) };
}
