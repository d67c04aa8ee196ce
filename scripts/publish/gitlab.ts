import { at, countAt, listAt, textAt } from '../model/at.ts';
import { type Api, createApi } from './api.ts';
import { createForge } from './create-forge.ts';
import { ForgeError } from './errors.ts';
import { oidAt, urlAt, visibilityOf } from './fields.ts';
import { bodyHash, type Draft, type Forge, type PullRequest, type RepositoryFacts } from './forge.ts';
import { gitlabRefusal } from './gitlab-refusals.ts';
import type { Connection, Host } from './host.ts';

export interface GitLabOptions extends Connection {
  /** With its groups: `group/subgroup/name`. */
  readonly project: string;
}

/** Merge requests on GitLab, with the words of pull requests. */
export function createGitLab(options: GitLabOptions): Forge {
  const api = createApi({ ...options, headers: { accept: 'application/json' }, refusalOf: gitlabRefusal });
  return createForge(gitlabHost(api, new URL(options.apiUrl).host, `/projects/${encodeURIComponent(options.project)}`));
}

function gitlabHost(api: Api, host: string, root: string): Host {
  let login: string | undefined;
  const requests = `${root}/merge_requests`;
  return {
    kind: 'gitlab',
    host,
    repository: async () => factsFrom(await api.send('GET', root)),
    whoAmI: async () => {
      login ??= textAt(await api.send('GET', '/user'), 'username') ?? undefined;
      if (login === undefined) throw unreadable('a user without a name');
      return login;
    },
    get: async (number) => {
      try {
        return requestFrom(await api.send('GET', `${requests}/${number}`));
      } catch (error) {
        if (error instanceof ForgeError && error.kind === 'not_found') return null;
        throw error;
      }
    },
    listOpen: async (headBranch) => {
      const branch = encodeURIComponent(headBranch);
      const found = await api.list(`${requests}?state=opened&sort=asc&per_page=100&source_branch=${branch}`);
      return found.map(requestFrom);
    },
    listEnded: async (headBranch) => {
      const branch = encodeURIComponent(headBranch);
      const path = `${requests}?state=all&order_by=created_at&sort=desc&per_page=30&source_branch=${branch}`;
      return listAt(await api.send('GET', path))
        .map(requestFrom)
        .filter(({ state }) => state !== 'open');
    },
    create: async (draft) => requestFrom(await api.send('POST', requests, bodyOf(draft))),
    update: async (pull, { title, body, base }) =>
      requestFrom(
        await api.send('PUT', `${requests}/${pull.number}`, {
          ...(title === undefined ? {} : { title: titled(title, pull.draft) }),
          ...(body === undefined ? {} : { description: body }),
          ...(base === undefined ? {} : { target_branch: base }),
        }),
      ),
    addLabels: async (pull, labels) => {
      await api.send('PUT', `${requests}/${pull.number}`, { add_labels: labels.join(',') });
    },
    askReviewers: (pull, reviewers) => askReviewers(api, `${requests}/${pull.number}`, reviewers),
    offerLabel: async (name, description) => {
      try {
        await api.send('POST', `${root}/labels`, { name, description, color: '#b60205' });
      } catch (error) {
        if (!(error instanceof ForgeError) || error.kind !== 'taken') throw error;
      }
    },
    wait: (seconds) => api.wait(seconds),
  };
}

/** Reviewers go by number, and a request replaces the whole list: who is there already stays. */
async function askReviewers(api: Api, path: string, reviewers: readonly string[]): Promise<void> {
  const ids = new Set(listAt(await api.send('GET', path), 'reviewers').map((user) => countAt(user, 'id')));
  const before = ids.size;
  for (const name of reviewers) {
    const [user] = await api.list(`/users?username=${encodeURIComponent(name)}`);
    const id = countAt(user, 'id');
    if (id === null) throw new ForgeError('validation', `GitLab knows no user ${name}.`, 'Check delivery.reviewers.');
    ids.add(id);
  }
  if (ids.size > before) await api.send('PUT', path, { reviewer_ids: [...ids] });
}

function bodyOf({ title, body, headBranch, base, draft }: Draft) {
  return {
    source_branch: headBranch,
    target_branch: base,
    title: titled(title, draft),
    description: body,
    remove_source_branch: false,
  };
}

/** What a person made ready stays ready, since the mark is part of the title. */
function titled(title: string, isDraft: boolean): string {
  return isDraft ? `${draftMark}${title}` : title;
}

const draftMark = 'Draft: ';

function requestFrom(value: unknown): PullRequest {
  const number = countAt(value, 'iid');
  if (number === null) throw unreadable('a merge request without a number');
  const source = at(value, 'source_project_id');
  const state = stateOf(textAt(value, 'state'));
  const title = textAt(value, 'title') ?? '';
  return {
    number,
    url: urlAt(value, 'web_url'),
    state,
    mergeOid: state === 'merged' ? mergeOidOf(value) : null,
    title: title.startsWith(draftMark) ? title.slice(draftMark.length) : title,
    bodyHash: bodyHash(textAt(value, 'description') ?? ''),
    labels: listAt(value, 'labels').filter((label) => typeof label === 'string'),
    draft: at(value, 'draft') === true,
    headOid: oidAt(value, 'sha'),
    headBranch: textAt(value, 'source_branch') ?? '',
    isFromHere: typeof source === 'number' && source === at(value, 'target_project_id'),
    base: textAt(value, 'target_branch') ?? '',
    author: textAt(value, 'author', 'username') ?? '',
  };
}

/** `locked` is a merge under way. */
function stateOf(word: string | null): PullRequest['state'] {
  return word === 'merged' || word === 'closed' ? word : 'open';
}

/** A fast-forward leaves no merge commit: then the squashed one, or the branch's own tip, is what reached the target. */
function mergeOidOf(value: unknown) {
  return oidAt(value, 'merge_commit_sha') ?? oidAt(value, 'squash_commit_sha') ?? oidAt(value, 'sha');
}

function factsFrom(value: unknown): RepositoryFacts {
  const name = textAt(value, 'path_with_namespace');
  if (name === null) throw unreadable('a project without a path');
  const isArchived = at(value, 'archived') === true;
  const mayPush = isArchived ? false : pushRight(value);
  const isOff =
    at(value, 'merge_requests_enabled') === false || textAt(value, 'merge_requests_access_level') === 'disabled';
  return {
    name,
    url: urlAt(value, 'web_url'),
    visibility: visibilityOf(textAt(value, 'visibility'), true),
    isFork: at(value, 'forked_from_project') !== undefined && at(value, 'forked_from_project') !== null,
    defaultBranch: textAt(value, 'default_branch') ?? '',
    isArchived,
    mayPush,
    mayOpenPullRequests: isOff ? false : mayPush,
  };
}

/** Developer (30) and above may push; null where the answer names no role. */
function pushRight(value: unknown): boolean | null {
  const roles = ['project_access', 'group_access'].map((kind) => countAt(value, 'permissions', kind, 'access_level'));
  const known = roles.filter((role) => role !== null);
  return known.length === 0 ? null : Math.max(...known) >= 30;
}

function unreadable(what: string): ForgeError {
  return new ForgeError('server', `GitLab sent ${what}.`, 'Check delivery.api_url and whether a proxy stands between.');
}
