import { parsedJson } from '../shared/json.ts';
import { at, listAt, textAt } from './at.ts';
import { isServerId } from './batch-record.ts';
import { type Client, createClient, type HttpAnswer } from './client.ts';
import { type Dialect, routeUnknown } from './dialect.ts';
import { ModelError, quoted } from './errors.ts';
import { createLineReader } from './line-reader.ts';
import { brokenAnswer, errorOf, foreignAnswer, refusalOf } from './refusals.ts';
import { mayRetry, pause, retryDelay, timerWait, type Wait } from './retry.ts';
import { endpointOf, type ServerBatch, serverBatch } from './server-batch.ts';

export interface BatchServerOptions {
  readonly baseUrl?: string;
  readonly apiKey: string;
  /** Seconds that one request may take in all, an upload or download too: 900. */
  readonly timeoutSeconds?: number;
  readonly idleSeconds?: number;
  /** Tries after the first: 4. */
  readonly maxRetries?: number;
  readonly wait?: Wait;
}

/** Some servers keep no word that is written on a batch. */
export interface Sought {
  readonly hash: string;
  /** Ids of files. */
  readonly files: readonly string[];
}

/**
 * A server's Batch API. What may pass is tried again.
 * @throws ModelError, of each; `bad_request` with the remedy where the server has no such interface.
 */
export interface BatchServer {
  /** @returns the file's id. */
  upload(file: File, signal?: AbortSignal): Promise<string>;
  /** One batch, however often the answer to this request gets lost. */
  create(
    input: { readonly file: string; readonly wire: Dialect['wire']; readonly runId: string; readonly hash: string },
    since: number,
    signal?: AbortSignal,
  ): Promise<ServerBatch>;
  /** null: the server knows of no such batch. */
  look(id: string, signal?: AbortSignal): Promise<ServerBatch | null>;
  /** The batch that was asked for since then (epoch seconds), by what we wrote on it or its input; null without one. */
  find(sought: Sought, since: number, signal?: AbortSignal): Promise<ServerBatch | null>;
  /**
   * Hands on each line of a file, null for one that is too long, until `take` says false.
   * @param begin begins the reading; called anew where a download broke off.
   * @returns false where the file is gone.
   */
  lines(file: string, begin: () => (line: string | null) => boolean, signal?: AbortSignal): Promise<boolean>;
  /** null: there is no such batch, or it has ended. */
  cancel(id: string, signal?: AbortSignal): Promise<ServerBatch | null>;
  /** One that is gone already is no error. */
  remove(file: string, signal?: AbortSignal): Promise<void>;
}

