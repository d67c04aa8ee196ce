import type { EpochSeconds } from '../shared/clock.ts';
import { integer, integerOrNull, oneOf, text } from './columns.ts';
import { inBytes, type Row, type State } from './database.ts';
import { readCounts } from './shown.ts';
import { threadColumns, threadOf } from './threads.ts';
import { tombstonesOf } from './tombstones.ts';
import type { ExtractorClass, OutputView, Stage1Output } from './types.ts';

/** Citations from `from` to `to`, both included, count as use. */
export interface UsageWindow {
  readonly from: EpochSeconds;
  readonly to: EpochSeconds;
}

/**
 * What a scope's threads gave that nobody took out of memory, by thread id: of each the best class, if that has text;
 * polluted ones too, as the selection decides about them. Threads and authors
 * under a tombstone are left out; evidence under one is for the reader to hide.
 */
export function outputsOf(state: State, scope: string, window: UsageWindow): OutputView[] {
  const rows = state.all(
    `select ${outputColumns}, ${threadColumns}, t.short_id
     from threads t join stage1_outputs o on o.thread_id = t.thread_id
     where t.repo = :scope and t.memory_mode <> 'disabled' and ${isBestClass} and ${hasText}
       and not exists (select 1 from tombstones s where s.lifted_at is null and s.kind = 'thread' and s.key = t.thread_id)
     order by t.thread_id`,
    { scope },
  );
  const uses = usesIn(state, scope, window);
  const reads = readCounts(state, window, new Set(rows.map((row) => text(row, 'short_id'))));
  const { hidesAuthor } = tombstonesOf(state);
  const shown = rows.map((row) => ({ row, thread: threadOf(row) })).filter(({ thread }) => !hidesAuthor(thread.author));
  return shown.map(({ row, thread }) => ({
    ...outputFrom(row),
    thread,
    ...(uses.get(thread.threadId) ?? neverUsed),
    readCount: reads.get(text(row, 'short_id')) ?? 0,
  }));
}

/** The thread's output of its best class, also an empty one. */
export function outputOf(state: State, threadId: string): Stage1Output | null {
  const row = state.first(
    `select ${outputColumns} from stage1_outputs o where o.thread_id = :thread and ${isBestClass}`,
    { thread: threadId },
  );
  return row && outputFrom(row);
}

/** What each class of extractor wrote of a thread, empty ones left out. */
export function outputsOfThread(state: State, threadId: string): Stage1Output[] {
  const rows = state.all(
    `select ${outputColumns} from stage1_outputs o where o.thread_id = :thread and ${hasText} order by o.extractor_class`,
    { thread: threadId },
  );
  return rows.map(outputFrom);
}

/** Of every thread and class, by both. */
export function listOutputs(state: State): Stage1Output[] {
  return state
    .all(`select ${outputColumns} from stage1_outputs o order by o.thread_id, o.extractor_class`)
    .map(outputFrom);
}

/** The stem that the thread's summaries have had since its first extraction. */
export function stemOf(state: State, threadId: string): string | null {
  const row = state.first(
    'select stem from stage1_outputs where thread_id = :thread order by generated_at, extractor_class limit 1',
    { thread: threadId },
  );
  return row && text(row, 'stem');
}

/** Threads of which something is remembered. */
export function threadsWithWords(state: State): Set<string> {
  const rows = state.all(`select o.thread_id from stage1_outputs o where ${isBestClass} and ${hasText}`);
  return new Set(rows.map((row) => text(row, 'thread_id')));
}

/** Every stem that names a summary, in no order. */
export function stemsInUse(state: State): string[] {
  return state.all('select distinct stem from stage1_outputs').map((row) => text(row, 'stem'));
}

