import type { EpochSeconds } from '../shared/clock.ts';
import { day } from '../shared/clock.ts';
import type { Files } from '../shared/files.ts';
import { sha256, shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import { outputsOf } from '../state/outputs.ts';
import { ruleContext } from '../state/rule-context.ts';
import { selectionOf } from '../state/selection.ts';
import { tombstonesOf } from '../state/tombstones.ts';
import { type Change, changesBetween } from '../workspace/changes.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { type InputRow, rawSections, withInputs } from '../workspace/inputs.ts';
import { handbookPath, rawMemoriesPath, type Scope } from '../workspace/layout.ts';
import { project } from '../workspace/scope.ts';
import type { RuleContext } from '../workspace/violation.ts';
import { pinnedThreads } from './pinned.ts';
import { inputRow } from './rows.ts';
import type { ConsolidationPolicy, MemoryStart } from './run.ts';
import { type Selection, selectInputs } from './select.ts';

/** A scope with everything that its consolidation reads. */
export interface Prepared {
  readonly scope: Scope;
  readonly context: RuleContext;
  readonly selection: Selection;
  readonly rows: readonly InputRow[];
  /** Of the scope `*`: every repository that has memory. */
  readonly repositories: readonly string[];
  /** The scope's projection with tonight's inputs. */
  readonly ready: Files;
  readonly changes: readonly Change[];
  readonly mode: 'init' | 'incremental';
  /** Short ids of threads that the last consolidation read and this one does not. */
  readonly deletedThreads: ReadonlySet<string>;
  /** Hash of all that the consolidator is given: equal inputs that failed three times are not paid for again. */
  readonly inputHash: string;
  readonly isDue: boolean;
}

export function prepareScope(
  state: State,
  scope: Scope,
  start: MemoryStart,
  policy: ConsolidationPolicy,
  now: EpochSeconds,
): Prepared {
  const context = ruleContext(state, scope, policy.audience);
  const own = project(start.files, scope);
  const window = { from: now - policy.selection.maxUnusedDays * day, to: now };
  const before = selectionOf(state, scope);
  const pinned = pinnedThreads(state, own, context);
  const selection = selectInputs(outputsOf(state, scope, window), before, pinned, policy.selection, now);
  const tombstones = tombstonesOf(state);
  const rows = selection.chosen.map((output) =>
    inputRow(output, (n) => tombstones.hidesEvidence(output.threadId, n, scope)),
  );
  const ready = withInputs(own, rows);
  const baseline = start.baseline.get(scope) ?? new Map<string, string>();
  const changes = changesBetween(baseline, ready);
  const isEmpty = parseHandbook(ready.get(handbookPath) ?? '').blocks.length === 0;
  const isPending = jobOf(state, 'memory_consolidate', scope)?.status !== 'done';
  return {
    scope,
    context,
    selection,
    rows,
    repositories: [],
    ready,
    changes,
    mode: isEmpty || baseline.size === 0 ? 'init' : 'incremental',
    deletedThreads: deletedThreads(baseline, rows),
    inputHash: sha256(JSON.stringify([...ready])),
    isDue: isPending || changes.length > 0 || (isEmpty && rows.length > 0),
  };
}

function deletedThreads(baseline: Files, rows: readonly InputRow[]): Set<string> {
  const now = new Set(rows.map((row) => row.threadId));
  const before = rawSections(baseline.get(rawMemoriesPath) ?? '').map(({ threadId }) => threadId);
  return new Set(before.filter((threadId) => !now.has(threadId)).map(shortThreadId));
}
