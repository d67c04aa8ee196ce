import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Archive } from './archive/archive.ts';
import { authorOf } from './collect/author.ts';
import { collectCommand } from './collect/command.ts';
import { type Destination, destinationOf, memoryOf } from './collect/destination.ts';
import { collectSpec } from './collect/flags.ts';
import { type Exposure, lookAsStranger } from './collect/host.ts';
import { init } from './collect/init.ts';
import { laptopOf } from './collect/laptop.ts';
import { openRepository } from './git/open.ts';
import { openRemote } from './git/remote.ts';
import type { Repository } from './git/types.ts';
import { userEmail } from './git/user-email.ts';
import { loadConfig } from './nightly/settings.ts';
import { ForgeError } from './publish/errors.ts';
import { forgeOf } from './publish/forge-of.ts';
import { repositoryId } from './rollout/identity.ts';
import type { Config } from './shared/config-schema.ts';
import { type ExitCode, exitCodes } from './shared/errors.ts';
import { main, type World } from './shared/main.ts';

await main(collectSpec, async (world) => {
  const { flags, env, home, cwd } = world;
  const hook = flags.valueOf('hook');
  if (hook !== undefined) return takeHook(world, hook);
  if (flags.isOn('init')) return initialise(world);
  const dir = flags.valueOf('repo') ?? cwd;
  const repository = await openRepository(dir, { env });
  const config = await loadConfig(repository);
  const destination = await destinationOf(repository, config.rollouts.remote);
  return collectCommand(world, {
    config,
    memory: destination.memory,
    archive: await archiveAt(repository, destination, config, world),
    exposure: () => exposureOf(destination, config, world),
    author: async ({ author, salt }) =>
      authorOf({
        chosen: author,
        email: await userEmail(dir, home, env),
        mailmap: mailmapOf(repository),
        people: config.people,
        salt,
      }),
  });
});

/** The hook's own script does the work, without what this one has loaded by now: agents call it directly. */
async function takeHook({ flags, cwd, self }: World, agent: string): Promise<ExitCode> {
  const script = fileURLToPath(new URL('collect/hook.mjs', import.meta.url));
  const child = spawn(self.program, [script, agent, flags.valueOf('repo') ?? cwd], { stdio: 'inherit' });
  await new Promise((done) => child.once('close', done).once('error', done));
  return exitCodes.done;
}

/** `--repo` may be an address: consent comes before a clone. */
async function initialise(world: World): Promise<ExitCode> {
  const { flags, env, home, cwd, log } = world;
  const named = flags.valueOf('repo') ?? cwd;
  const laptop = laptopOf(env, home);
  if (!existsSync(named)) {
    log.result(await init(world, laptop, { memory: memoryOf(named, cwd), include: [], retentionDays: 30 }));
    return exitCodes.done;
  }
  const repository = await openRepository(named, { env });
  const { include, rollouts } = await loadConfig(repository);
  const { memory } = await destinationOf(repository, rollouts.remote);
  log.result(await init(world, laptop, { memory, include, retentionDays: rollouts.retention_days }));
  return exitCodes.done;
}

async function archiveAt(
  repository: Repository,
  { url }: Destination,
  config: Config,
  { env }: World,
): Promise<Archive> {
  const { ref } = config.rollouts;
  const remote = url === null ? null : await openRemote(repository, { url, token: tokenFor(config, env), env });
  return { repository, ref, remote };
}

/** Whoever may see it asks as themselves, else as a stranger. */
async function exposureOf({ url }: Destination, config: Config, { env, signal }: World): Promise<Exposure> {
  if (url === null || repositoryId(url) === null) return { kind: 'here' };
  const token = tokenFor(config, env);
  const delivery = { token_env: config.delivery.token_env, ...interfaceOf(url, config.delivery.api_url) };
  const forge = token === undefined ? null : forgeOf({ remoteUrl: url, delivery, token, env, signal });
  if (forge === null) return lookAsStranger(url, signal);
  try {
    const { visibility, isFork } = await forge.repository();
    return { kind: 'seen', isPublic: visibility === 'public', isFork };
  } catch (error) {
    if (error instanceof ForgeError) return { kind: 'unknown', why: error.message };
    throw error;
  }
}

/** The configuration's interface, where it is the remote's own host's: a laptop's token goes nowhere else. */
function interfaceOf(remoteUrl: string, apiUrl: string | undefined): { readonly api_url?: string } {
  if (apiUrl === undefined) return {};
  const host = repositoryId(remoteUrl)?.split('/')[0];
  const { hostname } = new URL(apiUrl);
  return hostname === host || hostname === `api.${host}` ? { api_url: apiUrl } : {};
}

/** `rollouts.token_env`; where sessions go to the memory repository itself also the token of its deliveries. */
function tokenFor({ rollouts, delivery }: Config, env: World['env']): string | undefined {
  const name = rollouts.token_env ?? (rollouts.remote === undefined ? delivery.token_env : undefined);
  return name === undefined ? undefined : env[name] || undefined;
}

function mailmapOf({ workTree }: Repository): string {
  const path = workTree === null ? null : join(workTree, '.mailmap');
  return path !== null && existsSync(path) ? readFileSync(path, 'utf8') : '';
}