/** @throws UsageError for an address or a key that no request can be made with. */
export function createBatchServer(options: BatchServerOptions): BatchServer {
  const { baseUrl = 'https://api.openai.com/v1', timeoutSeconds = 900, idleSeconds = 300 } = options;
  const { maxRetries = 4, wait = timerWait } = options;
  const apiKey = options.apiKey.trim();
  const client = createClient({ baseUrl, apiKey, timeoutSeconds, idleSeconds });
  const again = { maxRetries, wait };

  /** A success's value. @throws ModelError */
  const successOf = (answer: HttpAnswer): unknown => {
    if (answer.status >= 300) throw refused(answer, apiKey);
    const value = parsedJson(answer.body);
    if (answer.broken) throw brokenAnswer(answer, '', apiKey);
    if (typeof value !== 'object' || value === null) throw foreignAnswer(answer, apiKey);
    return value;
  };
  const batchOf = (answer: HttpAnswer): ServerBatch => {
    const batch = serverBatch(successOf(answer), apiKey);
    if (batch === null) throw foreignAnswer(answer, apiKey);
    return batch;
  };
  const find: BatchServer['find'] = async ({ hash, files }, since, signal) => {
    let after = '';
    for (let page = 1; page <= mostPages; page += 1) {
      const path = `/batches?limit=${pageSize}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
      const value = await persistently(path, async () => successOf(await client.get(path, signal)), again, signal);
      const batches = listAt(value, 'data').flatMap((one) => serverBatch(one, apiKey) ?? []);
      const found = batches.find((batch) => batch.hash === hash || files.includes(batch.input ?? ''));
      if (found !== undefined) return found;
      const last = batches.at(-1);
      const isPast = last === undefined || (last.createdAt ?? Number.POSITIVE_INFINITY) < since - clockSlack;
      if (isPast || at(value, 'has_more') !== true) return null;
      after = last.id;
    }
    return null;
  };

  return {
    find,
    upload: (file, signal) =>
      persistently(
        'upload',
        async () => {
          const answer = await client.upload(file, signal);
          const id = textAt(successOf(answer), 'id');
          if (!isServerId(id)) throw foreignAnswer(answer, apiKey);
          return id;
        },
        again,
        signal,
      ),
    create: ({ file, wire, runId, hash }, since, signal) => {
      const body = {
        input_file_id: file,
        endpoint: endpointOf(wire),
        completion_window: '24h',
        metadata: { made_by: 'commit-to-memory', run: runId, hash },
      };
      let isFirst = true;
      const once = async () => {
        const known = isFirst ? null : await find({ hash, files: [file] }, since, signal);
        isFirst = false;
        return known ?? batchOf(await client.post('/batches', body, signal));
      };
      return persistently('create', once, again, signal);
    },
    look: (id, signal) =>
      persistently(
        id,
        async () => {
          const answer = await client.get(`/batches/${encodeURIComponent(id)}`, signal);
          if (answer.status !== 404) return batchOf(answer);
          successOf(await client.get('/batches?limit=1', signal));
          return null;
        },
        again,
        signal,
      ),
    lines: (file, begin, signal) =>
      persistently(file, () => linesOf(client, file, begin(), apiKey, signal), again, signal),
    cancel: (id, signal) =>
      persistently(
        id,
        async () => {
          const answer = await client.post(`/batches/${encodeURIComponent(id)}/cancel`, {}, signal);
          return ended.has(answer.status) ? null : batchOf(answer);
        },
        again,
        signal,
      ),
    remove: (file, signal) =>
      persistently(
        file,
        async () => {
          const answer = await client.remove(`/files/${encodeURIComponent(file)}`, signal);
          if (answer.status >= 300 && !gone.has(answer.status)) throw refused(answer, apiKey);
        },
        again,
        signal,
      ),
  };
}

const pageSize = 100;
const mostPages = 20;

/** Seconds by which the server's clock may differ from ours. */
const clockSlack = 3_600;

const gone: ReadonlySet<number> = new Set([404, 410]);
/** What is over cannot be cancelled. */
const ended: ReadonlySet<number> = new Set([400, 404, 409]);

async function linesOf(
  client: Client,
  file: string,
  take: (line: string | null) => boolean,
  apiKey: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const reader = createLineReader(take);
  const answer = await client.stream(`/files/${encodeURIComponent(file)}/content`, reader.add, signal);
  if (gone.has(answer.status)) return false;
  if (answer.status >= 300) throw refused(answer, apiKey);
  if (answer.broken) throw brokenAnswer(answer, '', apiKey);
  reader.end();
  return true;
}

function refused(answer: HttpAnswer, apiKey: string): ModelError {
  const refusal = refusalOf(answer.status, answer.body);
  if (!routeUnknown(refusal)) return errorOf(refusal, answer.headers, apiKey);
  return new ModelError(
    'bad_request',
    `The model's server has no Batch API (${refusal.status}): ${quoted(refusal.words, apiKey) || 'no words'}`,
    'Set model.batch: false in .github/memory.yml, and its requests are sent one by one. Nothing was lost.',
    { status: refusal.status },
  );
}

async function persistently<T>(
  subject: string,
  work: () => Promise<T>,
  { maxRetries, wait }: { readonly maxRetries: number; readonly wait: Wait },
  signal: AbortSignal | undefined,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ModelError) || !mayRetry(error, failures, maxRetries)) throw error;
      await pause(wait, retryDelay(failures, error.retryAfter, subject), signal);
    }
  }
}
