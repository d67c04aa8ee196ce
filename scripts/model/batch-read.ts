import { day, type EpochSeconds } from '../shared/clock.ts';
import { type BatchedRequest, type BatchRecord, type BatchStatus, isOver } from './batch-record.ts';
import { createResultReader, type Results } from './batch-results.ts';
import type { BatchServer } from './batch-server.ts';
import { ModelError, mayPass } from './errors.ts';
import type { GatheringModel } from './gathering.ts';
import type { Journal } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { ServerBatch } from './server-batch.ts';

export interface ReadPorts {
  readonly server: BatchServer;
  readonly gathering: GatheringModel;
  readonly journal: Journal;
  readonly ledger: Ledger;
  readonly apiKey: string;
  /** Share of the usual price. */
  readonly share: number;
}

/** A batch whose end was seen tonight. */
export interface EndedBatch {
  readonly id: string;
  readonly status: BatchStatus | 'gone';
  readonly answered: number;
  readonly failed: number;
  /** Without an answer: they are asked again. */
  readonly unanswered: number;
}

export interface BatchesRead {
  /** As they were before. */
  readonly known: readonly BatchRecord[];
  /** What is to be kept: batches under way, and ended ones with the requests that were answered. */
  readonly batches: readonly BatchRecord[];
  readonly ended: readonly EndedBatch[];
  /** Sentences. */
  readonly problems: readonly string[];
}

/** Days after which a server keeps nothing of a batch. */
const keptDays = 30;

/**
 * Looks once at every batch. The answers of one that has ended enter the journal as those of single requests do, each
 * before it counts; the record stays until a state without it is saved, so that whoever dies here reads it again.
 * @param known as the state has them. @param isUnwanted a thread that was forgotten meanwhile: its answer is paid and not kept.
 * @throws ModelError for a key that is refused, or where the server has no Batch API.
 */
export async function readBatches(
  known: readonly BatchRecord[],
  now: EpochSeconds,
  isUnwanted: (threadId: string) => boolean,
  ports: ReadPorts,
  signal?: AbortSignal,
): Promise<BatchesRead> {
  const problems: string[] = [];
  const kept: BatchRecord[] = [];
  const ended: EndedBatch[] = [];
  const all = [...known, ...(await unrecorded(known, ports, problems, signal))];
  for (const batch of all) {
    const isPast = now > batch.submittedAt + keptDays * day;
    try {
      if (batch.requests.length === 0) {
        for (const file of batch.files) await ports.server.remove(file, signal);
        continue;
      }
      const seen = isPast ? null : await ports.server.look(batch.id, signal);
      if (seen !== null && !isOver(seen.status)) {
        kept.push({ ...batch, status: seen.status, expiresAt: seen.expiresAt ?? batch.expiresAt });
        continue;
      }
      const files = filesOf(batch, seen);
      const results = seen === null ? null : await resultsOf(batch, seen, ports, signal);
      const requests = await takeIn(batch, results, isUnwanted, ports);
      const [answered, failed] = [requests.length, results?.failed.size ?? 0];
      const unanswered = batch.requests.length - answered - failed;
      if (!isOver(batch.status))
        ended.push({ id: batch.id, status: seen?.status ?? 'gone', answered, failed, unanswered });
      if (!isOver(batch.status) || results === null) problems.push(...problemsOf(batch, seen, results));
      if (seen?.status === 'failed') ports.gathering.limit(Math.floor(batch.requests.length / 2));
      if (seen !== null)
        kept.push({ ...batch, status: seen.status, reserved: { tokens: 0, microUsd: 0 }, requests, files });
    } catch (error) {
      if (!(error instanceof ModelError) || !mayPass(error)) throw error;
      problems.push(`Batch ${batch.id} could not be looked at and waits: ${error.message}`);
      if (batch.requests.length > 0 || !isPast) kept.push(batch);
    }
  }
  return { known: all, batches: kept, ended, problems };
}

