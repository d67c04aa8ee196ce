import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { githubReply } from './forge-github.ts';
import { gitlabReply } from './forge-gitlab.ts';
import { createStore, type ForgeStore } from './forge-store.ts';
import type { Fault, ForgeReply, ForgeRequestLog, ForgeServer, ForgeSettings } from './forge-types.ts';

/**
 * One repository on a pretended host that speaks GitHub's and GitLab's interfaces over the same pull requests, on a free
 * local port. Child processes reach it by its addresses; the test looks at its state and its log.
 */
export async function startForgeServer(settings: Partial<ForgeSettings> = {}): Promise<ForgeServer> {
  const store = createStore(settings);
  const requests: ForgeRequestLog[] = [];
  const faults = new Map<number, Fault>();
  const server = createServer((incoming, outgoing) => {
    serve(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error instanceof Error ? error : undefined));
  });
  const port = await listen(server);
  const url = `http://127.0.0.1:${port}`;
  store.url = url;
  return {
    port,
    url,
    githubApi: `${url}/api/v3`,
    gitlabApi: `${url}/api/v4`,
    settings: store.settings,
    pulls: store.pulls,
    requests,
    faults,
    add: (pull) => store.add(pull),
    merge: (number, oid) => store.merge(number, oid),
    shut: (number, label) => store.shut(number, label),
    reopen: (number) => store.reopen(number),
    close: () => stop(server),
  };

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await text(incoming);
    const fault = faults.get(requests.length);
    requests.push(logged(incoming, body));
    if (fault !== undefined && 'stall' in fault) return;
    if (fault !== undefined && 'drop' in fault) {
      if (fault.drop === 'after') reply(store, incoming, body);
      incoming.socket.destroy();
      return;
    }
    if (fault !== undefined) {
      if (fault.applies) reply(store, incoming, body);
      return send(outgoing, {
        status: fault.status,
        value: fault.body,
        ...(fault.headers && { headers: fault.headers }),
      });
    }
    send(outgoing, reply(store, incoming, body));
  }
}

function logged(incoming: IncomingMessage, body: string): ForgeRequestLog {
  const headers = Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]);
  return { method: incoming.method ?? '', path: incoming.url ?? '', headers: Object.fromEntries(headers), body };
}

function reply(store: ForgeStore, incoming: IncomingMessage, text: string): ForgeReply {
  const url = new URL(incoming.url ?? '/', store.url);
  const parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
  const isGitLab = parts[1] === 'v4';
  if ((incoming.headers['user-agent'] ?? '') === '')
    return { status: 403, value: { message: 'Request forbidden by administrative rules.' } };
  const who = store.settings.tokens[(incoming.headers.authorization ?? '').replace(/^Bearer /, '')];
  if (who === undefined || who.expired)
    return isGitLab
      ? { status: 401, value: { message: '401 Unauthorized' } }
      : { status: 401, value: { message: 'Bad credentials', status: '401' } };
  const call = {
    method: incoming.method ?? '',
    path: parts.slice(parts[1] === 'graphql' ? 1 : 2),
    query: url.searchParams,
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    who,
  };
  return paged(store, url, isGitLab ? gitlabReply(store, call) : githubReply(store, call));
}

function paged(store: ForgeStore, url: URL, whole: ForgeReply): ForgeReply {
  if (!Array.isArray(whole.value) || whole.status !== 200) return whole;
  const size = Math.min(Number(url.searchParams.get('per_page') ?? 30), store.settings.pageSize);
  const page = Number(url.searchParams.get('page') ?? 1);
  const next = new URL(url);
  next.searchParams.set('page', String(page + 1));
  const hasNext = whole.value.length > page * size;
  return {
    status: 200,
    value: whole.value.slice((page - 1) * size, page * size),
    headers: hasNext ? { link: `<${next.href}>; rel="next", <${next.href}>; rel="last"` } : {},
  };
}

function send(outgoing: ServerResponse, { status, value, headers = {} }: ForgeReply): void {
  const isHtml = typeof value === 'string';
  outgoing.writeHead(status, { 'content-type': isHtml ? 'text/html' : 'application/json', ...headers });
  outgoing.end(value === undefined ? '' : isHtml ? value : JSON.stringify(value));
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)));
    server.closeAllConnections();
  });
}
