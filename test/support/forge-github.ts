import { type ForgeStore, repositoryIdOnHost } from './forge-store.ts';
import type { ForgeCall, ForgePull, ForgeReply } from './forge-types.ts';

/** GitHub's answers, as far as a night asks. */
export function githubReply(store: ForgeStore, call: ForgeCall): ForgeReply {
  const [first = '', owner, name, area = '', number = '', part = ''] = call.path;
  const { settings } = store;
  if (first === 'graphql') return viewer(call);
  if (first === 'user') return call.who.kind === 'user' ? ok({ login: call.who.login, type: 'User' }) : notAccessible();
  if (first !== 'repos' || !same(owner, settings.owner) || !same(name, settings.name)) return notFound();
  if (area === 'actions') return actionsRun(store, call);
  const way = `${call.method} ${area}${number === '' ? '' : '/#'}${part === '' ? '' : `/${part}`}`;
  switch (way) {
    case 'GET ':
      return ok(repository(store, call));
    case 'GET pulls':
      return may(call, 'read') ?? ok(list(store, call).map((pull) => shown(store, pull)));
    case 'POST pulls':
      return may(call, 'write') ?? create(store, call);
    case 'GET pulls/#':
      return may(call, 'read') ?? withPull(store, number, (pull) => ok(shown(store, pull)));
    case 'PATCH pulls/#':
      return may(call, 'write') ?? withPull(store, number, (pull) => patch(store, pull, call));
    case 'POST pulls/#/requested_reviewers':
      return may(call, 'write') ?? withPull(store, number, (pull) => askReviewers(store, pull, call));
    case 'POST issues/#/labels':
      return may(call, 'write') ?? withPull(store, number, (pull) => addLabels(store, pull, call));
    case 'GET labels/#':
      return settings.labels.some((label) => same(label, number)) ? ok({ name: number }) : notFound();
    case 'POST labels':
      return createLabel(store, call);
    default:
      return notFound();
  }
}

/** `actions/runs/<id>` and `actions/runs/<id>/attempts/<n>`. */
function actionsRun({ settings }: ForgeStore, { method, path }: ForgeCall): ForgeReply {
  const [id = '', attempts, attempt = ''] = path.slice(5);
  const run = method === 'GET' && path[4] === 'runs' ? settings.runs[id] : undefined;
  const status = attempts === undefined ? 'completed' : run?.attempts[attempt];
  if (run === undefined || status === undefined) return notFound();
  return ok({
    id: Number(id),
    status,
    path: run.path ?? '.github/workflows/nightly.yml',
    head_branch: run.branch ?? settings.defaultBranch,
    event: run.event ?? 'schedule',
    repository: { id: repositoryIdOnHost },
    head_repository: { id: run.headRepository ?? repositoryIdOnHost },
  });
}

function viewer({ method, body, who }: ForgeCall): ForgeReply {
  if (method !== 'POST' || !String(body.query).includes('viewer')) return notFound();
  return ok({ data: { viewer: { login: who.login } } });
}

function repository({ settings, url }: ForgeStore, { who }: ForgeCall) {
  const isUser = who.kind === 'user';
  return {
    id: repositoryIdOnHost,
    name: settings.name,
    full_name: `${settings.owner}/${settings.name}`,
    private: settings.visibility !== 'public',
    visibility: settings.visibility,
    html_url: `${url}/${settings.owner}/${settings.name}`,
    fork: settings.isFork,
    archived: settings.isArchived,
    default_branch: settings.defaultBranch,
    has_pull_requests: settings.takesPulls,
    permissions: { admin: false, maintain: false, push: isUser && who.pulls !== 'none', triage: isUser, pull: isUser },
  };
}

function list(store: ForgeStore, { query }: ForgeCall): ForgePull[] {
  const [owner, head] = (query.get('head') ?? '').split(':');
  const state = query.get('state') ?? 'open';
  const found = store.pulls.filter((pull) => {
    const isOpen = pull.state === 'open';
    if (state !== 'all' && isOpen !== (state === 'open')) return false;
    // The filter knows owner and branch: another repository of the same owner passes.
    return head === undefined || (pull.head === head && same(owner, ownerOf(store, pull)));
  });
  return query.get('direction') === 'desc' ? found.reverse() : found;
}

function ownerOf({ settings }: ForgeStore, pull: ForgePull): string {
  return pull.headRepository >= 900 ? pull.author : settings.owner;
}

function create(store: ForgeStore, { body, who }: ForgeCall): ForgeReply {
  const { settings } = store;
  const head = String(body.head);
  const base = String(body.base);
  if (who.kind === 'actions' && !settings.actionsMayOpenPulls)
    return {
      status: 403,
      value: { message: 'GitHub Actions is not permitted to create or approve pull requests.', status: '403' },
    };
  if (settings.isArchived) return { status: 403, value: { message: 'Repository was archived so is read-only.' } };
  if (String(body.body).length > 65_536) return invalid({ message: 'body is too long (maximum is 65536 characters)' });
  if (settings.tipOf(head) === null) return invalid({ field: 'head', code: 'invalid' });
  if (settings.tipOf(base) === null) return invalid({ field: 'base', code: 'invalid' });
  const isTaken = store.pulls.some(
    (pull) =>
      pull.state === 'open' && pull.head === head && pull.base === base && pull.headRepository === repositoryIdOnHost,
  );
  if (isTaken)
    return invalid({ code: 'custom', message: `A pull request already exists for ${settings.owner}:${head}.` });
  if (!settings.isAhead(base, head))
    return invalid({ code: 'custom', message: `No commits between ${base} and ${head}` });
  if (body.draft === true && !settings.knowsDrafts)
    return { status: 422, value: { message: 'Draft pull requests are not supported in this repository.' } };
  const made = store.add({
    title: String(body.title),
    body: String(body.body),
    draft: body.draft === true,
    author: who.login,
    head,
    base,
  });
  return { status: 201, value: shown(store, made) };
}