/** Batches that were asked for by a process that died before their record was saved. */
async function unrecorded(
  known: readonly BatchRecord[],
  { server, journal }: ReadPorts,
  problems: string[],
  signal: AbortSignal | undefined,
): Promise<BatchRecord[]> {
  const found: BatchRecord[] = [];
  for (const submission of journal.submissions.list()) {
    if (known.some(({ hash }) => hash === submission.hash)) continue;
    try {
      const batch = await server.find(submission, submission.submittedAt, signal);
      if (batch !== null) {
        found.push({ ...submission, id: batch.id, status: batch.status, expiresAt: batch.expiresAt });
        continue;
      }
      for (const file of submission.files) await server.remove(file, signal);
      journal.submissions.drop(submission.hash);
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== 'bad_request') throw error;
      journal.submissions.drop(submission.hash);
      problems.push(`A batch may have been asked for that cannot be found again: ${error.message}`);
    }
  }
  return found;
}

function filesOf(batch: BatchRecord, seen: ServerBatch | null): string[] {
  const files = [...batch.files, seen?.input ?? null, seen?.output ?? null, seen?.errors ?? null];
  return [...new Set(files.filter((file) => file !== null))];
}

/** null where a file of results is gone. */
async function resultsOf(
  batch: BatchRecord,
  { status, output, errors }: ServerBatch,
  { server, apiKey }: ReadPorts,
  signal: AbortSignal | undefined,
): Promise<Results | null> {
  let reader = createResultReader({ ...batch, status }, apiKey);
  const files = [output, errors].filter((file) => file !== null);
  for (const file of files) {
    const before = reader.results();
    const begin = () => {
      reader = createResultReader({ ...batch, status }, apiKey, before);
      return reader.take;
    };
    if (!(await server.lines(file, begin, signal))) return null;
  }
  return reader.results();
}

/** @returns the requests that were answered. */
async function takeIn(
  batch: BatchRecord,
  results: Results | null,
  isUnwanted: (threadId: string) => boolean,
  { journal, ledger, gathering, share }: ReadPorts,
): Promise<BatchedRequest[]> {
  const inherited = new Set(journal.inherited.map(({ key }) => key));
  const accounted = isOver(batch.status);
  const used: BatchedRequest[] = [];
  for (const [key, failure] of results?.failed ?? []) gathering.fail(key, failure);
  for (const request of batch.requests) {
    const { key, threadId } = request;
    const reply = results?.answered.get(key);
    if (reply === undefined) continue;
    used.push(request);
    if (inherited.has(key) || !gathering.takesIn(key)) continue;
    const price = ledger.priceOf(batch.model, reply.usage);
    const usd = price === null ? null : share * price;
    const answered = { purpose: 'phase1', subject: threadId, attempt: 1 } as const;
    if (!isUnwanted(threadId)) await journal.put(key, answered, reply, usd, { prepaid: true, accounted });
    if (!accounted) ledger.record({ ...answered, usage: reply.usage, usd, replayed: false, prepaid: true });
  }
  return used;
}

function problemsOf(batch: BatchRecord, seen: ServerBatch | null, results: Results | null): string[] {
  const name = `Batch ${batch.id}`;
  if (seen === null)
    return [`${name} is not known to the server any more: its ${batch.requests.length} requests are asked again.`];
  if (seen.status === 'failed')
    return [
      `${name} could not be begun, and nothing was paid: ${seen.words || 'no words'} The next one is half as large; model.batch: false in .github/memory.yml does without.`,
    ];
  if (results === null)
    return [`${name} has ended, but its results are gone from the server: its requests are asked again.`];
  const { damaged, foreign, repeated } = results;
  if (damaged + foreign + repeated === 0) return [];
  return [
    `${name} has odd results, which are left out: ${damaged} damaged, ${foreign} of no request of ours, ${repeated} repeated.`,
  ];
}
