import type { BatchRecord } from '../model/batch-record.ts';
import type { SkipReason } from '../phase1/decide.ts';
import type { Found } from '../rollout/source.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';

/** A session of the sources that would not be read now. */
export interface SkippedSession {
  readonly threadId: string;
  readonly agent: string;
  readonly repo: string;
  readonly title: string;
  readonly reason: SkipReason;
  /** When it is tried again, where that is known. */
  readonly until: EpochSeconds | null;
  /** The batch that it waits for. */
  readonly batch: string | null;
}

export interface SourcesStatus {
  readonly found: number;
  /** Would be read now, in this order. */
  readonly ready: readonly { readonly threadId: string; readonly repo: string; readonly title: string }[];
  readonly skipped: readonly SkippedSession[];
  readonly ignored: readonly { readonly path: string; readonly reason: string }[];
}

/** @param outlook what a night would do with them. @param batches as the last night saw them. */
export function sourcesStatus(
  state: State,
  listing: { readonly found: readonly Found[]; readonly ignored: SourcesStatus['ignored'] },
  outlook: { readonly ready: readonly Found[]; readonly skipped: ReadonlyMap<string, SkipReason> },
  batches: readonly BatchRecord[] = [],
): SourcesStatus {
  const batchOf = new Map(batches.flatMap(({ id, requests }) => requests.map(({ threadId }) => [threadId, id])));
  const skipped = listing.found.flatMap(({ thread }): SkippedSession[] => {
    const reason = outlook.skipped.get(thread.id);
    if (reason === undefined) return [];
    const job = reason === 'backoff' || reason === 'running' ? jobOf(state, 'memory_stage1', thread.id) : null;
    const until = (reason === 'backoff' ? job?.retryAt : job?.leaseUntil) ?? null;
    const batch = reason === 'waits_for_batch' ? (batchOf.get(thread.id) ?? null) : null;
    return [{ threadId: thread.id, agent: thread.agent, repo: thread.repo, title: thread.title, reason, until, batch }];
  });
  return {
    found: listing.found.length,
    ready: outlook.ready.map(({ thread }) => ({ threadId: thread.id, repo: thread.repo, title: thread.title })),
    skipped,
    ignored: listing.ignored,
  };
}
