import { at, countAt, listAt, textAt } from './at.ts';
import type { Dialect } from './dialect.ts';

/** Where a batch stands, in the words of the Batch API. */
export const batchStatuses = [
  'validating',
  'failed',
  'in_progress',
  'finalizing',
  'completed',
  'expired',
  'cancelling',
  'cancelled',
] as const;

export type BatchStatus = (typeof batchStatuses)[number];

const over: ReadonlySet<BatchStatus> = new Set(['failed', 'completed', 'expired', 'cancelled']);

/** Whether nothing more will come of it. */
export function isOver(status: BatchStatus): boolean {
  return over.has(status);
}

/** One request of a batch. */
export interface BatchedRequest {
  readonly threadId: string;
  /** The thread's last activity, epoch seconds, as the request shows it. */
  readonly watermark: number;
  /** The journal's key of the request: its id in the batch. */
  readonly key: string;
}

/** What is written down before a batch is asked for, so that one whose answer got lost is found again. */
export interface Submission {
  /** Of the keys: the batch carries it at the server. */
  readonly hash: string;
  readonly runId: string;
  /** Epoch seconds. */
  readonly submittedAt: number;
  readonly wire: Dialect['wire'];
  readonly model: string;
  /** The most that the answers can cost. Money in millionths of a dollar; 0 for a model without a price. */
  readonly reserved: { readonly tokens: number; readonly microUsd: number };
  /** At the server: the input and, once it has ended, its results. */
  readonly files: readonly string[];
  /** By key. */
  readonly requests: readonly BatchedRequest[];
}

/**
 * A batch that the server has. It holds no word of a session. Once its end is seen, only requests are left in it whose
 * answers could not be used that night, and they are in the ledger; without any, its files are left to be deleted.
 */
export interface BatchRecord extends Submission {
  readonly id: string;
  /** As it was seen last. */
  readonly status: BatchStatus;
  readonly expiresAt: number | null;
}

/** Ids are parts of addresses. */
export function isServerId(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9][\w.:-]{0,199}$/.test(value) && !value.includes('..');
}

/** Fields in a fixed order: equal records are equal texts. */
export function batchFields(batch: BatchRecord): Record<string, unknown> {
  const { id, status, expiresAt } = batch;
  return { id, status, expiresAt, ...submissionFields(batch) };
}

export function submissionFields(submission: Submission): Record<string, unknown> {
  const { hash, runId, submittedAt, wire, model, reserved, files, requests } = submission;
  return {
    hash,
    runId,
    submittedAt,
    wire,
    model,
    reserved: { tokens: reserved.tokens, microUsd: reserved.microUsd },
    files,
    requests: requests.map(({ threadId, watermark, key }) => `${key} ${watermark} ${threadId}`),
  };
}

/** null for anything that `batchFields` would not have made. */
export function batchFrom(value: unknown): BatchRecord | null {
  const submission = submissionFrom(value);
  const id = textAt(value, 'id');
  const status = batchStatuses.find((each) => each === at(value, 'status'));
  const expiresAt = at(value, 'expiresAt') === null ? null : (countAt(value, 'expiresAt') ?? undefined);
  if (submission === null || status === undefined || expiresAt === undefined) return null;
  return isServerId(id) ? { id, status, expiresAt, ...submission } : null;
}

/** null for anything that `submissionFields` would not have made. */
export function submissionFrom(value: unknown): Submission | null {
  const [hash, runId, model] = ['hash', 'runId', 'model'].map((name) => textAt(value, name));
  const [submittedAt, tokens, microUsd] = [['submittedAt'], ['reserved', 'tokens'], ['reserved', 'microUsd']].map(
    (path) => integerAt(value, path),
  );
  const wire = textAt(value, 'wire');
  const lines = at(value, 'requests');
  const given = at(value, 'files');
  const files = listAt(value, 'files').filter(isServerId);
  if (hash == null || !/^[0-9a-f]{32}$/.test(hash) || runId == null || model == null) return null;
  if (submittedAt == null || tokens == null || microUsd == null) return null;
  if ((wire !== 'chat' && wire !== 'responses') || !Array.isArray(lines)) return null;
  const requests = lines.flatMap(requestFrom);
  if (requests.length !== lines.length || !Array.isArray(given) || files.length !== given.length) return null;
  return { hash, runId, submittedAt, wire, model, reserved: { tokens, microUsd }, files, requests };
}

function integerAt(value: unknown, path: readonly string[]): number | null {
  const count = countAt(value, ...path);
  return Number.isSafeInteger(count) ? count : null;
}

function requestFrom(line: unknown): BatchedRequest[] {
  const match = typeof line === 'string' ? /^([0-9a-f]{64}) (\d{1,15}) ([A-Za-z0-9._-]{1,80})$/.exec(line) : null;
  const [, key, watermark, threadId] = match ?? [];
  if (key === undefined || watermark === undefined || threadId === undefined) return [];
  return [{ key, watermark: Number(watermark), threadId }];
}
