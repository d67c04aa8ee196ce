import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from '../../scripts/shared/once.ts';
import { type Ending, git } from './repository.ts';

/** What a token may do; `refs` are shell patterns of the refs that it may push, without them all. */
export interface Rights {
  readonly write?: boolean;
  readonly refs?: readonly string[];
}

/** How a request is to go wrong. `drop`: before it is carried out; `cut`: after, half of the answer is sent. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly body?: string; readonly type?: string }
  | { readonly kind: 'redirect'; readonly to: string; readonly status?: number }
  | { readonly kind: 'page' }
  | { readonly kind: 'drop' }
  | { readonly kind: 'cut' }
  | { readonly kind: 'stall' };

export interface GitRequest {
  /** From 1, since the fault was last set. */
  readonly n: number;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** Bytes of the body. */
  received: number;
  /** 0 while it is not answered. */
  status: number;
}

/** Real repositories behind real smart http: `git http-backend` behind a small server on the loopback interface. */
export interface GitServer {
  readonly origin: string;
  readonly requests: readonly GitRequest[];
  url(name: string): string;
  /** The bare repository's folder. */
  dir(name: string): string;
  create(name: string, ...init: readonly string[]): string;
  /** Refuses pushes to refs of a shell pattern by a pre-receive hook that says `words`; '' refuses nothing. */
  refuse(name: string, pattern: string, words: string): void;
  /** Asked at each request; null lets it through. Setting it starts the numbers again. */
  fault: ((request: GitRequest) => Fault | null) | null;
  close(): Promise<void>;
}

export interface GitServerOptions {
  /** By token, which is the password of basic authentication whatever the user. */
  readonly tokens: Readonly<Record<string, Rights>>;
  /** What may be done without one. */
  readonly anonymous?: 'nothing' | 'read' | 'write';
  readonly port?: number;
}

/** A server that is gone when the test ends. */
export async function aGitServer(t: Ending, options: GitServerOptions): Promise<GitServer> {
  const server = await startGitServer(options);
  t.after(() => server.close());
  return server;
}

export async function startGitServer({ tokens, anonymous, port }: GitServerOptions): Promise<GitServer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'memory-test-server-')));
  let requests: GitRequest[] = [];
  let fault: GitServer['fault'] = null;
  const children = new Set<ReturnType<typeof spawn>>();

  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const entry: GitRequest = { n: requests.length + 1, method, url, headers, received: 0, status: 0 };
    requests.push(entry);
    request.on('data', (chunk: Buffer) => {
      entry.received += chunk.length;
    });
    const found = fault?.(entry) ?? null;
    if (found !== null && found.kind !== 'cut') return fail(found, entry, request, response);
    const rights = rightsOf(headers.authorization, tokens, anonymous);
    const writes = url.includes('git-receive-pack');
    if (rights === null)
      return answer(response, entry, 401, 'Authentication required', { 'www-authenticate': 'Basic' });
    if (writes && rights.write !== true) return answer(response, entry, 403, 'Write access to repository not granted.');
    const refs = rights.refs === undefined ? '' : rights.refs.join(' ');
    serve(request, response, entry, { root, refs, cut: found !== null, children });
  });
  await new Promise<void>((done) => server.listen(port ?? 0, '127.0.0.1', done));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    origin,
    get requests() {
      return requests;
    },
    get fault() {
      return fault;
    },
    set fault(next) {
      fault = next;
      requests = [];
    },
    url: (name) => `${origin}/${name}.git`,
    dir: (name) => join(root, `${name}.git`),
    create: (name, ...init) => {
      const dir = join(root, `${name}.git`);
      mkdirSync(dir, { recursive: true });
      git(dir, 'init', '--quiet', '--bare', '--initial-branch=main', '--template=', ...init);
      appendFileSync(join(dir, 'config'), '[http]\n\treceivepack = true\n[receive]\n\tautogc = false\n');
      if (Object.values(tokens).some(({ refs }) => refs !== undefined)) refuseIn(dir, '');
      return dir;
    },
    refuse: (name, pattern, words) => refuseIn(join(root, `${name}.git`), `${pattern}\t${words}\n`),
    close: () => stop(server, children, root),
  };
}

