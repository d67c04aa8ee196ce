import { noUsage } from '../model/usage.ts';
import { parseEvidence } from '../shared/evidence.ts';
import type { Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import { ruleContext } from '../state/rule-context.ts';
import { changesBetween } from '../workspace/changes.ts';
import { digestOfScopes, digestPath } from '../workspace/digest.ts';
import { splitHeader } from '../workspace/inputs.ts';
import { everywhere, handbookPath, memorySummaryPath, stemOf } from '../workspace/layout.ts';
import { repair } from '../workspace/repair.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import { buildSummary } from '../workspace/summary.ts';
import { forgottenIn, withoutForgotten, withoutHiddenBullets } from './forgotten.ts';
import type { Prepared } from './prepare.ts';
import type { ConsolidationPolicy, MemoryStart } from './run.ts';
import type { Consolidator } from './types.ts';

/**
 * The scope `*`, as something to consolidate: blocks that hold in every repository, and the summary that opens every
 * session. It has no sessions of its own; what it reads is the digest of all scopes. It is made after them.
 */
export function prepareEverywhere(state: State, start: MemoryStart, policy: ConsolidationPolicy): Prepared {
  const context = ruleContext(state, everywhere, policy.audience);
  const own = project(start.files, everywhere);
  const forgotten = forgottenIn(state, everywhere);
  const digest = withoutHiddenBullets(digestOfScopes(start.files), forgotten);
  const ready = new Map([...own, [digestPath, digest]]);
  const baseline = start.baseline.get(everywhere) ?? new Map<string, string>();
  const changes = changesBetween(withoutForgotten(baseline, ready, forgotten), ready);
  const repositories = scopesOf(start.files).filter((scope) => scope !== everywhere);
  const summaries = new Map([...start.files].filter(([path]) => stemOf(path) !== null));
  const needs = changes.length > 0 ? 'consolidator' : isBroken(ready, summaries, context) ? 'code' : 'nothing';
  return {
    scope: everywhere,
    context,
    selection: { chosen: [], waiting: 0, forgotten: [] },
    rows: [],
    repositories,
    ready,
    summaries,
    changes,
    mode: own.has(memorySummaryPath) && baseline.size > 0 ? 'incremental' : 'init',
    deletedThreads: deletedThreads(own, baseline, summaries),
    inputHash: sha256(JSON.stringify([...ready])),
    isHeld: false,
    isDue: needs !== 'nothing' && (repositories.length > 0 || own.size > 0),
    needs,
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
      usage: noUsage,
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

/** Whether a block refers to a summary that is gone. */
function isBroken(ready: Files, summaries: Files, context: Prepared['context']): boolean {
  const handbook = ready.get(handbookPath);
  if (handbook === undefined) return false;
  return repair(new Map([...ready, ...summaries]), context).get(handbookPath) !== handbook;
}

/** Threads that blocks, or what they were made from, cite and whose summaries are gone: a line of theirs may go. */
function deletedThreads(own: Files, baseline: Files, summaries: Files): Set<string> {
  const living = new Set([...summaries.values()].map((text) => splitHeader(text).header.thread));
  const cited = [own.get(handbookPath), baseline.get(digestPath)].flatMap((text) => parseEvidence(text ?? ''));
  return new Set(cited.map(({ thread }) => thread).filter((thread) => !living.has(thread)));
}
