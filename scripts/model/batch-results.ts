import { parsedJson } from '../shared/json.ts';
import { at, countAt, textAt } from './at.ts';
import type { BatchRecord, BatchStatus } from './batch-record.ts';
import { ModelError } from './errors.ts';
import { noHeaders } from './http.ts';
import { errorOf, refusalFrom } from './refusals.ts';
import type { ModelReply } from './types.ts';
import { judge } from './verdict.ts';

/** What the files of a batch that has ended say, by key. What is in neither has no answer. */
export interface Results {
  readonly answered: ReadonlyMap<string, ModelReply>;
  readonly failed: ReadonlyMap<string, ModelError>;
  /** Lines that are no result, or of no request of this batch, or a second one of the same. */
  readonly damaged: number;
  readonly foreign: number;
  readonly repeated: number;
}

/** Takes a batch's result lines as they come, in whatever order, and believes none of them. */
export interface ResultReader {
  /** @returns false when there are far more lines than requests. */
  take(line: string | null): boolean;
  results(): Results;
}

/** @param apiKey is taken out of what the server says. @param before what another file of the batch said. */
export function createResultReader(
  { requests, wire, model, status }: Pick<BatchRecord, 'requests' | 'wire' | 'model' | 'status'>,
  apiKey: string,
  before: Results = none,
): ResultReader {
  const known = new Set(requests.map(({ key }) => key));
  const answered = new Map(before.answered);
  const failed = new Map(before.failed);
  const counts = { damaged: before.damaged, foreign: before.foreign, repeated: before.repeated };
  let lines = 0;
  const note = (line: string | null): void => {
    const value = line === null ? undefined : parsedJson(line);
    const key = textAt(value, 'custom_id');
    if (key === null) counts.damaged += 1;
    else if (!known.has(key)) counts.foreign += 1;
    else {
      const result = resultOf(value, { wire, model, status }, apiKey);
      const isKnown = answered.has(key) || failed.has(key);
      if (result === null) counts.damaged += 1;
      else if (isKnown && (answered.has(key) || result instanceof ModelError)) counts.repeated += 1;
      else if (result instanceof ModelError) failed.set(key, result);
      else if (result !== 'unanswered') {
        if (failed.delete(key)) counts.repeated += 1;
        answered.set(key, result);
      }
    }
  };
  return {
    take(line) {
      note(line);
      lines += 1;
      return lines < 3 * known.size + spareLines;
    },
    results: () => ({ answered, failed, ...counts }),
  };
}

const none: Results = { answered: new Map(), failed: new Map(), damaged: 0, foreign: 0, repeated: 0 };

const spareLines = 1_000;

/** null for what is no result. */
function resultOf(
  value: unknown,
  { wire, model, status: end }: Pick<BatchRecord, 'wire' | 'model' | 'status'>,
  apiKey: string,
): ModelReply | ModelError | 'unanswered' | null {
  const body = at(value, 'response', 'body');
  if (body !== undefined && body !== null) {
    const status = countAt(value, 'response', 'status_code') ?? 200;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = { status, headers: noHeaders, body: text, broken: false };
    const verdict = judge(answer, wire, { messages: [], model }, apiKey);
    return verdict.outcome === 'reply' ? verdict.reply : ofOneRequest(verdict.error);
  }
  const error = at(value, 'error');
  if (typeof error !== 'object' || error === null) return null;
  if (cutShort.has(end) || unasked.has(textAt(error, 'code') ?? '')) return 'unanswered';
  return ofOneRequest(errorOf(refusalFrom(500, error, ''), new Headers(), apiKey));
}

/** What has no answer in a batch that ended so did not come to its turn, however the server words it. */
const cutShort: ReadonlySet<BatchStatus> = new Set(['expired', 'cancelled']);

/** The batch ended before the request's turn: nothing was paid for it. */
const unasked: ReadonlySet<string> = new Set(['batch_expired', 'batch_cancelled']);

/** What the server says of one request of a batch stops no night: the others are answered. */
function ofOneRequest(error: ModelError): ModelError {
  const kind = error.kind === 'too_long' || error.kind === 'bad_request' ? error.kind : 'server';
  return new ModelError(kind, `In its batch: ${error.message}`, error.hint, {
    cause: error,
    ...(error.status === null ? {} : { status: error.status }),
  });
}
