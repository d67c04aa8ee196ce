import { at, countAt, listAt, textAt } from './at.ts';
import { type BatchStatus, batchStatuses, isServerId } from './batch-record.ts';
import type { Dialect } from './dialect.ts';
import { quoted } from './errors.ts';
import { pathOf } from './wire.ts';

/** A batch as the server tells of it. */
export interface ServerBatch {
  readonly id: string;
  readonly status: BatchStatus;
  readonly createdAt: number | null;
  readonly expiresAt: number | null;
  readonly input: string | null;
  readonly output: string | null;
  readonly errors: string | null;
  /** What we wrote on it; null on somebody else's. */
  readonly hash: string | null;
  /** Why it could not be begun, fit to be shown; '' otherwise. */
  readonly words: string;
}

/** As a batch's lines and the batch itself name it, whatever the server's address. */
export function endpointOf(wire: Dialect['wire']): string {
  return `/v1${pathOf(wire)}`;
}

/** null for what is no batch. @param apiKey is taken out of what the server says. */
export function serverBatch(value: unknown, apiKey: string): ServerBatch | null {
  const id = textAt(value, 'id');
  const status = batchStatuses.find((each) => each === at(value, 'status'));
  if (!isServerId(id) || status === undefined) return null;
  const fileAt = (name: string) => {
    const file = textAt(value, name);
    return isServerId(file) ? file : null;
  };
  const reasons = listAt(value, 'errors', 'data').map((one) => textAt(one, 'message') ?? textAt(one, 'code') ?? '');
  return {
    id,
    status,
    createdAt: countAt(value, 'created_at'),
    expiresAt: wholeSeconds(countAt(value, 'expires_at')),
    input: fileAt('input_file_id'),
    output: fileAt('output_file_id'),
    errors: fileAt('error_file_id'),
    hash: textAt(value, 'metadata', 'hash'),
    words: quoted(reasons.slice(0, 5).join(' '), apiKey),
  };
}

function wholeSeconds(seconds: number | null): number | null {
  return seconds === null || seconds > 1e12 ? null : Math.floor(seconds);
}
