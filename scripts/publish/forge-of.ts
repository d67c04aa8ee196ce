import { repositoryId } from '../rollout/identity.ts';
import type { Config } from '../shared/config-schema.ts';
import { UsageError } from '../shared/errors.ts';
import { type ActionsRuns, createActionsRuns } from './actions-runs.ts';
import type { Forge, ForgeKind } from './forge.ts';
import { createGitHub } from './github.ts';
import { createGitLab } from './gitlab.ts';
import type { Connection } from './host.ts';

export interface ForgeRequest extends Omit<Connection, 'apiUrl' | 'token'> {
  readonly remoteUrl: string;
  readonly delivery: Pick<Config['delivery'], 'api_url' | 'token_env'>;
  readonly token: string;
  /** What GitHub Actions and GitLab CI say of the server they run for. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * The host behind a remote, by `delivery.api_url`, by what the CI says, or by its name.
 * @returns null where there is no such interface: then `delivery.mode: push` is what works, and people open the pull
 * request.
 * @throws UsageError for a token or an address that cannot be right.
 */
export function forgeOf({ remoteUrl, delivery, env = {}, ...connection }: ForgeRequest): Forge | null {
  const place = placeOf(remoteUrl, delivery.api_url, env);
  if (place === null) return null;
  if (connection.token === '')
    throw new UsageError(
      `There is no token for ${place.host}: the variable ${delivery.token_env} is not set.`,
      'Set it, name another with delivery.token_env, or use delivery.mode: push.',
    );
  const { kind, apiUrl, path } = place;
  if (kind === 'gitlab') return createGitLab({ ...connection, apiUrl, project: belowRoot(path, apiUrl) });
  const names = ownerAndName(path);
  return names === null ? null : createGitHub({ ...connection, apiUrl, ...names });
}

/** GitHub's workflow runs of the repository behind a remote; null where they cannot be asked for. */
export function actionsRunsOf({ remoteUrl, delivery, env = {}, ...connection }: ForgeRequest): ActionsRuns | null {
  const place = placeOf(remoteUrl, delivery.api_url, env);
  const names = place?.kind === 'github' ? ownerAndName(place.path) : null;
  if (place === null || names === null || connection.token === '') return null;
  return createActionsRuns({ ...connection, apiUrl: place.apiUrl, ...names });
}

interface Place extends Interface {
  readonly host: string;
  readonly path: string;
}

function placeOf(
  remoteUrl: string,
  apiUrl: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Place | null {
  const id = repositoryId(remoteUrl);
  if (id === null) return null;
  const host = id.slice(0, id.indexOf('/'));
  const found = apiUrl === undefined ? interfaceOf(host, env) : named(apiUrl);
  return found === null ? null : { ...found, host, path: id.slice(host.length + 1) };
}

function ownerAndName(path: string): { owner: string; repo: string } | null {
  const [owner = '', repo = '', ...rest] = path.split('/');
  return owner === '' || repo === '' || rest.length > 0 ? null : { owner, repo };
}

interface Interface {
  readonly kind: ForgeKind;
  readonly apiUrl: string;
}

function named(apiUrl: string): Interface {
  const url = new URL(apiUrl);
  const trimmed = apiUrl.replace(/\/{1,9}$/, '');
  if (/\/api\/v4\/?$/.test(url.pathname)) return { kind: 'gitlab', apiUrl: trimmed };
  if (/\/api\/v3\/?$/.test(url.pathname) || url.hostname === 'api.github.com' || isGheApi(url.hostname))
    return { kind: 'github', apiUrl: trimmed };
  throw new UsageError(
    'delivery.api_url does not say which kind of host it is.',
    'It ends in /api/v3 for GitHub Enterprise Server and in /api/v4 for GitLab; github.com needs none.',
  );
}

function interfaceOf(host: string, env: Readonly<Record<string, string | undefined>>): Interface | null {
  if (host === 'github.com') return { kind: 'github', apiUrl: 'https://api.github.com' };
  if (host === 'gitlab.com') return { kind: 'gitlab', apiUrl: 'https://gitlab.com/api/v4' };
  if (env.GITHUB_API_URL !== undefined && hostOf(env.GITHUB_SERVER_URL) === host)
    return { kind: 'github', apiUrl: env.GITHUB_API_URL };
  if (env.CI_API_V4_URL !== undefined && hostOf(env.CI_SERVER_URL) === host)
    return { kind: 'gitlab', apiUrl: env.CI_API_V4_URL };
  if (host.endsWith('.ghe.com')) return { kind: 'github', apiUrl: `https://api.${host}` };
  const labels = host.split('.');
  if (labels.includes('github')) return { kind: 'github', apiUrl: `https://${host}/api/v3` };
  return labels.includes('gitlab') ? { kind: 'gitlab', apiUrl: `https://${host}/api/v4` } : null;
}

function isGheApi(host: string): boolean {
  return host.startsWith('api.') && host.endsWith('.ghe.com');
}

function hostOf(url: string | undefined): string {
  return url !== undefined && URL.canParse(url) ? new URL(url).hostname : '';
}

/** A GitLab below a path of its host (`https://host/git/api/v4`) has that path in its remotes, not in its projects. */
function belowRoot(path: string, apiUrl: string): string {
  const root = new URL(apiUrl).pathname.replace(/\/api\/v4\/?$/, '').slice(1);
  return root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
}
