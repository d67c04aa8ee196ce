import type { BatchesRead } from '../model/batch-read.ts';
import { type BatchRecord, isOver } from '../model/batch-record.ts';
import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { ExtractorClass } from '../state/types.ts';
import { askedAbout, type Batches, underWay } from './batches.ts';
import type { NightPorts } from './night.ts';
import type { Start } from './start.ts';

/** What a night did with batches. */
export interface BatchesTonight extends Pick<BatchesRead, 'ended' | 'problems'> {
  /** As they are to be recorded. */
  readonly batches: readonly BatchRecord[];
  readonly submitted: BatchRecord | null;
}

/** Batches as they were found, and what that means for sessions: thread → the activity up to which one was asked about. */
export interface SeenTonight extends BatchesRead {
  readonly asked: ReadonlyMap<string, EpochSeconds>;
  /** Where no answer is to be had yet. */
  readonly waited: ReadonlyMap<string, EpochSeconds>;
  /** Whether anybody looked at them. */
  readonly isRead: boolean;
}

type Ports = Pick<NightPorts, 'batches' | 'progress'> & { readonly extractor: { readonly class: ExtractorClass } };

/** Before phase 1. Without a model, or in a night that reads no session, batches are left as they are. */
export async function readTonight(
  { night: { batches: known }, state }: Pick<Start, 'night' | 'state'>,
  isReading: boolean,
  now: EpochSeconds,
  { batches, extractor, progress }: Ports,
  signal?: AbortSignal,
): Promise<SeenTonight> {
  const read = isReading ? await batches?.read(known, state, now, signal) : undefined;
  const seen = read ?? { known, batches: known, ended: [], problems: [] };
  if (seen.ended.length > 0) {
    const answers = seen.ended.reduce((sum, { answered }) => sum + answered, 0);
    progress({ stage: 'batches', done: seen.ended.length, total: seen.ended.length, note: `${answers} answers` });
  }
  const isModels = extractor.class === 'llm';
  return {
    ...seen,
    asked: askedAbout(isModels ? seen.known : []),
    waited: askedAbout(isModels ? underWay(seen.batches) : []),
    isRead: read !== undefined,
  };
}

/** After phase 1: of ended batches the requests alone are kept whose answers nobody has used. They are read again. */
export function leftOf(
  { batches, ended, problems, isRead }: SeenTonight,
  isUsed: (threadId: string) => boolean,
): BatchesTonight {
  const left = batches.map((batch) =>
    isOver(batch.status) ? { ...batch, requests: batch.requests.filter(({ threadId }) => !isUsed(threadId)) } : batch,
  );
  return { batches: isRead ? left : batches, ended, problems, submitted: null };
}

/** Asks for one batch of what phase 1 wants to ask. */
export async function handOver(
  before: BatchesTonight,
  deferred: readonly string[],
  found: readonly Found[],
  night: { readonly runId: string; readonly now: EpochSeconds },
  { batches, progress }: { readonly batches?: Batches } & Pick<NightPorts, 'progress'>,
  signal?: AbortSignal,
): Promise<BatchesTonight> {
  if (deferred.length === 0 || batches === undefined) return before;
  const activity = new Map(found.map(({ thread }) => [thread.id, thread.updatedAt]));
  const total = deferred.length;
  progress({ stage: 'new batch', done: 0, total, note: '' });
  const outcome = await batches.submit({ ...night, watermarkOf: (id) => activity.get(id) ?? 0 }, signal);
  switch (outcome.outcome) {
    case 'submitted':
      progress({ stage: 'new batch', done: total, total, note: outcome.batch.id });
      return { ...before, submitted: outcome.batch, batches: [...before.batches, outcome.batch] };
    case 'postponed': {
      const why = `No batch could be asked for, and the next night tries again: ${outcome.why}`;
      return { ...before, problems: [...before.problems, why] };
    }
    case 'nothing':
      return before;
  }
}
