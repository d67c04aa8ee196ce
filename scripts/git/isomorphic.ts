import fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  Errors,
  fetch as fetchRef,
  type GitHttpRequest,
  type GitHttpResponse,
  isIgnored as isIgnoredBy,
  listServerRefs,
  push as pushRef,
  readObject,
} from 'isomorphic-git';
import type { Oid } from '../shared/files.ts';
import type { ObjectType, RawObject, ReadObjects } from './objects.ts';
import type { GitHttp, HttpAnswer, HttpRequest } from './remote-http.ts';
import type { RepositoryView } from './remote-view.ts';

/**
 * isomorphic-git's only door: reading objects, loose and packed, `.gitignore`, and talking to a server over http. It
 * does not write for us, see `loose-objects.ts`, `index-file.ts` and `remote-view.ts`.
 */
export function isomorphicReader(gitDir: string): ReadObjects {
  let cache = {};
  const readOne = async (oid: Oid): Promise<RawObject | null> => {
    try {
      const found = await readObject({ fs, gitdir: gitDir, oid, format: 'content', cache });
      if (found.format !== 'content') throw new Error(`${oid} came back as ${found.format}`);
      return { type: found.type as ObjectType, bytes: Buffer.from(found.object) };
    } catch (error) {
      if (error instanceof Errors.NotFoundError) return null;
      throw error;
    }
  };
  return async (oids) => {
    const objects: (RawObject | null)[] = [];
    for (const oid of oids) {
      const object = await readOne(oid);
      if (object === null) cache = {};
      objects.push(object ?? (await readOne(oid)));
    }
    return objects;
  };
}

/** Whether a path of the working tree is ignored; `filepath` as text. */
export function isIgnored(workTree: string, gitDir: string, filepath: string): Promise<boolean> {
  return isIgnoredBy({ fs, dir: workTree, gitdir: gitDir, filepath });
}

/** The refs of a server whose names begin with `prefix`. */
export async function serverRefs(http: GitHttp, url: string, prefix: string): Promise<readonly ServerRef[]> {
  return listServerRefs({ http: clientOver(http), url, prefix, symrefs: true, protocolVersion: 2 });
}

export interface ServerRef {
  readonly ref: string;
  readonly oid: string;
  readonly target?: string | undefined;
}

/** Brings one ref of a server to `refs/fetched` of a view, which may hold an older commit of it as `refs/have`. */
export async function fetchInto(
  view: RepositoryView,
  http: GitHttp,
  url: string,
  { ref, oid }: { readonly ref: string; readonly oid: Oid },
  depth: number | null,
): Promise<void> {
  const ask = async (request: HttpRequest) => withHead(await http.ask(request), oid);
  const place = { fs: view.fs, gitdir: view.gitDir, http: clientOver({ ask }), cache: {} };
  const what = { remote: 'memory', url, ref: 'refs/have', remoteRef: ref, singleBranch: true, tags: false };
  await fetchRef({ ...place, ...what, ...(depth !== null && { depth }) });
}

/**
 * Pushes a view's `refs/next` over one ref of a server, or deletes that.
 * @param maySend is told what the server has advertised for exactly that ref, null for none, before anything is sent.
 * @returns null when it is done; `held` where `maySend` said no; else what the server answered.
 */
export async function pushFrom(
  view: RepositoryView,
  http: GitHttp,
  url: string,
  push: { readonly ref: string; readonly remove: boolean; maySend(actual: Oid | null): boolean },
): Promise<null | 'held' | { readonly error: string; readonly messages: readonly string[] }> {
  const messages: string[] = [];
  try {
    await pushRef({
      fs: view.fs,
      gitdir: view.gitDir,
      http: clientOver(http),
      url,
      remote: 'memory',
      ref: 'refs/next',
      remoteRef: push.ref,
      force: true,
      delete: push.remove,
      onMessage: (message) => {
        messages.push(message);
      },
      onPrePush: ({ remoteRef }) =>
        remoteRef.ref === push.ref && push.maySend(/^0+$/.test(remoteRef.oid) ? null : remoteRef.oid),
    });
    return null;
  } catch (error) {
    if (error instanceof Errors.UserCanceledError) return 'held';
    if (!(error instanceof Errors.GitPushError)) throw error;
    await setImmediate();
    const { error: failed, refs } = error.data.result;
    return { error: refs[push.ref]?.error || failed || 'it gave no reason', messages };
  }
}

/** It gives up on a server whose default branch does not exist yet, so that gets one for as long as it looks. */
function withHead(answer: HttpAnswer, oid: Oid): HttpAnswer {
  const { body, headers } = answer;
  const isListing = headers['content-type'] === 'application/x-git-upload-pack-advertisement';
  if (!isListing || body.includes(' HEAD\0') || body.includes(' HEAD\n')) return answer;
  const line = `${oid} HEAD\n`;
  const packet = (line.length + 4).toString(16).padStart(4, '0') + line;
  return { ...answer, body: Buffer.concat([body.subarray(0, -4), Buffer.from(packet), body.subarray(-4)]) };
}

function clientOver(http: GitHttp) {
  return {
    request: async (request: GitHttpRequest): Promise<GitHttpResponse> => {
      const { url, method = 'GET', headers = {} } = request;
      const body = request.body === undefined ? null : await gathered(request.body);
      const answer = await http.ask({ url, method, headers, body });
      return {
        url: answer.url,
        method,
        headers: { ...answer.headers },
        body: oneChunk(answer.body),
        statusCode: answer.status,
        statusMessage: '',
      };
    },
  };
}

async function gathered(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}
