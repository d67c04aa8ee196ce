import type { Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { ruleContext } from '../state/rule-context.ts';
import { changesBetween } from '../workspace/changes.ts';
import { digestOfScopes } from '../workspace/digest.ts';
import { everywhere, memorySummaryPath } from '../workspace/layout.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import { buildSummary } from '../workspace/summary.ts';
import { digestPath } from './llm.ts';
import type { Prepared } from './prepare.ts';
import type { ConsolidationPolicy, MemoryStart } from './run.ts';
import type { Consolidator } from './types.ts';

/**
 * The scope `*`, as something to consolidate: blocks that hold in every repository, and the summary that opens every
 * session. It has no sessions of its own; what it reads is the digest of all scopes. It is made after them.
 */
export function prepareEverywhere(state: State, start: MemoryStart, policy: ConsolidationPolicy): Prepared {
  const own = project(start.files, everywhere);
  const ready = new Map([...own, [digestPath, digestOfScopes(start.files)]]);
  const baseline = start.baseline.get(everywhere) ?? new Map<string, string>();
  const changes = changesBetween(baseline, ready);
  const repositories = scopesOf(start.files).filter((scope) => scope !== everywhere);
  return {
    scope: everywhere,
    context: ruleContext(state, everywhere, policy.audience),
    selection: { chosen: [], waiting: 0, forgotten: [] },
    rows: [],
    repositories,
    ready,
    changes,
    mode: own.has(memorySummaryPath) && baseline.size > 0 ? 'incremental' : 'init',
    deletedThreads: new Set(),
    inputHash: sha256(JSON.stringify([...ready])),
    isDue: changes.length > 0 && (repositories.length > 0 || own.size > 0),
  };
}

/** Consolidates `*` by code: the summary made from the handbook, and no blocks but those that stand. */
export function summaryConsolidator(state: State, files: Files, policy: ConsolidationPolicy): Consolidator {
  const context = ruleContext(state, everywhere, policy.audience);
  return {
    class: 'builtin',
    promptHash: '',
    consolidate: async (task) => ({
      files: new Map([...task.files, [memorySummaryPath, buildSummary(files, context)]]),
      usage: { requests: 0, input: 0, cached: 0, output: 0 },
      turns: 0,
      end: 'finished',
    }),
  };
}

/** What the next night's difference is taken against: the scope's own files, and for `*` the digest it was made from. */
export function baselineOf(files: Files, { scope, ready }: Prepared): Files {
  const own = project(files, scope);
  const digest = ready.get(digestPath);
  return digest === undefined ? own : new Map([...own, [digestPath, digest]]);
}
