import type { EpochSeconds } from '../shared/clock.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { BatchRecord, Submission } from './batch-record.ts';
import type { BatchServer } from './batch-server.ts';
import type { Dialect } from './dialect.ts';
import { ModelError, mayPass } from './errors.ts';
import type { Gathered, GatheringModel } from './gathering.ts';
import { type Journal, journalKey } from './journal.ts';
import type { Ledger } from './ledger.ts';
import type { OpenAiModel } from './openai.ts';
import { endpointOf } from './server-batch.ts';
import { bodyFor } from './wire.ts';

export interface SubmitPorts {
  readonly server: BatchServer;
  /** Asked once, where it has not answered yet, to learn how the server is spoken to. */
  readonly live: OpenAiModel;
  readonly gathering: GatheringModel;
  readonly journal: Journal;
  readonly ledger: Ledger;
}

export interface Order {
  readonly runId: string;
  readonly now: EpochSeconds;
  /** A thread's last activity, as the night has seen it. */
  watermarkOf(threadId: string): EpochSeconds;
}

export type Submitted =
  | { readonly outcome: 'submitted'; readonly batch: BatchRecord }
  | { readonly outcome: 'nothing' }
  /** Something that may pass: what was gathered waits for the next night. */
  | { readonly outcome: 'postponed'; readonly why: string };

/**
 * Asks for one batch of what was gathered. It is on the disk before it is asked for, so that one whose answer gets lost
 * is found again; the caller has to keep its record.
 * @throws ModelError where it will not pass: key, quota, no Batch API.
 */
export async function submitGathered(order: Order, ports: SubmitPorts, signal?: AbortSignal): Promise<Submitted> {
  const gathered = ports.gathering.gathered();
  if (gathered.length === 0) return { outcome: 'nothing' };
  try {
    const dialect = await dialectFor(ports, signal);
    const batch = await submit(order, gathered, dialect, ports, signal);
    return { outcome: 'submitted', batch };
  } catch (error) {
    for (const { reservation } of gathered) reservation.release();
    if (error instanceof ModelError && mayPass(error)) return { outcome: 'postponed', why: error.message };
    throw error;
  } finally {
    ports.gathering.forget();
  }
}

async function submit(
  { runId, now, watermarkOf }: Order,
  gathered: readonly Gathered[],
  dialect: Dialect,
  { server, journal }: SubmitPorts,
  signal: AbortSignal | undefined,
): Promise<BatchRecord> {
  const sum = (one: (each: Gathered) => number) => gathered.reduce((total, each) => total + one(each), 0);
  const file = await server.upload(inputOf(gathered, dialect), signal);
  const submission: Submission = {
    hash: sha256(JSON.stringify([runId, now, gathered.map(({ key }) => key)])).slice(0, 32),
    runId,
    submittedAt: now,
    wire: dialect.wire,
    model: gathered[0]?.request.model ?? '',
    reserved: {
      tokens: sum(({ reservation }) => reservation.most.tokens),
      microUsd: Math.ceil(sum(({ reservation }) => reservation.most.usd * 1_000_000)),
    },
    files: [file],
    requests: gathered.map(({ key, request: { subject: threadId } }) => ({
      key,
      watermark: watermarkOf(threadId),
      threadId,
    })),
  };
  const { hash, wire } = submission;
  journal.submissions.note(submission);
  try {
    const { id, status, expiresAt } = await server.create({ file, wire, runId, hash }, now, signal);
    return { ...submission, id, status, expiresAt };
  } catch (error) {
    const isRefused = error instanceof ModelError && !mayPass(error) && error.kind !== 'aborted';
    if (isRefused) {
      journal.submissions.drop(hash);
      await server.remove(file, signal).catch(onlyOfTheServer);
    }
    throw error;
  }
}

/** The error that led here is the one to tell. */
function onlyOfTheServer(error: unknown): void {
  if (!(error instanceof ModelError)) throw error;
}

function inputOf(gathered: readonly Gathered[], dialect: Dialect): File {
  const whole = { ...dialect, stream: false };
  const lines = gathered.map(({ key, request }) =>
    Buffer.from(
      `${JSON.stringify({ custom_id: key, method: 'POST', url: endpointOf(dialect.wire), body: bodyFor(request, whole) })}\n`,
    ),
  );
  return new File(lines, 'phase1.jsonl', { type: 'application/jsonl' });
}

/**
 * A batch cannot find out what its server does not take, so a few words are asked in the same form first: nothing where
 * an answer has shown it tonight.
 */
async function dialectFor(
  { live, gathering, journal, ledger }: SubmitPorts,
  signal: AbortSignal | undefined,
): Promise<Dialect> {
  const known = live.dialect();
  const trial = gathering.trial();
  if (known !== null || trial === null) return known ?? unknownDialect();
  const reply = await live.ask(trial.request, signal);
  trial.reservation.settle(reply.usage);
  const usd = ledger.priceOf(trial.request.model, reply.usage);
  await journal.put(journalKey(trial.request), trial.request, reply, usd);
  return live.dialect() ?? unknownDialect();
}

function unknownDialect(): never {
  throw new Error('A batch is asked for, and nobody knows how its server is spoken to.');
}
