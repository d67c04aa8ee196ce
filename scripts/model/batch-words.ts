import { isoTime } from '../shared/clock.ts';
import { terminalText } from '../shared/escape.ts';
import { type BatchRecord, isOver } from './batch-record.ts';

/** One line for a person. */
export function batchLine({ id, status, submittedAt, expiresAt, requests, files, model }: BatchRecord): string {
  const name = terminalText(id);
  if (requests.length === 0) return `${name}  ${status}, read; ${files.length} files are still at the server`;
  if (isOver(status)) return `${name}  ${status}; ${requests.length} answers wait until their sessions are found`;
  const until = expiresAt === null ? '' : `, expires ${isoTime(expiresAt)}`;
  const count = requests.length === 1 ? '1 request' : `${requests.length} requests`;
  return `${name}  ${status}, ${count} to ${terminalText(model)}, submitted ${isoTime(submittedAt)}${until}`;
}

/** The same for machines; times are epoch seconds. */
export function batchJson(batch: BatchRecord): Record<string, unknown> {
  const { id, status, submittedAt, expiresAt, requests, model, runId, reserved } = batch;
  return {
    id,
    status,
    submitted_at: submittedAt,
    expires_at: expiresAt,
    run_id: runId,
    model,
    requests: requests.length,
    reserved_tokens: reserved.tokens,
    reserved_usd: reserved.microUsd / 1_000_000,
  };
}
