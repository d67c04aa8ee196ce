import { MemoryError, messageOf } from '../shared/errors.ts';
import { GitError } from './errors.ts';
import type { Environment } from './program.ts';
import { RemoteUnreachableError } from './remote-errors.ts';
import { authError, notFoundError, unreachableError } from './remote-failures.ts';
import type { Credentials } from './remote-words.ts';

/** A Git server over http, as far as isomorphic-git needs it: whole answers, or an error that says what is wrong. */
export interface GitHttp {
  ask(request: HttpRequest): Promise<HttpAnswer>;
}

export interface HttpRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface HttpAnswer {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type Service = 'git-upload-pack' | 'git-receive-pack';

export interface HttpSettings {
  readonly credentials: Credentials;
  readonly env: Environment;
  readonly stallSeconds: number;
}

/**
 * @param base the address that is shown. Requests go below it, and to where the same server says that it has moved:
 * the token reaches no other one.
 */
export function gitHttp(base: string, settings: HttpSettings, signal: AbortSignal | undefined): GitHttp {
  let moved = base;
  return {
    async ask(request) {
      refuseProxy(base, settings.env);
      if (!request.url.startsWith(`${base}/`)) throw unreachableError(base, 'an address outside of it was asked for');
      let url = moved + request.url.slice(base.length);
      for (let hop = 0; ; hop += 1) {
        const answer = await exchange({ ...request, url }, base, settings, signal);
        const location = redirectOf(answer);
        if (location === null) return checked(answer, request, base, settings.credentials);
        const next = URL.canParse(location, url) ? new URL(location, url) : null;
        if (hop === maxHops || request.method !== 'GET' || next === null || next.origin !== new URL(base).origin)
          throw unreachableError(base, `it answers with a redirect (${answer.status}) that is not followed`);
        url = next.href;
        const cut = /^(.{1,4096})\/info\/refs\?service=/.exec(url)?.[1];
        if (cut !== undefined) moved = cut;
      }
    },
  };
}

const maxHops = 5;

/** Where the same server says that a repository has moved. */
export async function newBase(
  base: string,
  service: Service,
  settings: HttpSettings,
  signal: AbortSignal | undefined,
): Promise<string> {
  const url = `${base}/info/refs?service=${service}`;
  const answer = await gitHttp(base, settings, signal).ask({ url, method: 'GET', headers: {}, body: null });
  return answer.url.slice(0, answer.url.indexOf('/info/refs'));
}

async function exchange(
  request: HttpRequest,
  base: string,
  { credentials, stallSeconds }: HttpSettings,
  signal: AbortSignal | undefined,
): Promise<HttpAnswer> {
  const stop = new AbortController();
  const aborted = () => stop.abort();
  const idle = setTimeout(aborted, (stallSeconds + (request.body?.length ?? 0) / slowestUpload) * 1000);
  signal?.addEventListener('abort', aborted, { once: true });
  if (signal?.aborted) aborted();
  try {
    const response = await fetch(request.url, {
      method: request.method,
      headers: {
        ...request.headers,
        'user-agent': 'git/commit-to-memory',
        ...(credentials.authorization !== null && { authorization: credentials.authorization }),
      },
      body: request.body,
      redirect: 'manual',
      signal: stop.signal,
    });
    const chunks: Uint8Array[] = [];
    for await (const chunk of response.body ?? []) {
      idle.refresh();
      chunks.push(chunk as Uint8Array);
    }
    return {
      url: request.url,
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.concat(chunks),
    };
  } catch (error) {
    if (signal?.aborted) throw stopped(signal.reason);
    if (stop.signal.aborted) throw unreachableError(base, `no byte for ${stallSeconds} s`);
    throw unreachableError(base, credentials.words(causesOf(error)));
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener('abort', aborted);
  }
}

/** Bytes a second; what is still being sent after that is a stalled connection too. */
const slowestUpload = 20_000;

function stopped(reason: unknown): MemoryError {
  if (reason instanceof MemoryError) return reason;
  return new GitError('The connection was closed before all was done.', 'Run it again; nothing is half done.');
}

/** `fetch` says why in causes of causes. */
function causesOf(thrown: unknown): string {
  const causes: string[] = [];
  for (let error: unknown = thrown; error instanceof Error && causes.length < 6; error = error.cause) {
    const code = 'code' in error && typeof error.code === 'string' ? ` (${error.code})` : '';
    causes.push(`${error.message}${code}`);
    if (error instanceof AggregateError) causes.push(...error.errors.slice(0, 2).map(messageOf));
  }
  return [...new Set(causes)].join('; ');
}

function redirectOf({ status, headers }: HttpAnswer): string | null {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.location ?? '') : null;
}

/** Git's own answers have a type of their own; a listing ends in a flush, else it was cut off and says too little. */
function checked(answer: HttpAnswer, request: HttpRequest, base: string, credentials: Credentials): HttpAnswer {
  const { status, headers, body } = answer;
  const type = headers['content-type'] ?? 'no type';
  if (status !== 200) {
    const said = type.startsWith('text/plain') ? body.toString('utf8', 0, 2000) : '';
    const words = credentials.words(`status ${status}\n${said}`);
    if (status === 401 || status === 403) throw authError(base, words);
    if (status === 404 || status === 410) throw notFoundError(base, words);
    throw unreachableError(base, words);
  }
  if (!/^application\/x-git-(?:upload|receive)-pack-(?:advertisement|result)$/.test(type))
    throw unreachableError(base, `it does not speak Git's smart protocol but sends ${credentials.words(type)}`);
  const isListing = request.method === 'GET' || request.body?.includes('command=ls-refs') === true;
  if (isListing && !body.subarray(-4).equals(flush)) throw unreachableError(base, 'its answer was cut off');
  const complaint = /^(?:00[12][0-9a-f]# service=[a-z-]{1,20}\n0000)?[0-9a-f]{4}ERR (.{0,1000})/.exec(
    body.toString('utf8', 0, 1100),
  )?.[1];
  if (isListing && complaint !== undefined) throw unreachableError(base, credentials.words(complaint));
  return answer;
}

const flush = Buffer.from('0000');

function refuseProxy(base: string, env: Environment): void {
  const { protocol, hostname } = new URL(base);
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy'];
  const name = [...names, 'all_proxy', 'ALL_PROXY'].find((variable) => env[variable]);
  if (name === undefined || isExempt(hostname, env.no_proxy ?? env.NO_PROXY ?? '')) return;
  throw new RemoteUnreachableError(
    `${base} can only be reached through the proxy of ${name}, which needs the git program.`,
    'Install git (https://git-scm.com), or name the host in NO_PROXY where it can be reached directly.',
  );
}

function isExempt(host: string, list: string): boolean {
  return list
    .split(/[\s,]/)
    .map((entry) => entry.replace(/^\*?\./, '').toLowerCase())
    .some((entry) => entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`))));
}
