import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { archivedRollouts } from '../archive/rollouts.ts';
import { findRepository } from '../git/layout.ts';
import { openRepository } from '../git/open.ts';
import { gitProgram } from '../git/program.ts';
import { openRemote } from '../git/remote.ts';
import { trackingRef } from '../git/remote-types.ts';
import type { Repository } from '../git/types.ts';
import { faults } from '../merge-driver/setting.ts';
import { apiKeyOf, signatureOf } from '../nightly/compose.ts';
import { lookOf } from '../nightly/look.ts';
import { extractorClassOf, outlook } from '../nightly/outlook.ts';
import { nightPolicy } from '../nightly/policy.ts';
import { loadConfig, sourcesOf, wishesOf } from '../nightly/settings.ts';
import { loadStart, ourPaths, type Start } from '../nightly/start.ts';
import { remoteName } from '../nightly/team-command.ts';
import { forgeOf } from '../publish/forge-of.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { listingsHere } from '../rollout/kept-here.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { type Found, openRollouts } from '../rollout/source.ts';
import type { Config } from '../shared/config-schema.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { listRuns } from '../state/runs.ts';
import { listThreads } from '../state/threads.ts';
import { statusOf } from '../status/facts.ts';
import { cloneFacts, cloneFindings } from './clone.ts';
import { type Finding, look, shown, worstFirst } from './finding.ts';
import { type ForgeLook, forgeFindings, lookAtForge } from './forge.ts';
import { isAtWork, type LockFacts, leaseFindings, lockFacts, lockFindings } from './locks.ts';
import { machineFacts, machineFindings } from './machine.ts';
import { citingFindings, includeFindings, readerFindings, summaryFindings } from './memory.ts';
import { lookAtModels, modelFindings } from './model.ts';
import { nightFindings, scheduleFindings } from './nights.ts';
import { lookAtRemote, remoteFindings } from './remote.ts';
import { settingFindings } from './settings.ts';

export interface Examination {
  readonly repo: string;
  /** Ask no server. */
  readonly offline: boolean;
  /** The merge driver of this checkout, as Git's configuration holds it. */
  readonly driver: string;
}

/** Everything that is wrong with a set-up, errors first. Leaves it as it was. */
export async function examine({ repo, offline, driver }: Examination, world: World): Promise<readonly Finding[]> {
  const { env, self, clock } = world;
  const layout = await findRepository(repo);
  const repository = await openRepository(repo, { env });
  const config = await look(() => loadConfig(repository));
  const machine = await machineFacts(layout, self.program, env);
  const mergeFaults = async () => (machine.git === null ? [] : faults(gitProgram(layout, env), driver));
  const lock = await lockFacts(join(repository.commonDir, 'memory', 'night.lock'));
  const found = [
    ...machineFindings(machine),
    ...settingFindings(config),
    ...cloneFindings(await cloneFacts(repository, ourPaths, mergeFaults)),
    ...lockFindings(lock, self, clock.now()),
  ];
  if ('seen' in config) {
    const forge = offline ? null : await askHost(repository, config.seen, world);
    found.push(...(offline ? [] : await serverFindings(repository, config.seen, world)));
    found.push(...(forge === null ? [] : forgeFindings(forge)));
    found.push(...(await memoryFindings(repository, config.seen, lock, forge, world)));
  }
  return worstFirst(found);
}

/** null where the host of pull requests is not needed, or there is no remote. */
async function askHost(repository: Repository, config: Config, { env, signal }: World): Promise<ForgeLook | null> {
  const { delivery } = config;
  const remoteUrl = (await repository.remotes()).get(remoteName);
  if (delivery.mode !== 'pull-request' || remoteUrl === undefined) return null;
  return lookAtForge(() => forgeOf({ remoteUrl, delivery, token: env[delivery.token_env] ?? '', env, signal }));
}

