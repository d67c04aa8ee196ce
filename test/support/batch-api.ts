import { answerLine, type InputLine, readInput } from './batch-lines.ts';
import type { Behave } from './model-nights.ts';

export type BatchEnd = 'completed' | 'expired' | 'cancelled';

/** A batch as the interface shows it. */
export interface ApiBatch {
  readonly id: string;
  readonly object: 'batch';
  readonly endpoint: string;
  readonly input_file_id: string;
  readonly completion_window: string;
  readonly created_at: number;
  readonly expires_at: number;
  readonly metadata: Readonly<Record<string, string>> | null;
  status: string;
  output_file_id: string | null;
  error_file_id: string | null;
  errors: {
    object: 'list';
    data: { code: string; message: string; line: number | null; param: string | null }[];
  } | null;
  request_counts: { total: number; completed: number; failed: number };
}

export interface Ending {
  /** How it ends: completed. */
  readonly end?: BatchEnd;
  /** Who answers a request; null: it did not come to its turn. */
  readonly behave?: (...args: Parameters<Behave>) => ReturnType<Behave> | null;
  /** What becomes of the lines of the output file, and of those of the error file. */
  readonly output?: (lines: string[]) => readonly string[];
  readonly errors?: (lines: string[]) => readonly string[];
}

/** What happens to a call: it is done and its answer lost, or it never arrives, or hangs before or after it is done. */
export type Fault =
  | 'lost'
  | 'refused'
  | 'hangs before'
  | 'hangs after'
  | { readonly status: number; readonly message: string };

/** A server's Files and Batch interfaces in memory. It works on nothing by itself: the test ends each batch. */
export interface BatchApi {
  readonly files: ReadonlyMap<string, string>;
  /** The oldest first. */
  readonly batches: readonly ApiBatch[];
  /** `POST /v1/batches` … as they arrived. */
  readonly calls: readonly string[];
  /** Decides about each call from now on. */
  fault: (call: string) => Fault | null;
  /** Epoch seconds: the server's clock. */
  now: number;
  /** Refuses to begin what is asked for from now on. */
  invalid: string | null;
  /** It is worked on. */
  begin(id: string): void;
  end(id: string, ending: Ending): Promise<void>;
  /** All that are not over. */
  endAll(ending: Ending): Promise<void>;
  /** As time does. */
  expireFile(id: string): void;
  inputOf(id: string): InputLine[];
  /** null: no call of these interfaces. */
  serve(method: string, path: string, headers: Headers, body: Buffer): Promise<ApiAnswer | null>;
}

export type ApiAnswer = { readonly status: number; readonly body: string; readonly type: string } | 'drop' | 'hang';

const over = ['failed', 'completed', 'expired', 'cancelled'];
const mostRequests = 50_000;

