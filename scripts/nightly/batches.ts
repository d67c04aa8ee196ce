import { type BatchesRead, type ReadPorts, readBatches } from '../model/batch-read.ts';
import { type BatchRecord, isOver } from '../model/batch-record.ts';
import { type Order, type SubmitPorts, type Submitted, submitGathered } from '../model/batch-submit.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { tombstonesOf } from '../state/tombstones.ts';

/** Phase 1 through a server's Batch API: what an earlier night asked is read, what is asked tonight is handed over. */
export interface Batches {
  /** Before phase 1. @param known as the state ref has them. */
  read(known: readonly BatchRecord[], state: State, now: EpochSeconds, signal?: AbortSignal): Promise<BatchesRead>;
  /** After phase 1. */
  submit(order: Order, signal?: AbortSignal): Promise<Submitted>;
  /** These stand in the state ref now. */
  saved(batches: readonly BatchRecord[]): void;
}

export function batchesOver(ports: ReadPorts & SubmitPorts): Batches {
  const drop = (batches: readonly BatchRecord[]) => {
    for (const { hash } of batches) ports.journal.submissions.drop(hash);
  };
  return {
    read(known, state, now, signal) {
      drop(known);
      const tombstones = tombstonesOf(state);
      const isUnwanted = (id: string) => id === forgottenThread || tombstones.hidesThread(id);
      return readBatches(known, now, isUnwanted, ports, signal);
    },
    submit: (order, signal) => submitGathered(order, ports, signal),
    saved: drop,
  };
}

/** Thread → the activity up to which a batch was asked about it: the newest, where several are under way. */
export function askedAbout(batches: readonly BatchRecord[]): ReadonlyMap<string, EpochSeconds> {
  const asked = new Map<string, EpochSeconds>();
  for (const { threadId, watermark } of batches.flatMap(({ requests }) => requests))
    asked.set(threadId, Math.max(watermark, asked.get(threadId) ?? 0));
  return asked;
}

/** The same batches, naming none of these threads: what is answered about them is paid, and not kept. */
export function withoutThreads(
  batches: readonly BatchRecord[],
  isForgotten: (threadId: string) => boolean,
): readonly BatchRecord[] {
  return batches.map((batch) => ({
    ...batch,
    requests: batch.requests.map((one) =>
      isForgotten(one.threadId) ? { ...one, threadId: forgottenThread, watermark: 0 } : one,
    ),
  }));
}

/** Stands where a forgotten thread did. */
const forgottenThread = 'forgotten';

/** Batches whose answers are waited for. */
export function underWay(batches: readonly BatchRecord[]): readonly BatchRecord[] {
  return batches.filter(({ status, requests }) => requests.length > 0 && !isOver(status));
}

/** Dollars that are held for what is under way. */
export function reservedUsd(batches: readonly BatchRecord[]): number {
  return batches.reduce((sum, { reserved }) => sum + reserved.microUsd, 0) / 1_000_000;
}

/** Equal records are equal to the state ref. */
export function sameBatches(a: readonly BatchRecord[], b: readonly BatchRecord[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
