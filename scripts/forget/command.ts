import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { archiveTip } from '../archive/archive.ts';
import { laptopOf } from '../collect/laptop.ts';
import { withLock } from '../git/lock.ts';
import { openRepository } from '../git/open.ts';
import { openRemote } from '../git/remote.ts';
import type { Repository } from '../git/types.ts';
import { signatureOf } from '../nightly/compose.ts';
import { loadConfig, sourcesOf } from '../nightly/settings.ts';
import { openArchive, openTeam, remoteName } from '../nightly/team-command.ts';
import { checkoutsOnDisk } from '../rollout/checkouts.ts';
import { listingsFolder } from '../rollout/kept-here.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts } from '../rollout/source.ts';
import type { Config } from '../shared/config-schema.ts';
import { type ExitCode, exitCodes, UsageError } from '../shared/errors.ts';
import { terminalText } from '../shared/escape.ts';
import type { CommandSpec } from '../shared/flags.ts';
import type { World } from '../shared/main.ts';
import { createRedactor } from '../shared/redact.ts';
import { sha256 } from '../shared/thread-id.ts';
import { elsewhere, type Situation, steps } from './advice.ts';
import { localPlace, NightAtWorkError, type Place, teamPlace } from './place.ts';
import { recordOf, writeRecord } from './record.ts';
import { forgetJson, forgottenText, previewText, requestJson, requestText } from './report.ts';
import { type Requested, requestForgetting } from './request.ts';
import { type ForgetPorts, type Forgotten, forget, ownFolders, preview } from './run.ts';
import { type Target, targetOf } from './target.ts';

export const forgetSpec: CommandSpec = {
  name: 'forget',
  purpose:
    'Forgets a session, a person, words or a line: shows first what would go; then deletes it, looks whether it is gone, and says what is left to do.',
  flags: {
    thread: { kind: 'value', value: '<id>', help: 'a session, by its id or by the short one that evidence shows' },
    author: { kind: 'value', value: '<who>', help: 'every session of a person, by the name that sessions give them' },
    match: { kind: 'value', value: '<text>', help: 'these words wherever they stand, in any case' },
    line: { kind: 'value', value: '<text|file:line>', help: 'a line of the memory, such as MEMORY.md:12' },
    export: { kind: 'value', value: '<file>', help: 'with --author: write first what is held about them, as JSON' },
    yes: { kind: 'switch', help: 'forget it; without this it is only shown, and asked for on a terminal' },
    repo: { kind: 'value', value: '<dir>', help: 'the repository that holds the memory (default: this one)' },
    source: { kind: 'list', value: '<agent:folder>', help: 'look into these sessions of this machine too' },
    json: { kind: 'switch', help: 'one JSON object on standard output' },
  },
  positionals: [],
  examples: [
    'npm run forget -- --line MEMORY.md:12',
    'npm run forget -- --match "the name of the customer" --yes',
    'npm run forget -- --author dana --export dana.json',
  ],
};

/** The word that is typed on a terminal. */
const word = 'forget';

export async function forgetCommand(world: World): Promise<ExitCode> {
  const { flags, log, clock, signal } = world;
  const target = targetOf(flags);
  const file = flags.valueOf('export');
  if (file !== undefined && target.kind !== 'author')
    throw new UsageError('--export goes with --author: it writes what is held about a person.', 'Leave it out.');
  const { repository, config, place, ports } = await openAll(world);
  const owner = { ...world.self, at: clock.now(), note: 'forget' };
  const isJson = flags.isOn('json');
  if (file !== undefined && target.kind === 'author') {
    const path = resolve(world.cwd, file);
    await writeRecord(path, await recordOf(target.author, await place.look(signal), clock.now(), signal));
    log.info(`Written: ${terminalText(path)}`);
  }
  if (!flags.isOn('yes')) {
    const reach = await preview(target, place, ports, signal);
    log.result(isJson ? forgetJson(target, { reach }) : previewText(target, reach));
    const answer = isJson || world.ask === null ? '' : await world.ask(`Type “${word}” to go on: `);
    if (answer.trim() !== word) return exitCodes.done;
  }
  const forgotten = await withLock(join(repository.commonDir, 'memory', 'night.lock'), owner, () =>
    forgetOrRequest(target, place, ports, signal),
  );
  await rm(listingsFolder(world.env, world.home), { recursive: true, force: true });
  if ('by' in forgotten) {
    log.result(isJson ? requestJson(target, forgotten) : requestText(forgotten));
    return exitCodes.partly;
  }
  const situation = await situationOf(forgotten, place, config, repository);
  const todo = steps(situation);
  const others = elsewhere(situation, target.kind === 'thread');
  log.result(isJson ? forgetJson(target, { forgotten, steps: todo, others }) : forgottenText(forgotten, todo, others));
  return forgotten.leftovers.length === 0 ? exitCodes.done : exitCodes.partly;
}

