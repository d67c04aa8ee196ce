import type { Usage } from '../model/types.ts';
import { noUsage } from '../model/usage.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import {
  type ConsolidationClaim,
  recordConsolidated,
  recordConsolidationFailure,
  releaseConsolidation,
} from '../state/scopes.ts';
import type { Acceptance, Dropped } from '../workspace/accept.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { judge, problemsWith, sameFiles } from './judge.ts';
import type { Prepared } from './prepare.ts';
import type { ConsolidationPolicy, ConsolidationPorts } from './run.ts';
import type { Consolidator, Proposal } from './types.ts';
import type { Worked } from './work.ts';

/** How one scope ended, for the report and the projection. */
export interface ScopeResult {
  readonly scope: Scope;
  readonly outcome:
    | 'consolidated'
    | 'unchanged'
    | 'held'
    | 'code_only'
    | 'left'
    | 'failed'
    | 'cooldown'
    | 'backoff'
    | 'running';
  /** Why, for a person. */
  readonly detail: string;
  /** The scope's projection afterwards; null where it stays as it was. */
  readonly files: Files | null;
  readonly selected: number;
  readonly waiting: number;
  readonly forgotten: readonly string[];
  readonly dropped: readonly Dropped[];
  readonly restored: number;
  readonly usage: Usage;
  readonly turns: number;
}

/** Judges what was proposed and records how the scope ended. */
export function settleScope(
  state: State,
  work: Worked,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
): ScopeResult {
  const { scope } = work;
  switch (work.outcome) {
    case 'refused':
      return resultOf(scope, work.why, '');
    case 'left':
      releaseConsolidation(state, work.claim);
      return resultOf(scope, 'left', 'the cap, the time or the allowance of this night is over');
    case 'failed':
      return fail(state, work, work.error.message, policy, ports);
    case 'unchanged':
      return settleUnchanged(state, work, ports);
    case 'proposed':
      return settleProposal(state, work, policy, ports);
  }
}

/** Nobody was asked: what differs, if anything does, is put in order by code. */
function settleUnchanged(
  state: State,
  work: Extract<Worked, { outcome: 'unchanged' | 'left' }>,
  ports: ConsolidationPorts,
): ScopeResult {
  const { scope, claim } = work;
  const files = scope.needs === 'code' ? judge(scope, scope.ready, ports.redact).files : null;
  if (scope.scope === everywhere && (files === null || sameFiles(files, scope.ready))) {
    releaseConsolidation(state, claim);
    return resultOf(scope, 'unchanged', '');
  }
  const last = jobOf(state, 'memory_consolidate', scope.scope)?.lastSuccessClass;
  recordSuccess(state, work, ports, last ?? ports.consolidator.class);
  return resultOf(scope, 'unchanged', files === null ? '' : 'put in order by code, no model was asked', { files });
}

function settleProposal(
  state: State,
  work: Extract<Worked, { outcome: 'proposed' }>,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
): ScopeResult {
  const { scope, proposal, by, isFallback } = work;
  const accepted = judge(scope, proposal.files, ports.redact);
  const { dropped, restored } = accepted;
  const facts = { dropped, usage: proposal.usage, turns: proposal.turns };
  const failure = by.class === 'builtin' ? null : failureOf(scope, proposal, accepted, ports);
  if (failure !== null) return { ...fail(state, work, failure, policy, ports), ...facts };
  const last = jobOf(state, 'memory_consolidate', scope.scope)?.lastSuccessClass ?? null;
  // Code only adds to what a model has made: the memory stays a model's.
  recordSuccess(state, work, ports, last === 'llm' ? 'llm' : by.class, isFallback);
  const detail = isFallback ? 'by code alone: paying for this input has failed three times' : ends[proposal.end];
  return resultOf(scope, isFallback ? 'code_only' : 'consolidated', detail, {
    ...facts,
    files: accepted.files,
    restored,
  });
}

/**
 * Why a proposal counts as none. One that was not finished may have taken out what it did not come to put elsewhere;
 * one of which nothing is right has taken nothing in.
 */
function failureOf(
  scope: Prepared,
  { end, files }: Proposal,
  { dropped, files: accepted }: Acceptance,
  ports: ConsolidationPorts,
): string | null {
  if (end === 'finished') return null;
  if (end !== 'review_spent') return ends[end];
  if (!sameFiles(accepted, judge(scope, scope.ready, ports.redact).files)) return null;
  const [first] = problemsWith(scope, files, dropped);
  return `nothing of what the model wrote could be accepted: ${first ?? 'it gave no answer'}`;
}

const ends: Readonly<Record<Proposal['end'], string>> = {
  finished: '',
  review_spent: 'what still broke a rule after the reviews was left out',
  turns_spent: 'the model came to no end within its turns',
  tokens_spent: 'the model came to no end within its tokens',
  time_spent: 'the model came to no end within its time',
  cut_off: "the model's answer was cut off at its limit",
};

function fail(
  state: State,
  { scope, claim }: Extract<Worked, { claim: ConsolidationClaim }>,
  why: string,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
): ScopeResult {
  recordConsolidationFailure(state, claim, {
    label: ports.redact(why).slice(0, 400),
    inputHash: scope.inputHash(),
    now: ports.clock.now(),
    retrySeconds: policy.retrySeconds,
  });
  return resultOf(scope, 'failed', why);
}

function recordSuccess(
  state: State,
  { scope, claim }: Extract<Worked, { claim: ConsolidationClaim }>,
  ports: ConsolidationPorts,
  consolidatorClass: Consolidator['class'],
  keepsFailures = false,
): void {
  const now = ports.clock.now();
  const { chosen } = scope.selection;
  recordConsolidated(state, claim, {
    selected: chosen.map(({ threadId, extractorClass, sourceUpdatedAt }) => ({
      threadId,
      extractorClass,
      sourceUpdatedAt,
      selectedAt: now,
    })),
    watermark: chosen.reduce((most, output) => Math.max(most, output.sourceUpdatedAt), claim.watermark),
    consolidatorClass,
    now,
    keepsFailures,
  });
}

function resultOf(
  scope: Prepared,
  outcome: ScopeResult['outcome'],
  detail: string,
  more: Partial<ScopeResult> = {},
): ScopeResult {
  return {
    scope: scope.scope,
    outcome,
    detail,
    files: null,
    selected: scope.selection.chosen.length,
    waiting: scope.selection.waiting,
    forgotten: scope.selection.forgotten,
    dropped: [],
    restored: 0,
    usage: noUsage,
    turns: 0,
    ...more,
  };
}
