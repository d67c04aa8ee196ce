import { GitError } from './errors.ts';
import { findRepository, type Layout } from './layout.ts';
import { whatNeedsTheProgram } from './needs-program.ts';
import { gitProgram, isMissingProgram, type RunGit } from './program.ts';
import { isomorphicTransport } from './remote-isomorphic.ts';
import { remoteOver } from './remote-over.ts';
import { type Endpoint, mayQuietSsh, programTransport } from './remote-program.ts';
import type { Transport } from './remote-transport.ts';
import type { Remote, RemoteOptions } from './remote-types.ts';
import { type Address, parseAddress } from './remote-url.ts';
import { credentialsOf } from './remote-words.ts';
import type { Repository } from './types.ts';

/**
 * Opens a remote of a repository; nothing is asked of the server yet.
 * @throws GitError for an address that is none, an unknown name, or where neither backend can speak to it.
 */
export async function openRemote(repository: Repository, options: RemoteOptions): Promise<Remote> {
  const layout = await findRepository(repository.workTree ?? repository.commonDir);
  const endpoints = await endpointsOf(repository, layout, options);
  const transport = await transportFor(repository, layout, endpoints, options);
  return remoteOver(transport, repository, endpoints.fetchFrom.address.shown);
}

const defaultStallSeconds = 120;

interface Endpoints {
  readonly fetchFrom: Endpoint;
  readonly pushTo: Endpoint;
}

async function endpointsOf(repository: Repository, layout: Layout, options: RemoteOptions): Promise<Endpoints> {
  const { token } = options;
  if ('url' in options) {
    const only = endpoint(parseAddress(options.url, false), token);
    return { fetchFrom: only, pushTo: only };
  }
  const url = (await repository.remotes()).get(options.name) ?? layout.config.get(`remote.${options.name}.url`);
  if (url === undefined)
    throw new GitError(
      `There is no remote ${JSON.stringify(options.name.slice(0, 100))} here.`,
      'See which there are: git remote -v',
    );
  const fetchFrom = endpoint(parseAddress(url, true), token);
  const pushUrl = layout.config.get(`remote.${options.name}.pushurl`);
  if (pushUrl === undefined) return { fetchFrom, pushTo: fetchFrom };
  const address = parseAddress(pushUrl, true);
  return { fetchFrom, pushTo: endpoint(address, isSameServer(address, fetchFrom.address) ? token : undefined) };
}

function endpoint(address: Address, token: string | undefined): Endpoint {
  return { address, credentials: credentialsOf(address, token) };
}

function isSameServer(a: Address, b: Address): boolean {
  return a.kind === 'http' && b.kind === 'http' && new URL(a.shown).origin === new URL(b.shown).origin;
}

async function transportFor(
  repository: Repository,
  layout: Layout,
  { fetchFrom, pushTo }: Endpoints,
  { env, backend = 'auto', stallSeconds = defaultStallSeconds }: RemoteOptions,
): Promise<Transport> {
  const git = gitProgram(layout, env);
  const version = backend === 'isomorphic' ? null : await gitVersion(git);
  const isUsable = version !== null && !isOlderGit(version);
  if (isUsable)
    return programTransport({ layout, env, fetchFrom, pushTo, stallSeconds, quietSsh: await mayQuietSsh(git, env) });
  const { shown, kind } = fetchFrom.address;
  const missing = version === null ? 'is not installed' : `is too old (${version.join('.')})`;
  const install = `Install git ${oldestGit.join('.')} or newer (https://git-scm.com)`;
  if (backend === 'git') throw new GitError(`The git program ${missing}.`, `${install}.`);
  if (kind !== 'http' || pushTo.address.kind !== 'http')
    throw new GitError(
      `${shown} can only be reached with the git program${backend === 'auto' ? `, which ${missing}` : ''}.`,
      `${install}, or name the https address of the repository and give a token.`,
    );
  const why = whatNeedsTheProgram(layout);
  if (why !== null) throw new GitError(`This repository ${why}, which needs the git program.`, `${install}.`);
  if (pushTo.address.shown !== shown)
    throw new GitError(`${shown} is pushed to by another address, which needs the git program.`, `${install}.`);
  return isomorphicTransport({ url: shown, repository, env, stallSeconds, credentials: fetchFrom.credentials });
}

/** The first to take settings from variables: earlier ones would need the token among their arguments. */
export const oldestGit: readonly number[] = [2, 31];

/** @returns null where the git program is not installed. */
export async function gitVersion(git: RunGit): Promise<readonly number[] | null> {
  try {
    const { stdout } = await git(['version']);
    const found = /(\d{1,4})\.(\d{1,4})/.exec(stdout.toString('latin1'));
    return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  } catch (error) {
    if (isMissingProgram(error)) return null;
    throw error;
  }
}

/** Whether a version of the git program is too old to speak to a remote. */
export function isOlderGit([major = 0, minor = 0]: readonly number[]): boolean {
  const [oldestMajor = 0, oldestMinor = 0] = oldestGit;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