/** A repository has the hook from the first rule on, whose check costs each push a process. */
function refuseIn(dir: string, rules: string): void {
  mkdirSync(join(dir, 'hooks'), { recursive: true });
  writeFileSync(join(dir, 'refuse'), rules);
  writeFileSync(join(dir, 'hooks', 'pre-receive'), hook, { mode: 0o755 });
}

/** Refuses by token (the server sets the variable) and by the repository's file of rules. */
const hook = `#!/bin/sh
while read -r old new ref; do
  if [ -n "$TEST_REFS" ]; then
    allowed=no
    set -f
    for pattern in $TEST_REFS; do case "$ref" in $pattern) allowed=yes ;; esac; done
    [ $allowed = yes ] || { echo "this token may not push to $ref" >&2; exit 1; }
  fi
  while IFS='	' read -r pattern words; do
    [ -n "$pattern" ] || continue
    case "$ref" in $pattern) echo "$words" >&2; exit 1 ;; esac
  done < refuse
done
`;

function rightsOf(
  header: string | undefined,
  tokens: GitServerOptions['tokens'],
  anonymous: GitServerOptions['anonymous'],
): Rights | null {
  if (header === undefined)
    return anonymous === 'write' ? { write: true } : anonymous === 'read' ? { write: false } : null;
  const pair = /^basic (\S+)$/i.exec(header)?.[1];
  const token = Buffer.from(pair ?? '', 'base64')
    .toString()
    .replace(/^[^:]*:/, '');
  return Object.hasOwn(tokens, token) ? (tokens[token] ?? null) : null;
}

function fail(
  fault: Exclude<Fault, { kind: 'cut' }>,
  entry: GitRequest,
  request: IncomingMessage,
  response: ServerResponse,
) {
  switch (fault.kind) {
    case 'status':
      return answer(response, entry, fault.status, fault.body ?? '', { 'content-type': fault.type ?? 'text/plain' });
    case 'redirect':
      return answer(response, entry, fault.status ?? 302, '', { location: fault.to });
    case 'page':
      return answer(response, entry, 200, '<html>Sign in</html>', { 'content-type': 'text/html' });
    case 'drop':
      request.socket.destroy();
      return;
    case 'stall':
      request.resume();
  }
}

function answer(
  response: ServerResponse,
  entry: GitRequest,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  entry.status = status;
  response.writeHead(status, { 'content-type': 'text/plain', ...headers });
  response.end(body);
}

interface Backend {
  readonly root: string;
  readonly refs: string;
  readonly cut: boolean;
  readonly children: Set<ReturnType<typeof spawn>>;
}

/** The program of `git http-backend`, as a web server starts it. */
const backendProgram = once(() => join(git(tmpdir(), '--exec-path'), 'git-http-backend'));

/** Speaks CGI with it. */
function serve(request: IncomingMessage, response: ServerResponse, entry: GitRequest, backend: Backend): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const { headers } = request;
  const child = spawn(backendProgram(), {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: backend.root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
      TEST_REFS: backend.refs,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      REMOTE_USER: 'tester',
      REMOTE_ADDR: '127.0.0.1',
      CONTENT_TYPE: headers['content-type'] ?? '',
      ...(headers['content-length'] !== undefined && { CONTENT_LENGTH: headers['content-length'] }),
      ...(headers['content-encoding'] !== undefined && { HTTP_CONTENT_ENCODING: headers['content-encoding'] }),
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  backend.children.add(child);
  child.stdin.on('error', () => request.resume());
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.on('close', () => {
    backend.children.delete(child);
    const bytes = Buffer.concat(chunks);
    const end = bytes.indexOf('\r\n\r\n');
    const fields = bytes
      .toString('latin1', 0, Math.max(0, end))
      .split('\r\n')
      .map((line) => line.split(': ') as [string, string]);
    const body = bytes.subarray(end + 4);
    entry.status = end < 0 ? 500 : Number.parseInt(fields.find(([name]) => name === 'Status')?.[1] ?? '200', 10);
    const sent = Object.fromEntries(fields.filter(([name]) => name !== 'Status' && name !== ''));
    response.writeHead(entry.status, { ...sent, 'content-length': body.length });
    if (!backend.cut) response.end(body);
    else response.write(body.subarray(0, body.length >> 1), () => response.destroy());
  });
}

async function stop(server: Server, children: ReadonlySet<ReturnType<typeof spawn>>, root: string): Promise<void> {
  for (const child of children) child.kill('SIGKILL');
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  rmSync(root, { recursive: true, force: true });
}
