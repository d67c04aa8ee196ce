import { ModelError } from '../model/errors.ts';
import type { Usage } from '../model/types.ts';
import { noUsage } from '../model/usage.ts';
import type { Files } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import {
  type ConsolidationClaim,
  claimConsolidation,
  recordConsolidated,
  recordConsolidationFailure,
  releaseConsolidation,
} from '../state/scopes.ts';
import type { Acceptance, Dropped } from '../workspace/accept.ts';
import { renderChanges } from '../workspace/changes.ts';
import { everywhere, type Scope } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { judge, problemsWith, sameFiles } from './judge.ts';
import type { Prepared } from './prepare.ts';
import type { ConsolidationPolicy, ConsolidationPorts } from './run.ts';
import type { ConsolidationTask, Consolidator, Proposal } from './types.ts';

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

export type Worked =
  | { readonly scope: Prepared; readonly outcome: 'refused'; readonly why: 'cooldown' | 'backoff' | 'running' }
  | { readonly scope: Prepared; readonly outcome: 'unchanged' | 'left'; readonly claim: ConsolidationClaim }
  | {
      readonly scope: Prepared;
      readonly outcome: 'proposed';
      readonly claim: ConsolidationClaim;
      readonly by: Consolidator;
      /** Paying for this input has failed too often: the result is code's. */
      readonly isFallback: boolean;
      readonly proposal: Proposal;
    }
  | {
      readonly scope: Prepared;
      readonly outcome: 'failed';
      readonly claim: ConsolidationClaim;
      readonly error: ModelError;
    };

/** Failures on the same input after which paying stops until the input changes. */
const failuresAllowed = 3;

/** Claims a scope and lets the consolidator work on it. Records nothing but the claim. */
export async function workOn(
  state: State,
  scope: Prepared,
  runId: string,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
  signal?: AbortSignal,
): Promise<Worked> {
  const claim = claimConsolidation(state, scope.scope, {
    now: ports.clock.now(),
    cooldownSeconds: policy.cooldownSeconds,
    leaseSeconds: policy.leaseSeconds,
    workerId: runId,
    token: `${runId}:${scope.scope}`,
    ignoreCooldown: policy.ignoreCooldown || scope.scope === everywhere,
    ignoreBackoff: policy.ignoreBackoff,
  });
  if (claim.outcome !== 'claimed') return { scope, outcome: 'refused', why: claim.outcome };
  if (scope.needs !== 'consolidator') return { scope, outcome: 'unchanged', claim };
  const isFallback =
    claim.before !== null && claim.before.failures >= failuresAllowed && claim.before.failedInput === scope.inputHash();
  if (!isFallback && !ports.goesOn()) return { scope, outcome: 'left', claim };
  const by = isFallback ? ports.fallback : ports.consolidator;
  try {
    const proposal = await by.consolidate(taskOf(state, scope, by), signal);
    return { scope, outcome: 'proposed', claim, by, isFallback, proposal };
  } catch (error) {
    if (error instanceof ModelError && error.kind === 'budget') return { scope, outcome: 'left', claim };
    if (failsOneScope(error)) return { scope, outcome: 'failed', claim, error };
    throw error;
  }
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

function taskOf(state: State, scope: Prepared, by: Consolidator): ConsolidationTask {
  const last = jobOf(state, 'memory_consolidate', scope.scope)?.lastSuccessClass ?? null;
  return {
    scope: scope.scope,
    mode: scope.mode,
    files: scope.ready,
    changes: (maxBytes) => renderChanges(scope.changes, maxBytes),
    repositories: scope.repositories,
    appendOnly: by.class === 'builtin' && last === 'llm',
    isNote: (thread, item) => scope.context.evidenceOf(thread, item)?.isNote === true,
    isPersons: (line) => scope.context.isPersonLine(scope.scope, lineHash(line)),
    review: (files) => problemsWith(scope, files, judge(scope, files, (text) => text).dropped),
  };
}

/** Whether an error concerns one scope alone. */
function failsOneScope(error: unknown): error is ModelError {
  return error instanceof ModelError && !error.stopsNight && error.kind !== 'aborted';
}

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