/** Writes an output over an older or equally old one of its class, under the thread's frozen stem. */
export function putOutput(state: State, output: Stage1Output): void {
  state.run(
    `insert into stage1_outputs (thread_id, extractor_class, source_updated_at, raw_memory, rollout_summary,
       rollout_slug, stem, generated_at, prompt_hash, run_id)
     values (:thread_id, :extractor_class, :source_updated_at, cast(:raw_memory as text), cast(:rollout_summary as text),
       :rollout_slug, :stem, :generated_at, :prompt_hash, :run_id)
     on conflict (thread_id, extractor_class) do update set
       source_updated_at = excluded.source_updated_at, raw_memory = excluded.raw_memory,
       rollout_summary = excluded.rollout_summary, rollout_slug = excluded.rollout_slug, stem = excluded.stem,
       generated_at = excluded.generated_at, prompt_hash = excluded.prompt_hash, run_id = excluded.run_id
     where excluded.source_updated_at >= stage1_outputs.source_updated_at`,
    {
      thread_id: output.threadId,
      extractor_class: output.extractorClass,
      source_updated_at: output.sourceUpdatedAt,
      raw_memory: inBytes(output.rawMemory),
      rollout_summary: inBytes(output.rolloutSummary),
      rollout_slug: output.rolloutSlug,
      stem: stemOf(state, output.threadId) ?? output.stem,
      generated_at: output.generatedAt,
      prompt_hash: output.promptHash,
      run_id: output.runId,
    },
  );
}

/** Whether the class, or a better one, has seen the thread as it was at `watermark` or later. */
export function isExtracted(
  state: State,
  thread: { threadId: string; extractorClass: ExtractorClass; watermark: EpochSeconds },
): boolean {
  const row = state.first(
    `select 1 from stage1_outputs
     where thread_id = :thread and extractor_class >= :class and source_updated_at >= :watermark limit 1`,
    { thread: thread.threadId, class: thread.extractorClass, watermark: thread.watermark },
  );
  return row !== null;
}

/** Higher is better. */
export function rankOf(extractorClass: ExtractorClass): number {
  return extractorClass === 'llm' ? 1 : 0;
}

/** False for the record that nothing was worth keeping. */
export function hasWords(output: Pick<Stage1Output, 'rawMemory' | 'rolloutSummary'>): boolean {
  return output.rawMemory.trim() !== '' || output.rolloutSummary.trim() !== '';
}

const outputColumns = `o.thread_id, o.extractor_class, o.source_updated_at, o.raw_memory, o.rollout_summary,
  o.rollout_slug, o.stem, o.generated_at, o.prompt_hash, o.run_id`;

type Use = Pick<OutputView, 'usageCount' | 'lastUsage'>;

const neverUsed: Use = { usageCount: 0, lastUsage: null };

/** Of the scope's threads that were cited within the window, by thread id. */
function usesIn(state: State, scope: string, { from, to }: UsageWindow): Map<string, Use> {
  const rows = state.all(
    `select t.thread_id, count(distinct c.vote) as usage_count, max(c.at) as last_usage
     from threads t join citations c on c.cited = t.thread_id
     where t.repo = :scope and c.kind = 'cited' and c.at between :from and :to
     group by t.thread_id`,
    { scope, from, to },
  );
  return new Map(
    rows.map((row) => [
      text(row, 'thread_id'),
      { usageCount: integer(row, 'usage_count'), lastUsage: integerOrNull(row, 'last_usage') },
    ]),
  );
}

/** In binary order `llm` comes last, and it is the best. */
const isBestClass = `o.extractor_class =
  (select max(b.extractor_class) from stage1_outputs b where b.thread_id = o.thread_id)`;

const whiteSpace = 'char(9, 10, 13, 32)';

const hasText = `(trim(o.raw_memory, ${whiteSpace}) <> '' or trim(o.rollout_summary, ${whiteSpace}) <> '')`;

function outputFrom(row: Row): Stage1Output {
  return {
    threadId: text(row, 'thread_id'),
    extractorClass: oneOf(row, 'extractor_class', ['builtin', 'llm']),
    sourceUpdatedAt: integer(row, 'source_updated_at'),
    rawMemory: text(row, 'raw_memory'),
    rolloutSummary: text(row, 'rollout_summary'),
    rolloutSlug: text(row, 'rollout_slug'),
    stem: text(row, 'stem'),
    generatedAt: integer(row, 'generated_at'),
    promptHash: text(row, 'prompt_hash'),
    runId: text(row, 'run_id'),
  };
}
