import { day, type EpochSeconds } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import { integer, text } from './columns.ts';
import type { Row, State } from './database.ts';
import { getMeta, setMeta } from './meta.ts';
import { removeThreadRows } from './threads.ts';

/** Outputs that one pass deletes at most. */
export const pruneBatch = 200;

export interface PrunePolicy {
  readonly now: EpochSeconds;
  /** An output that nobody used for so long is stale, and the horizon lies so far back. */
  readonly maxUnusedDays: number;
  /**
   * Run id → when its memory reached the default branch. An output that was never used ages from there, at the
   * earliest from its source's time; where its run never reached it, from `maxUnusedDays` after it was generated.
   * null: every night commits there itself, so it reached it when it was generated.
   */
  readonly reachedAt: ReadonlyMap<string, EpochSeconds> | null;
  /** Threads that a standing line of a person names. */
  readonly namedThreads: ReadonlySet<string>;
}

export interface Pruned {
  readonly outputs: number;
  readonly threads: number;
  readonly citations: number;
  readonly horizon: EpochSeconds;
}

/**
 * Lets go of what nobody needs: stale outputs that no selection holds (at most `pruneBatch`, the longest unused
 * first), citations and what sessions were shown below the horizon, and threads below it that nothing names. Jobs of threads that stay are kept, so
 * that a pruned output is not made again. The horizon moves when something went, and never back: a night that lets go
 * of nothing leaves the state as it was.
 */
export function prune(state: State, policy: PrunePolicy): Pruned {
  return state.transaction(() => {
    const cutoff = policy.now - policy.maxUnusedDays * day;
    const horizon = Math.max(cutoff, horizonOf(state) ?? 0);
    const outputs = pruneOutputs(state, policy, cutoff);
    const citations = state.run('delete from citations where at < :horizon', { horizon });
    const shown = state.run('delete from shown where at < :horizon', { horizon });
    const threads = pruneThreads(state, policy.namedThreads, horizon);
    // Else a night whose clock is behind would note again what this one let go of.
    if (outputs + citations + shown + threads > 0) setMeta(state, 'horizon', String(horizon));
    return { outputs, threads, citations, horizon };
  });
}

/** null before the first prune. */
export function horizonOf(state: State): EpochSeconds | null {
  const value = getMeta(state, 'horizon');
  return value === null ? null : Number(value);
}

interface Candidate {
  readonly threadId: string;
  readonly extractorClass: string;
  readonly sourceUpdatedAt: EpochSeconds;
  readonly lastSign: EpochSeconds;
}

function pruneOutputs(state: State, policy: PrunePolicy, cutoff: EpochSeconds): number {
  const rows = state.all(
    `select o.thread_id, o.extractor_class, o.source_updated_at, o.generated_at, o.run_id,
       (select max(c.at) from citations c where c.cited = o.thread_id and c.kind = 'cited') as last_usage
     from stage1_outputs o
     where o.source_updated_at < :cutoff and not exists
       (select 1 from selection s where s.thread_id = o.thread_id and s.extractor_class = o.extractor_class)`,
    { cutoff },
  );
  const stale = rows
    .map((row) => candidateOf(row, policy))
    .filter((candidate) => candidate.lastSign < cutoff)
    .sort(byLongestUnused)
    .slice(0, pruneBatch);
  for (const candidate of stale)
    state.run('delete from stage1_outputs where thread_id = :thread and extractor_class = :class', {
      thread: candidate.threadId,
      class: candidate.extractorClass,
    });
  return stale.length;
}

function candidateOf(row: Row, policy: PrunePolicy): Candidate {
  const sourceUpdatedAt = integer(row, 'source_updated_at');
  const generatedAt = integer(row, 'generated_at');
  const reached = policy.reachedAt === null ? generatedAt : policy.reachedAt.get(text(row, 'run_id'));
  const agesFrom = reached ?? generatedAt + policy.maxUnusedDays * day;
  return {
    threadId: text(row, 'thread_id'),
    extractorClass: text(row, 'extractor_class'),
    sourceUpdatedAt,
    lastSign: row.last_usage === null ? Math.max(sourceUpdatedAt, agesFrom) : integer(row, 'last_usage'),
  };
}

function byLongestUnused(a: Candidate, b: Candidate): number {
  if (a.lastSign !== b.lastSign) return a.lastSign - b.lastSign;
  if (a.sourceUpdatedAt !== b.sourceUpdatedAt) return a.sourceUpdatedAt - b.sourceUpdatedAt;
  return byBinary(a.threadId, b.threadId) || byBinary(a.extractorClass, b.extractorClass);
}

function pruneThreads(state: State, named: ReadonlySet<string>, horizon: EpochSeconds): number {
  const rows = state.all(
    `select t.thread_id from threads t
     where t.updated_at < :horizon and t.first_seen_at < :horizon
       and not exists (select 1 from stage1_outputs o where o.thread_id = t.thread_id)
       and not exists (select 1 from selection s where s.thread_id = t.thread_id)
       and not exists (select 1 from citations c where c.cited = t.thread_id)
       and not exists (select 1 from jobs j where j.kind = 'memory_stage1' and j.key = t.thread_id
         and j.status = 'running')
     order by t.thread_id`,
    { horizon },
  );
  const unnamed = rows.map((row) => text(row, 'thread_id')).filter((threadId) => !named.has(threadId));
  for (const threadId of unnamed) removeThreadRows(state, threadId);
  return unnamed.length;
}
