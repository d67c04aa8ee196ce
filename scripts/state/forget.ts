import type { ItemNumber } from '../shared/evidence.ts';
import { integer, text } from './columns.ts';
import type { State } from './database.ts';
import { removeThreadRows } from './threads.ts';

/** What the rows lose. */
export interface RowsToForget {
  hidesThread(threadId: string): boolean;
  hidesItem(threadId: string, n: ItemNumber): boolean;
  /** The handle that citations and evidence may name; null for none. */
  readonly author: string | null;
  /** A stage-1 text of a thread as it may stay. */
  clean(words: string, threadId: string): string;
  /** A thread's title, folder or branch, a summary's slug or stem, an error's words. */
  cleanName(words: string, column: 'title' | 'cwd' | 'branch' | 'slug' | 'stem' | 'error'): string;
}

export interface RowsForgotten {
  readonly threads: number;
  readonly outputs: number;
  readonly evidence: number;
  readonly citations: number;
}

/** Deletes rows, and rewrites the words of those that stay. Tombstones are set by whoever asks. */
export function forgetRows(state: State, what: RowsToForget): RowsForgotten {
  return state.transaction(() => {
    const citations = forgetCitations(state, what);
    const threads = idsIn(state).filter(what.hidesThread);
    const outputs = count(state, 'stage1_outputs', threads) + cleanOutputs(state, what, new Set(threads));
    const evidence = count(state, 'evidence', threads) + forgetEvidence(state, what, new Set(threads));
    for (const thread of threads) {
      removeThreadRows(state, thread);
      state.run('delete from selection where thread_id = :thread', { thread });
    }
    cleanNames(state, what);
    return { threads: threads.length, outputs, evidence, citations };
  });
}

/** Every id under which some table knows a thread. */
function idsIn(state: State): string[] {
  const rows = state.all(
    `select thread_id as id from threads union select thread_id from stage1_outputs union select thread_id from evidence
     union select thread_id from selection union select key from jobs where kind = 'memory_stage1' order by 1`,
  );
  return rows.map((row) => text(row, 'id'));
}

function count(state: State, table: 'stage1_outputs' | 'evidence', threads: readonly string[]): number {
  return threads.reduce((sum, thread) => {
    const row = state.first(`select count(*) as n from ${table} where thread_id = :thread`, { thread });
    return sum + (row === null ? 0 : integer(row, 'n'));
  }, 0);
}

function forgetCitations(state: State, what: RowsToForget): number {
  const rows = state.all('select event_id, cited, citing_thread from citations');
  let gone = state.run('delete from citations where author = :author', { author: what.author });
  for (const row of rows)
    if (what.hidesThread(text(row, 'cited')) || what.hidesThread(text(row, 'citing_thread')))
      gone += state.run('delete from citations where event_id = :event', { event: text(row, 'event_id') });
  return gone;
}

function cleanOutputs(state: State, what: RowsToForget, gone: ReadonlySet<string>): number {
  let changed = 0;
  for (const row of state.all('select thread_id, extractor_class, raw_memory, rollout_summary from stage1_outputs')) {
    const thread = text(row, 'thread_id');
    if (gone.has(thread)) continue;
    const [raw, summary] = [text(row, 'raw_memory'), text(row, 'rollout_summary')];
    const [cleanRaw, cleanSummary] = [what.clean(raw, thread), what.clean(summary, thread)];
    if (raw === cleanRaw && summary === cleanSummary) continue;
    changed += state.run(
      `update stage1_outputs set raw_memory = :raw, rollout_summary = :summary
       where thread_id = :thread and extractor_class = :class`,
      { raw: cleanRaw, summary: cleanSummary, thread, class: text(row, 'extractor_class') },
    );
  }
  return changed;
}

function forgetEvidence(state: State, what: RowsToForget, gone: ReadonlySet<string>): number {
  let changed = 0;
  for (const row of state.all('select thread_id, n from evidence')) {
    const [thread, n] = [text(row, 'thread_id'), text(row, 'n')];
    if (!gone.has(thread) && what.hidesItem(thread, n))
      changed += state.run('delete from evidence where thread_id = :thread and n = :n', { thread, n });
  }
  state.run('update evidence set author = null where author = :author', { author: what.author });
  return changed;
}

function cleanNames(state: State, what: RowsToForget): void {
  for (const { table, column, kind } of named) {
    for (const row of state.all(`select distinct ${column} as words from ${table} where ${column} is not null`)) {
      const before = text(row, 'words');
      const after = what.cleanName(before, kind);
      if (after !== before)
        state.run(`update ${table} set ${column} = :after where ${column} = :before`, { before, after });
    }
  }
}

const named = [
  { table: 'threads', column: 'title', kind: 'title' },
  { table: 'threads', column: 'cwd', kind: 'cwd' },
  { table: 'threads', column: 'branch', kind: 'branch' },
  { table: 'stage1_outputs', column: 'rollout_slug', kind: 'slug' },
  { table: 'stage1_outputs', column: 'stem', kind: 'stem' },
  { table: 'jobs', column: 'last_error', kind: 'error' },
] as const;