async function serverFindings(repository: Repository, config: Config, world: World): Promise<Finding[]> {
  const { env, clock, signal, self } = world;
  const now = clock.now();
  const found: Finding[] = [];
  if (config.model.provider === 'openai') {
    const models = await lookAtModels(config, () => apiKeyOf(config, env), signal);
    found.push(...modelFindings(models, config, now));
  }
  if (config.delivery.mode === 'commit') return found;
  if (!(await repository.remotes()).has(remoteName)) return [...found, noRemote(config)];
  const token = env[config.delivery.token_env];
  const opened = await look(() => openRemote(repository, { name: remoteName, token, env }));
  if ('error' in opened) return [...found, shown('remote', opened.error, 'Nothing can be delivered.')];
  const ports = { repository, remote: opened.seen, config, token: self.token, author: signatureOf(config), now };
  const remote = await lookAtRemote(ports, signal);
  found.push(...remoteFindings(remote, config));
  if ('seen' in remote) found.push(...leaseFindings(remote.seen.leases, self, now));
  return found;
}

function noRemote({ delivery }: Config): Finding {
  return {
    severity: 'error',
    check: 'remote.missing',
    what: `delivery.mode is ${delivery.mode}, and this repository has no remote named ${remoteName}`,
    why: 'There is nowhere to deliver to.',
    remedy: `git remote add ${remoteName} <url>, or delivery.mode: commit`,
  };
}

async function memoryFindings(
  repository: Repository,
  config: Config,
  lock: LockFacts | null,
  forge: ForgeLook | null,
  world: World,
): Promise<Finding[]> {
  const { clock, self } = world;
  const now = clock.now();
  const loaded = await look(() => loadStart(repository, 'look'));
  if ('error' in loaded) return [shown('state', loaded.error, 'No night can start from it.')];
  const start = loaded.seen;
  const sessions = await sessionsHere(repository, config, world);
  const status = statusOf({ ...lookOf(repository, config, start, world.flags), now });
  const ready = readyIn(start, sessions, config, world);
  const known = [...sessions.map(({ thread }) => thread), ...listThreads(start.state)];
  const repositories = new Set(known.flatMap(({ repo, aliases }) => [repo, ...aliases]));
  const seen = forge !== null && 'seen' in forge ? forge.seen : null;
  return [
    ...nightFindings({ status, ready, isAtWork: isAtWork(lock, self) }, now),
    ...scheduleFindings(
      {
        hasSchedule: hasWorkflow(repository) && (await repository.remotes()).has(remoteName),
        lastNight: listRuns(start.state, 1)[0]?.finishedAt ?? null,
        lastCommit: await lastCommit(repository),
        isPublic: seen?.visibility === 'public',
      },
      now,
    ),
    ...summaryFindings(start.memories),
    ...readerFindings(start.state, config, now),
    ...citingFindings(start.state, config, now),
    ...includeFindings(config, repositories),
  ];
}

/** Sessions of this machine's sources, and those of the team's ref as far as this clone has them. */
async function sessionsHere(repository: Repository, config: Config, world: World): Promise<readonly Found[]> {
  const { flags, env, home, signal } = world;
  const { ref } = config.rollouts;
  const fetched = (await repository.readRef(trackingRef(ref))) ?? (await repository.readRef(ref));
  const place = { include: config.include, checkouts: checkoutsOnDisk(), home };
  const redactor = createRedactor(env);
  const own = redactedRollouts(
    openRollouts(sourcesOf(config, flags, home, env), place, listingsHere(world, 'keep')),
    redactor,
  );
  const shared = redactedRollouts(archivedRollouts(repository, fetched), redactor);
  return [...(await own.list(signal)).found, ...(await shared.list(signal)).found];
}

function readyIn({ state, night }: Start, sessions: readonly Found[], config: Config, { flags, clock }: World): number {
  const extractor = extractorClassOf(config.model.provider);
  const policy = nightPolicy(config, wishesOf(flags));
  return outlook(state, sessions, policy, extractor, clock.now(), night.batches).ready.length;
}

function hasWorkflow({ workTree }: Repository): boolean {
  return workTree !== null && existsSync(join(workTree, '.github/workflows/nightly.yml'));
}

async function lastCommit(repository: Repository) {
  const { oid } = await repository.head();
  return oid === null ? null : (await repository.readCommit(oid)).at;
}
