import type { EpochSeconds } from '../shared/clock.ts';
import { day } from '../shared/clock.ts';
import { areSame, type Files } from '../shared/files.ts';
import { sha256, shortThreadId } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import { outputsOf } from '../state/outputs.ts';
import { ruleContext } from '../state/rule-context.ts';
import { selectionOf } from '../state/selection.ts';
import { getThread } from '../state/threads.ts';
import type { OutputView, SelectionRow } from '../state/types.ts';
import { type Change, changesBetween } from '../workspace/changes.ts';
import { type ExtensionEntry, entriesIn } from '../workspace/extension.ts';
import { parseHandbook } from '../workspace/handbook.ts';
import { type InputRow, rawSections, withInputs } from '../workspace/inputs.ts';
import { handbookPath, rawMemoriesPath, type Scope } from '../workspace/layout.ts';
import { projectWritten } from '../workspace/scope.ts';
import type { RuleContext } from '../workspace/violation.ts';
import {
  type Forgotten,
  forgottenIn,
  withoutForgotten,
  withoutForgottenNotes,
  withoutGoneEntries,
} from './forgotten.ts';
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
  /** Of the scope `*`: the summaries that its blocks may refer to, which its projection does not hold. */
  readonly summaries: Files;
  /** Against the scope's baseline. What people removed is in neither, so that nobody is shown it again. */
  readonly changes: readonly Change[];
  readonly mode: 'init' | 'incremental';
  /** Short ids of threads that the last consolidation read and this one does not. */
  readonly deletedThreads: ReadonlySet<string>;
  /** Hash of all that the consolidator is given: equal inputs that failed three times are not paid for again. */
  inputHash(): string;
  /** What it proposed was closed, and nothing new has come since. */
  readonly isHeld: boolean;
  readonly isDue: boolean;
  /**
   * `nothing`: the files are as the last consolidation left them. `code`: what differs asks for no judgement (forgotten
   * lines, references that lead nowhere). `consolidator`: the rest.
   */
  readonly needs: 'nothing' | 'code' | 'consolidator';
}

export function prepareScope(
  state: State,
  scope: Scope,
  start: MemoryStart,
  policy: ConsolidationPolicy,
  now: EpochSeconds,
): Prepared {
  const context = ruleContext(state, scope, policy.audience);
  const forgotten = forgottenIn(state, scope);
  const own = withoutForgottenNotes(projectWritten(start.files, scope), forgotten, scope, context);
  const window = { from: now - policy.selection.maxUnusedDays * day, to: now };
  const pinned = pinnedThreads(state, own, context);
  const before = selectionOf(state, scope);
  const selection = selectInputs(outputsOf(state, scope, window), before, pinned, policy.selection, now);
  const rows = selection.chosen.flatMap((output) => shownRow(output, forgotten) ?? []);
  const ready = withInputs(own, rows);
  const baseline = start.baseline.get(scope) ?? new Map<string, string>();
  const then = withoutGoneEntries(baseline, ready);
  const changes = changesBetween(withoutForgotten(then, ready, forgotten), ready);
  const notes = entriesIn(ready);
  const isEmpty = parseHandbook(ready.get(handbookPath) ?? '').blocks.length === 0;
  const mode = isEmpty || baseline.size === 0 ? 'init' : 'incremental';
  const isMissing = isEmpty && (rows.length > 0 || notes.length > 0);
  const differs = !areSame(baseline, ready);
  const isNew = ({ threadId }: ExtensionEntry) => getThread(state, threadId)?.firstSeenAt === now;
  const job = jobOf(state, 'memory_consolidate', scope);
  const isHeld = job !== null && job.heldRuns !== null && !bringsNewThread(selection, before) && !notes.some(isNew);
  return {
    scope,
    context,
    selection,
    rows,
    repositories: [],
    ready,
    summaries: new Map(),
    changes,
    mode,
    deletedThreads: deletedThreads(baseline, rows),
    inputHash: () => hashOf(ready),
    isHeld,
    isDue: !isHeld && (job?.status !== 'done' || differs || isMissing),
    needs: isMissing || (changes.length > 0 && !isEmpty) ? 'consolidator' : differs ? 'code' : 'nothing',
  };
}

function shownRow(output: OutputView, { any, hides, isPersons }: Forgotten): InputRow | null {
  const { threadId } = output;
  if (!any) return inputRow(output);
  return inputRow(
    output,
    (n) => hides(threadId, n),
    (n) => isPersons(threadId, n),
  );
}

/** What `Prepared.inputHash` says of these files. */
export function hashOf(files: Files): string {
  return sha256(JSON.stringify([...files]));
}

/** What ends a hold: a session that the closed runs did not have. */
function bringsNewThread({ chosen }: Selection, before: readonly SelectionRow[]): boolean {
  const known = new Set(before.map(({ threadId }) => threadId));
  return chosen.some(({ threadId }) => !known.has(threadId));
}

function deletedThreads(baseline: Files, rows: readonly InputRow[]): Set<string> {
  const now = new Set(rows.map((row) => row.threadId));
  const before = rawSections(baseline.get(rawMemoriesPath) ?? '').map(({ threadId }) => threadId);
  return new Set(before.filter((threadId) => !now.has(threadId)).map(shortThreadId));
}
