import { type ForgeStore, repositoryIdOnHost } from './forge-store.ts';
import type { ForgeCall, ForgePull, ForgeReply } from './forge-types.ts';

/** GitLab's answers over the same pull requests, as far as a night asks. */
export function gitlabReply(store: ForgeStore, call: ForgeCall): ForgeReply {
  const [first = '', project, area = '', number = ''] = call.path;
  const { settings } = store;
  if (first === 'user') return call.who.kind === 'user' ? ok({ id: 1, username: call.who.login }) : unauthorized();
  if (first === 'users') return ok(users(store, call.query.get('username') ?? ''));
  if (first !== 'projects' || project !== `${settings.owner}/${settings.name}`)
    return { status: 404, value: { message: '404 Project Not Found' } };
  switch (`${call.method} ${area}${number === '' ? '' : '/#'}`) {
    case 'GET ':
      return ok(projectFacts(store, call));
    case 'GET merge_requests':
      return may(call, 'read') ?? ok(list(store, call).map((pull) => shown(store, pull)));
    case 'POST merge_requests':
      return may(call, 'write') ?? create(store, call);
    case 'GET merge_requests/#':
      return may(call, 'read') ?? withPull(store, number, (pull) => ok(shown(store, pull)));
    case 'PUT merge_requests/#':
      return may(call, 'write') ?? withPull(store, number, (pull) => put(store, pull, call));
    case 'POST labels':
      return createLabel(store, call);
    default:
      return { status: 404, value: { error: '404 Not Found' } };
  }
}

function users({ settings }: ForgeStore, name: string) {
  const at = settings.collaborators.indexOf(name);
  return at === -1 ? [] : [{ id: 100 + at, username: name }];
}

function projectFacts({ settings, url }: ForgeStore, { who }: ForgeCall) {
  const path = `${settings.owner}/${settings.name}`;
  return {
    id: repositoryIdOnHost,
    path_with_namespace: path,
    web_url: `${url}/${path}`,
    visibility: settings.visibility,
    default_branch: settings.defaultBranch,
    archived: settings.isArchived,
    merge_requests_access_level: settings.takesPulls ? 'enabled' : 'disabled',
    ...(settings.isFork ? { forked_from_project: { id: 7 } } : {}),
    permissions: {
      project_access: who.pulls === 'none' ? { access_level: 10 } : { access_level: 40 },
      group_access: null,
    },
  };
}

function list(store: ForgeStore, { query }: ForgeCall): ForgePull[] {
  const branch = query.get('source_branch');
  const isOpen = query.get('state') === 'opened';
  const found = store.pulls.filter(
    (pull) => (!isOpen || pull.state === 'open') && (branch === null || pull.head === branch),
  );
  return query.get('sort') === 'desc' ? found.reverse() : found;
}

function create(store: ForgeStore, { body, who }: ForgeCall): ForgeReply {
  const head = String(body.source_branch);
  const base = String(body.target_branch);
  if (store.settings.tipOf(head) === null)
    return { status: 400, value: { message: { source_branch: ['is invalid'] } } };
  if (store.settings.tipOf(base) === null)
    return { status: 400, value: { message: { target_branch: ['is invalid'] } } };
  const other = store.pulls.find((pull) => pull.state === 'open' && pull.head === head && pull.base === base);
  if (other !== undefined && other.headRepository === repositoryIdOnHost)
    return {
      status: 409,
      value: { message: [`Another open merge request already exists for this source branch: !${other.number}`] },
    };
  const made = store.add({ author: who.login, head, base });
  retitle(made, String(body.title));
  made.body = String(body.description);
  return { status: 201, value: shown(store, made) };
}

function put(store: ForgeStore, pull: ForgePull, { body }: ForgeCall): ForgeReply {
  if (typeof body.title === 'string') retitle(pull, body.title);
  if (typeof body.description === 'string') pull.body = body.description;
  if (typeof body.target_branch === 'string') pull.base = body.target_branch;
  if (typeof body.add_labels === 'string') pull.labels = [...new Set([...pull.labels, ...body.add_labels.split(',')])];
  if (Array.isArray(body.reviewer_ids))
    pull.reviewers = body.reviewer_ids.map((id) => store.settings.collaborators[Number(id) - 100] ?? '');
  return ok(shown(store, pull));
}

function retitle(pull: ForgePull, title: string): void {
  pull.draft = title.startsWith('Draft: ');
  pull.title = pull.draft ? title.slice(7) : title;
}

function createLabel({ settings }: ForgeStore, { body, who }: ForgeCall): ForgeReply {
  if (who.mayCreateLabels === false) return { status: 403, value: { message: '403 Forbidden' } };
  if (settings.labels.includes(String(body.name))) return { status: 409, value: { message: 'Label already exists' } };
  settings.labels.push(String(body.name));
  return { status: 201, value: { name: body.name } };
}

function shown(store: ForgeStore, pull: ForgePull) {
  const { settings, url } = store;
  return {
    id: 5000 + pull.number,
    iid: pull.number,
    web_url: `${url}/${settings.owner}/${settings.name}/-/merge_requests/${pull.number}`,
    state: pull.state === 'open' ? 'opened' : pull.state,
    title: pull.draft ? `Draft: ${pull.title}` : pull.title,
    description: pull.body,
    draft: pull.draft,
    sha: store.tipOf(pull),
    merge_commit_sha: pull.mergeOid,
    squash_commit_sha: null,
    source_branch: pull.head,
    target_branch: pull.base,
    source_project_id: pull.headRepository,
    target_project_id: repositoryIdOnHost,
    author: { username: pull.author },
    labels: pull.labels,
    reviewers: pull.reviewers.map((name) => ({ id: 100 + settings.collaborators.indexOf(name), username: name })),
  };
}

function withPull(store: ForgeStore, number: string, answer: (pull: ForgePull) => ForgeReply): ForgeReply {
  const pull = store.pulls.find((candidate) => candidate.number === Number(number));
  return pull === undefined ? { status: 404, value: { message: '404 Not found' } } : answer(pull);
}

function may({ who }: ForgeCall, wanted: 'read' | 'write'): ForgeReply | null {
  const pulls = who.pulls ?? 'write';
  if (pulls === 'write' || (pulls === 'read' && wanted === 'read')) return null;
  return {
    status: 403,
    value: { error: 'insufficient_scope', error_description: 'The request requires higher privileges.' },
  };
}

function unauthorized(): ForgeReply {
  return { status: 401, value: { message: '401 Unauthorized' } };
}

function ok(value: unknown): ForgeReply {
  return { status: 200, value };
}