/** @param now epoch seconds. */
export function createBatchApi(now = 1_796_000_000): BatchApi {
  const files = new Map<string, string>();
  const batches: ApiBatch[] = [];
  const calls: string[] = [];
  let count = 0;
  const keep = (kind: string, text: string): string => {
    count += 1;
    files.set(`file-${kind}${count}`, text);
    return `file-${kind}${count}`;
  };
  const batchOf = (id: string): ApiBatch => {
    const batch = batches.find((one) => one.id === id);
    if (batch === undefined) throw new Error(`There is no batch ${id}.`);
    return batch;
  };
  const api: BatchApi = {
    files,
    batches,
    calls,
    fault: () => null,
    now,
    invalid: null,
    begin: (id) => {
      batchOf(id).status = 'in_progress';
    },
    async end(id, { end = 'completed', behave, output = same, errors = same }) {
      const batch = batchOf(id);
      const good: string[] = [];
      const bad: string[] = [];
      for (const [index, line] of api.inputOf(id).entries()) {
        const answer = await answerLine(line, index, batch.endpoint, behave ?? (() => null), end);
        (answer.isGood ? good : bad).push(answer.text);
      }
      batch.status = end;
      batch.request_counts = { total: good.length + bad.length, completed: good.length, failed: bad.length };
      const [out, err] = [output(good), errors(bad)];
      batch.output_file_id = out.length === 0 ? null : keep('output', textOf(out));
      batch.error_file_id = err.length === 0 ? null : keep('errors', textOf(err));
    },
    async endAll(ending) {
      for (const { id, status } of batches) if (!over.includes(status)) await api.end(id, ending);
    },
    expireFile: (id) => {
      files.delete(id);
    },
    inputOf: (id) => {
      const { lines } = readInput(files.get(batchOf(id).input_file_id) ?? '', batchOf(id).endpoint);
      return lines;
    },
    async serve(method, path, headers, body) {
      if (!/^\/v1\/(files|batches)\b/.test(path)) return null;
      const call = `${method} ${path}`;
      calls.push(call);
      const fault = api.fault(call);
      if (fault === 'refused') return 'drop';
      if (fault === 'hangs before') return 'hang';
      if (typeof fault === 'object' && fault !== null) return refusal(fault.status, fault.message);
      const answer = await route(method, path, headers, body);
      if (fault === 'lost') return 'drop';
      return fault === 'hangs after' ? 'hang' : answer;
    },
  };
  return api;

  async function route(method: string, path: string, headers: Headers, body: Buffer): Promise<ApiAnswer> {
    const { pathname, searchParams } = new URL(path, 'http://server');
    const [, , kind, id = '', verb = ''] = pathname.split('/');
    const key = `${method} ${kind}${id === '' ? '' : '/:id'}${verb === '' ? '' : `/${verb}`}`;
    switch (key) {
      case 'POST files':
        return upload(headers, body);
      case 'GET files/:id/content': {
        const text = files.get(id);
        return text === undefined
          ? refusal(404, `No such File object: ${id}`)
          : { status: 200, body: text, type: 'application/octet-stream' };
      }
      case 'DELETE files/:id':
        return files.delete(id)
          ? json({ id, object: 'file', deleted: true })
          : refusal(404, `No such File object: ${id}`);
      case 'POST batches':
        return create(JSON.parse(body.toString('utf8')));
      case 'GET batches':
        return list(Number(searchParams.get('limit') ?? 20), searchParams.get('after'));
      case 'GET batches/:id':
      case 'POST batches/:id/cancel': {
        const batch = batches.find((one) => one.id === id);
        if (batch === undefined) return refusal(404, `No batch found with id '${id}'.`);
        if (verb === 'cancel') {
          if (over.includes(batch.status)) return refusal(409, `Cannot cancel a batch with status '${batch.status}'.`);
          batch.status = 'cancelling';
        }
        return json(batch);
      }
      default:
        return refusal(404, `Invalid URL (${method} ${path})`);
    }
  }

  async function upload(headers: Headers, body: Buffer): Promise<ApiAnswer> {
    const type = headers.get('content-type') ?? '';
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const file = form.get('file');
    if (form.get('purpose') !== 'batch' || file === null || typeof file === 'string')
      return refusal(400, "'purpose' should be 'batch', with a file.");
    const text = await file.text();
    return json({
      id: keep('input', text),
      object: 'file',
      purpose: 'batch',
      bytes: Buffer.byteLength(text),
      filename: file.name,
    });
  }

  function create(asked: Record<string, unknown>): ApiAnswer {
    const text = files.get(String(asked.input_file_id));
    if (text === undefined) return refusal(400, `Invalid input_file_id ${asked.input_file_id}.`);
    if (asked.completion_window !== '24h') return refusal(400, "Invalid value: 'completion_window'. Expected '24h'.");
    if (!['/v1/chat/completions', '/v1/responses'].includes(String(asked.endpoint)))
      return refusal(400, `Invalid value: 'endpoint' ${asked.endpoint}.`);
    const metadata = (asked.metadata ?? {}) as Record<string, string>;
    if (Object.keys(metadata).length > 16 || Object.values(metadata).some((value) => value.length > 512))
      return refusal(400, "Invalid 'metadata'.");
    const { lines, problem } = readInput(text, String(asked.endpoint));
    const wrong = api.invalid ?? (lines.length > mostRequests ? 'There are more than 50000 requests.' : problem);
    const batch: ApiBatch = {
      id: `batch_${batches.length + 1}`,
      object: 'batch',
      endpoint: String(asked.endpoint),
      input_file_id: String(asked.input_file_id),
      completion_window: '24h',
      created_at: api.now,
      expires_at: api.now + 86_400,
      metadata,
      status: wrong === null ? 'validating' : 'failed',
      output_file_id: null,
      error_file_id: null,
      errors:
        wrong === null
          ? null
          : { object: 'list', data: [{ code: 'invalid_request', message: wrong, line: null, param: null }] },
      request_counts: { total: wrong === null ? lines.length : 0, completed: 0, failed: 0 },
    };
    batches.push(batch);
    return json({ ...batch, status: 'validating', errors: null });
  }

  function list(limit: number, after: string | null): ApiAnswer {
    const all = batches.toReversed();
    const start = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const data = all.slice(start, start + limit);
    return json({
      object: 'list',
      data,
      first_id: data[0]?.id,
      last_id: data.at(-1)?.id,
      has_more: start + limit < all.length,
    });
  }
}

function same(lines: string[]): string[] {
  return lines;
}

function textOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

function json(value: unknown): ApiAnswer {
  return { status: 200, body: JSON.stringify(value), type: 'application/json' };
}

function refusal(status: number, message: string): ApiAnswer {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  return { status, body: JSON.stringify({ error }), type: 'application/json' };
}