function patch(store: ForgeStore, pull: ForgePull, { body }: ForgeCall): ForgeReply {
  if (typeof body.title === 'string') pull.title = body.title;
  if (typeof body.body === 'string') pull.body = body.body;
  if (typeof body.base === 'string') pull.base = body.base;
  return ok(shown(store, pull));
}

function askReviewers({ settings }: ForgeStore, pull: ForgePull, { body }: ForgeCall): ForgeReply {
  const users = Array.isArray(body.reviewers) ? body.reviewers.map(String) : [];
  const teams = Array.isArray(body.team_reviewers) ? body.team_reviewers.map(String) : [];
  if (users.includes(pull.author))
    return { status: 422, value: { message: 'Review cannot be requested from pull request author.' } };
  if ([...users, ...teams].some((name) => !settings.collaborators.includes(name)))
    return {
      status: 422,
      value: {
        message: `Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the ${settings.owner}/${settings.name} repository.`,
      },
    };
  pull.reviewers = [...new Set([...pull.reviewers, ...users, ...teams])];
  return { status: 201, value: {} };
}

function addLabels({ settings }: ForgeStore, pull: ForgePull, { body, who }: ForgeCall): ForgeReply {
  const labels = Array.isArray(body.labels) ? body.labels.map(String) : [];
  const missing = labels.filter((label) => !settings.labels.some((known) => same(known, label)));
  if (missing.length > 0 && who.mayCreateLabels === false) return noNewLabels();
  settings.labels.push(...missing);
  pull.labels = [...new Set([...pull.labels, ...labels])];
  return ok(pull.labels.map((name) => ({ name })));
}

function createLabel({ settings }: ForgeStore, { body, who }: ForgeCall): ForgeReply {
  if (who.mayCreateLabels === false) return noNewLabels();
  settings.labels.push(String(body.name));
  return { status: 201, value: { name: body.name } };
}

function noNewLabels(): ForgeReply {
  return {
    status: 403,
    value: {
      message: 'You do not have permission to create labels on this repository.',
      errors: [{ resource: 'Repository', field: 'label', code: 'unauthorized' }],
    },
    headers: { 'x-accepted-github-permissions': 'issues=write' },
  };
}

function shown(store: ForgeStore, pull: ForgePull) {
  const { settings, url } = store;
  const isMerged = pull.state === 'merged';
  return {
    number: pull.number,
    html_url: `${url}/${settings.owner}/${settings.name}/pull/${pull.number}`,
    state: pull.state === 'open' ? 'open' : 'closed',
    title: pull.title,
    body: pull.body.replaceAll('\n', '\r\n'),
    draft: pull.draft,
    merged_at: isMerged ? '2026-11-30T03:17:00Z' : null,
    merge_commit_sha: isMerged ? pull.mergeOid : 'f'.repeat(40),
    user: { login: pull.author, type: pull.author.endsWith('[bot]') ? 'Bot' : 'User' },
    labels: pull.labels.map((name) => ({ name })),
    head: {
      ref: pull.head,
      sha: store.tipOf(pull),
      repo: pull.headRepository === 0 ? null : { id: pull.headRepository },
    },
    base: { ref: pull.base, repo: { id: repositoryIdOnHost } },
  };
}

function withPull(store: ForgeStore, number: string, answer: (pull: ForgePull) => ForgeReply): ForgeReply {
  const pull = store.pulls.find((candidate) => candidate.number === Number(number));
  return pull === undefined ? notFound() : answer(pull);
}

function may({ who }: ForgeCall, wanted: 'read' | 'write'): ForgeReply | null {
  const pulls = who.pulls ?? 'write';
  if (pulls === 'write' || (pulls === 'read' && wanted === 'read')) return null;
  return {
    ...notAccessible(who.kind === 'user' ? 'personal access token' : 'integration'),
    headers: { 'x-accepted-github-permissions': `pull_requests=${wanted}` },
  };
}

function notAccessible(by = 'integration'): ForgeReply {
  return { status: 403, value: { message: `Resource not accessible by ${by}`, status: '403' } };
}

function invalid(error: Record<string, string>): ForgeReply {
  return {
    status: 422,
    value: { message: 'Validation Failed', errors: [{ resource: 'PullRequest', ...error }], status: '422' },
  };
}

function notFound(): ForgeReply {
  return { status: 404, value: { message: 'Not Found', status: '404' } };
}

function ok(value: unknown): ForgeReply {
  return { status: 200, value };
}

function same(a: string | undefined, b: string): boolean {
  return a?.toLowerCase() === b.toLowerCase();
}
