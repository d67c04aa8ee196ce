import { integer, oneOf, text } from './columns.ts';
import type { State } from './database.ts';
import type { SelectionRow } from './types.ts';

/** The exact snapshots that a scope last consolidated, by thread id. */
export function selectionOf(state: State, scope: string): SelectionRow[] {
  const rows = state.all(
    `select scope, thread_id, extractor_class, source_updated_at, selected_at
     from selection where scope = :scope order by thread_id`,
    { scope },
  );
  return rows.map((row) => ({
    scope: text(row, 'scope'),
    threadId: text(row, 'thread_id'),
    extractorClass: oneOf(row, 'extractor_class', ['builtin', 'llm']),
    sourceUpdatedAt: integer(row, 'source_updated_at'),
    selectedAt: integer(row, 'selected_at'),
  }));
}

/** Whether any scope's last consolidation read an output of the thread. */
export function isSelected(state: State, threadId: string): boolean {
  return state.first('select 1 from selection where thread_id = :thread limit 1', { thread: threadId }) !== null;
}

/** What a success leaves behind: the scope's selection is these rows and no other. */
export function replaceSelection(state: State, scope: string, rows: readonly Omit<SelectionRow, 'scope'>[]): void {
  state.run('delete from selection where scope = :scope', { scope });
  for (const row of rows)
    state.run(
      `insert into selection (scope, thread_id, extractor_class, source_updated_at, selected_at)
       values (:scope, :thread_id, :extractor_class, :source_updated_at, :selected_at)`,
      {
        scope,
        thread_id: row.threadId,
        extractor_class: row.extractorClass,
        source_updated_at: row.sourceUpdatedAt,
        selected_at: row.selectedAt,
      },
    );
}
