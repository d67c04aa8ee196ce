import { setInterval } from 'node:timers';
import type { Archive } from '../archive/archive.ts';
import { openRemote } from '../git/remote.ts';
import type { Remote } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { timerWait } from '../model/retry.ts';
import { forgeOf } from '../publish/forge-of.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import type { World } from '../shared/main.ts';
import { stateRef } from '../state/ref.ts';
import { signatureOf } from './compose.ts';
import { mirrorState, refuseForeignState, type Team } from './team.ts';

/** A night's lease: longer than its wall clock, so that a renewal that fails once loses nothing. */
const leaseSeconds = 3_600;

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
  const forge =
    delivery === 'pull-request'
      ? forgeOf({ remoteUrl: remote.url, delivery: config.delivery, token: token ?? '', env })
      : null;
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
    lease: leaseFor(config, repository, remote, world),
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
): Team['lease'] {
  const run = env.GITHUB_RUN_ID === undefined ? null : `${env.GITHUB_RUN_ID}/${env.GITHUB_RUN_ATTEMPT ?? '1'}`;
  const worker = run === null ? `process ${self.pid} on ${self.host}` : `Actions run ${run}`;
  return {
    terms: { worker, token: self.token, run, leaseSeconds, watchSeconds, author: signatureOf(config) },
    ports: { repository, remote, clock, wait: timerWait, hasEnded: async () => null },
  };
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
