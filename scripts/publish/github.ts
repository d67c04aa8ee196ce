import { at, countAt, listAt, textAt } from '../model/at.ts';
import { type Api, createApi } from './api.ts';
import { createForge } from './create-forge.ts';
import { ForgeError } from './errors.ts';
import { oidAt, urlAt, visibilityOf } from './fields.ts';
import { bodyHash, type Draft, type Forge, type PullRequest, type RepositoryFacts } from './forge.ts';
import { githubRefusal } from './github-refusals.ts';
import type { Connection, Host } from './host.ts';

export interface GitHubOptions extends Connection {
  readonly owner: string;
  readonly repo: string;
}

/** Pull requests on GitHub, Enterprise Server and Enterprise Cloud, by its REST interface. */
export function createGitHub(options: GitHubOptions): Forge {
  const api = createApi({
    ...options,
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    refusalOf: githubRefusal,
  });
  const root = `/repos/${encodeURIComponent(options.owner)}/${encodeURIComponent(options.repo)}`;
  return createForge(githubHost(api, new URL(options.apiUrl), root));
}

function githubHost(api: Api, apiUrl: URL, root: string): Host {
  let facts: RepositoryFacts | undefined;
  let login: string | undefined;
  const repository = async () => {
    facts ??= factsFrom(await api.send('GET', root));
    return facts;
  };
  const headOf = async (headBranch: string) =>
    encodeURIComponent(`${(await repository()).name.split('/')[0] ?? ''}:${headBranch}`);
  return {
    kind: 'github',
    host: apiUrl.host === 'api.github.com' ? 'github.com' : apiUrl.host.replace(/^api\.(?=.*\.ghe\.com$)/, ''),
    repository,
    whoAmI: async () => {
      login ??= await loginOf(api, apiUrl);
      return login;
    },
    get: async (number) => {
      const value = await orNull(api.send('GET', `${root}/pulls/${number}`));
      return value === null ? null : pullFrom(value);
    },
    listOpen: async (headBranch) => {
      const head = await headOf(headBranch);
      const found = await api.list(`${root}/pulls?state=open&sort=created&direction=asc&per_page=100&head=${head}`);
      return found.map(pullFrom);
    },
    listEnded: async (headBranch) => {
      const head = await headOf(headBranch);
      const path = `${root}/pulls?state=closed&sort=created&direction=desc&per_page=30&head=${head}`;
      return listAt(await api.send('GET', path)).map(pullFrom);
    },
    create: async (draft) => pullFrom(await api.send('POST', `${root}/pulls`, bodyOf(draft))),
    update: async (pull, fields) => pullFrom(await api.send('PATCH', `${root}/pulls/${pull.number}`, fields)),
    addLabels: async (pull, labels) => {
      await api.send('POST', `${root}/issues/${pull.number}/labels`, { labels });
    },
    askReviewers: async (pull, reviewers) => {
      await api.send('POST', `${root}/pulls/${pull.number}/requested_reviewers`, {
        reviewers: reviewers.filter((name) => !name.includes('/')),
        team_reviewers: reviewers.filter((name) => name.includes('/')).map((name) => name.slice(name.indexOf('/') + 1)),
      });
    },
    offerLabel: async (name, description) => {
      if ((await orNull(api.send('GET', `${root}/labels/${encodeURIComponent(name)}`))) !== null) return;
      await api.send('POST', `${root}/labels`, { name, description, color: 'b60205' });
    },
    wait: (seconds) => api.wait(seconds),
  };
}

async function orNull(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'not_found') return null;
    throw error;
  }
}

/** A user's token says who it is; an App's, the one of Actions too, may only ask by GraphQL. */
async function loginOf(api: Api, apiUrl: URL): Promise<string> {
  try {
    const login = textAt(await api.send('GET', '/user'), 'login');
    if (login !== null) return login;
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'rights') throw error;
  }
  const path = apiUrl.pathname.replace(/\/v3\/?$/, '').replace(/\/$/, '');
  const answer = await api.send('POST', `${apiUrl.origin}${path}/graphql`, { query: 'query { viewer { login } }' });
  const login = textAt(answer, 'data', 'viewer', 'login');
  if (login === null) throw nobody();
  return login.endsWith('[bot]') ? login : `${login}[bot]`;
}

function bodyOf({ title, body, headBranch, base, draft }: Draft) {
  return { title, body, head: headBranch, base, draft, maintainer_can_modify: false };
}

function pullFrom(value: unknown): PullRequest {
  const number = countAt(value, 'number');
  const headRepository = at(value, 'head', 'repo', 'id');
  if (number === null) throw unreadable('a pull request without a number');
  const isMerged = typeof at(value, 'merged_at') === 'string' || at(value, 'merged') === true;
  return {
    number,
    url: urlAt(value, 'html_url'),
    state: isMerged ? 'merged' : textAt(value, 'state') === 'open' ? 'open' : 'closed',
    mergeOid: isMerged ? oidAt(value, 'merge_commit_sha') : null,
    title: textAt(value, 'title') ?? '',
    bodyHash: bodyHash(textAt(value, 'body') ?? ''),
    labels: listAt(value, 'labels').map((label) => textAt(label, 'name') ?? ''),
    draft: at(value, 'draft') === true,
    headOid: oidAt(value, 'head', 'sha'),
    headBranch: textAt(value, 'head', 'ref') ?? '',
    isFromHere: typeof headRepository === 'number' && headRepository === at(value, 'base', 'repo', 'id'),
    base: textAt(value, 'base', 'ref') ?? '',
    author: textAt(value, 'user', 'login') ?? '',
  };
}

function factsFrom(value: unknown): RepositoryFacts {
  const name = textAt(value, 'full_name');
  const defaultBranch = textAt(value, 'default_branch');
  if (name === null || defaultBranch === null) throw unreadable('a repository without name or default branch');
  const isArchived = at(value, 'archived') === true;
  const mayPush = isArchived ? false : pushRight(value);
  return {
    name,
    url: urlAt(value, 'html_url'),
    visibility: visibilityOf(textAt(value, 'visibility'), at(value, 'private') !== false),
    isFork: at(value, 'fork') === true,
    defaultBranch,
    isArchived,
    mayPush,
    mayOpenPullRequests: at(value, 'has_pull_requests') === false ? false : mayPush,
  };
}

/** An App's token gets only false here, whatever it may do. */
function pushRight(value: unknown): boolean | null {
  const permissions = at(value, 'permissions');
  if (typeof permissions !== 'object' || permissions === null) return null;
  return Object.values(permissions).includes(true) ? at(permissions, 'push') === true : null;
}

function nobody(): ForgeError {
  return new ForgeError(
    'rights',
    'GitHub does not say whose token this is.',
    'Use the token of Actions, of an App or of a user in the variable that delivery.token_env names.',
  );
}

function unreadable(what: string): ForgeError {
  return new ForgeError('server', `GitHub sent ${what}.`, 'Check delivery.api_url and whether a proxy stands between.');
}
