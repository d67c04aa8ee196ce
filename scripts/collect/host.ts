import { repositoryId } from '../rollout/identity.ts';
import { messageOf, UsageError } from '../shared/errors.ts';
import type { Agreement } from './consent.ts';

/** What a host says about who reads a repository. */
export type Exposure =
  /** It is on this machine, or in a folder that is mounted here. */
  | { readonly kind: 'here' }
  /** Asked as somebody who may see it. */
  | { readonly kind: 'seen'; readonly isPublic: boolean; readonly isFork: boolean }
  /** Asked as nobody in particular: strangers do not see it. Whether it is a fork is not known. */
  | { readonly kind: 'hidden' }
  | { readonly kind: 'unknown'; readonly why: string };

/**
 * Refuses a place that others than the team can read. The laptop's word `private: true` counts only where the host
 * cannot tell; where it says “public” or “fork”, only `allow_public: true` does.
 * @throws UsageError
 */
export function requirePrivate(agreement: Agreement, exposure: Exposure): void {
  if (agreement.allowPublic || exposure.kind === 'here') return;
  const { memory } = agreement;
  if (exposure.kind === 'seen') {
    if (!exposure.isPublic && !exposure.isFork) return;
    throw new UsageError(
      `${memory} is ${exposure.isPublic ? 'public' : 'a fork, whose network others can read'}, so nothing was sent.`,
      'Name a private repository as rollouts.remote in .github/memory.yml. Whoever wants everybody to read these sessions sets allow_public: true in this laptop’s collect.yml.',
    );
  }
  if (agreement.isPrivate) return;
  const why =
    exposure.kind === 'hidden' ? 'strangers do not see it, but it may be a fork' : `it is not known: ${exposure.why}`;
  throw new UsageError(
    `Whether ${memory} is private cannot be told (${why}), so nothing was sent.`,
    'Set the token’s variable (rollouts.token_env), or state it on this laptop: private: true in collect.yml, or collect --init --private.',
  );
}

/** Where github.com and gitlab.com answer anybody. */
export const publicInterfaces = { github: 'https://api.github.com', gitlab: 'https://gitlab.com/api/v4' } as const;

/**
 * Asks as a stranger whether a repository can be seen.
 * @param interfaces other addresses, for tests against a local server.
 */
export async function lookAsStranger(
  url: string,
  signal: AbortSignal | undefined,
  interfaces: { readonly github: string; readonly gitlab: string } = publicInterfaces,
): Promise<Exposure> {
  const id = repositoryId(url);
  if (id === null) return { kind: 'here' };
  const host = id.slice(0, id.indexOf('/'));
  const path = id.slice(host.length + 1);
  if (host === 'github.com')
    return ask(`${interfaces.github}/repos/${path.split('/').map(encodeURIComponent).join('/')}`, signal);
  if (host === 'gitlab.com') return ask(`${interfaces.gitlab}/projects/${encodeURIComponent(path)}`, signal);
  return { kind: 'unknown', why: `${host} cannot be asked` };
}

const patienceMs = 10_000;

async function ask(address: string, signal: AbortSignal | undefined): Promise<Exposure> {
  const late = AbortSignal.timeout(patienceMs);
  try {
    const response = await fetch(address, {
      headers: { accept: 'application/json', 'user-agent': 'commit-to-memory' },
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
    await response.body?.cancel();
    if (response.ok) return { kind: 'seen', isPublic: true, isFork: false };
    if (response.status === 404) return { kind: 'hidden' };
    return { kind: 'unknown', why: `the host answered ${response.status}` };
  } catch (error) {
    signal?.throwIfAborted();
    return { kind: 'unknown', why: messageOf(error) };
  }
}