/** A place of the memory may hold another line when the night has ended: it has to be named again then. */
async function forgetOrRequest(
  target: Target,
  place: Place,
  ports: ForgetPorts,
  signal: AbortSignal,
): Promise<Forgotten | Requested> {
  try {
    return await forget(target, place, ports, signal);
  } catch (error) {
    const { archive } = place;
    const isByPlace = target.kind === 'line' && 'path' in target.at;
    if (!(error instanceof NightAtWorkError) || archive === null || isByPlace) throw error;
    return requestForgetting(target, { ...place, archive }, error, ports, signal);
  }
}

async function openAll(
  world: World,
): Promise<{ repository: Repository; config: Config; place: Place; ports: ForgetPorts }> {
  const { flags, env, clock, home } = world;
  const repository = await openRepository(flags.valueOf('repo') ?? world.cwd, { env });
  const config = await loadConfig(repository);
  const redactor = createRedactor(env);
  const sources = sourcesOf(config, flags, home, env);
  const around = { include: config.include, checkouts: checkoutsOnDisk(), home };
  const author = signatureOf(config);
  const placePorts = {
    repository,
    clock,
    author,
    rollouts: redactedRollouts(openRollouts(sources, around), redactor),
    clean: (rollouts: Parameters<typeof redactedRollouts>[0]) => redactedRollouts(rollouts, redactor),
  };
  const ports = {
    clock,
    author,
    env,
    redact: (text: string) => redactor.redact(text),
    newSalt: sha256(world.self.token).slice(0, 32),
    folders: ownFolders(repository.commonDir, laptopOf(env, home).state),
  };
  const { mode } = config.delivery;
  const place =
    isLocal(config) || mode === 'commit'
      ? await localPlaceOf(placePorts, config, world)
      : teamPlace(placePorts, await openTeam(mode, config, repository, world));
  return { repository, config, place, ports };
}

/** What nobody said in so many words is not delivered by the nights either. */
function isLocal({ delivery, model }: Config): boolean {
  return delivery.mode === 'commit' || model.provider === undefined;
}

/** A memory of one's own may still have a remote that laptops send their sessions to. */
async function localPlaceOf(ports: Parameters<typeof localPlace>[0], config: Config, world: World): Promise<Place> {
  const { repository } = ports;
  const { env } = world;
  if (!(await repository.remotes()).has(remoteName)) {
    const archive = { repository, ref: config.rollouts.ref, remote: null };
    return localPlace(ports, null, (await archiveTip(archive)) === null ? null : archive);
  }
  const remote = await openRemote(repository, { name: remoteName, token: env[config.delivery.token_env], env });
  const archive = await openArchive(config, repository, remote, world);
  return localPlace(ports, remote, (await archiveTip(archive, world.signal)) === null ? null : archive);
}

async function situationOf(
  { leftovers, pullRequest }: Forgotten,
  { remote }: Place,
  config: Config,
  repository: Repository,
): Promise<Situation> {
  const { delivery } = config;
  const head = remote === null ? null : await remote.head();
  const own = await repository.head();
  const local = own.kind === 'branch' ? own.ref.replace('refs/heads/', '') : null;
  const isShared = !isLocal(config) && remote !== null;
  const isRequest = isShared && delivery.mode === 'pull-request';
  return {
    leftovers,
    clonesOf: isShared ? (remote?.url ?? null) : null,
    hasRemote: remote !== null,
    base: isShared ? (delivery.base ?? head?.branch ?? null) : local,
    proposal: isRequest ? delivery.branch : null,
    pullRequest: isRequest ? pullRequest : null,
  };
}
