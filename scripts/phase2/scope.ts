import { ModelError } from '../model/errors.ts';
import type { Usage } from '../model/types.ts';
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
import { type Acceptance, type AcceptContext, acceptBlocks, type Dropped } from '../workspace/accept.ts';
import { renderChanges } from '../workspace/changes.ts';
import { everywhere, isGenerated, type Scope } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { repair } from '../workspace/repair.ts';
import { digestPath } from './llm.ts';
import type { Prepared } from './prepare.ts';
import { type ConsolidationPolicy, type ConsolidationPorts, failsOneScope } from './run.ts';
import type { ConsolidationTask, Consolidator, Proposal } from './types.ts';

export interface ScopeResult {
  readonly scope: Scope;
  readonly outcome: 'consolidated' | 'unchanged' | 'code_only' | 'left' | 'failed' | 'cooldown' | 'backoff' | 'running';
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
  | { readonly scope: Prepared; readonly outcome: 'unchanged'; readonly claim: ConsolidationClaim }
  | {
      readonly scope: Prepared;
      readonly outcome: 'proposed';
      readonly claim: ConsolidationClaim;
      readonly by: Consolidator;
      readonly proposal: Proposal;
    }
  | { readonly scope: Prepared; readonly outcome: 'left'; readonly claim: ConsolidationClaim }
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
  });
  if (claim.outcome !== 'claimed') return { scope, outcome: 'refused', why: claim.outcome };
  if (scope.changes.length === 0 && scope.mode === 'incremental') return { scope, outcome: 'unchanged', claim };
  if (!ports.goesOn()) return { scope, outcome: 'left', claim };
  const isSpent =
    claim.before !== null && claim.before.failures >= failuresAllowed && claim.before.failedInput === scope.inputHash;
  const by = isSpent ? ports.fallback : ports.consolidator;
  try {
    const proposal = await by.consolidate(taskOf(state, scope, by), signal);
    return { scope, outcome: 'proposed', claim, by, proposal };
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
  const now = ports.clock.now();
  const result = (outcome: ScopeResult['outcome'], detail: string, more: Partial<ScopeResult> = {}): ScopeResult => ({
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
  });
  switch (work.outcome) {
    case 'refused':
      return result(work.why, '');
    case 'left':
      releaseConsolidation(state, work.claim);
      return result('left', 'the cap, the time or the allowance of this night is over');
    case 'failed':
      recordConsolidationFailure(state, work.claim, {
        label: work.error.message.slice(0, 400),
        inputHash: scope.inputHash,
        now,
        retrySeconds: policy.retrySeconds,
      });
      return result('failed', work.error.message);
    case 'unchanged':
      recordSuccess(state, work, now, jobOf(state, 'memory_consolidate', scope.scope)?.lastSuccessClass ?? 'builtin');
      return result('unchanged', '');
    case 'proposed': {
      const accepted = judge(scope, work.proposal.files, ports.redact);
      const isFallback = work.by === ports.fallback && work.by !== ports.consolidator;
      recordSuccess(state, work, now, work.by.class, isFallback);
      return result(isFallback ? 'code_only' : 'consolidated', endOf(work.proposal), {
        files: accepted.files,
        dropped: accepted.dropped,
        restored: accepted.restored,
        usage: work.proposal.usage,
        turns: work.proposal.turns,
      });
    }
  }
}

function taskOf(state: State, scope: Prepared, by: Consolidator): ConsolidationTask {
  const last = jobOf(state, 'memory_consolidate', scope.scope)?.lastSuccessClass ?? null;
  return {
    scope: scope.scope,
    mode: scope.mode,
    files: scope.ready,
    changes: renderChanges(scope.changes),
    repositories: scope.repositories,
    appendOnly: by.class === 'builtin' && last === 'llm',
    isPersons: (line) => scope.context.isPersonLine(scope.scope, lineHash(line)),
    review: (files) => judge(scope, files, (text) => text).dropped.map(problemOf),
  };
}

/** What code can mend is mended, what is right is taken block by block, and secrets are masked. */
function judge(scope: Prepared, proposed: Files, redact: (text: string) => string): Acceptance {
  const context: AcceptContext = {
    ...scope.context,
    scope: scope.scope,
    deletedThreads: scope.deletedThreads,
    isPersonSkill: (path) => scope.context.isPersonLine(scope.scope, lineHash(path)),
  };
  const mended = repair(masked(proposed, redact), context);
  const accepted = acceptBlocks(scope.ready, mended, context);
  return { ...accepted, files: withoutDigest(repair(accepted.files, context)) };
}

function masked(files: Files, redact: (text: string) => string): Files {
  return new Map([...files].map(([path, text]) => [path, isGenerated(path) ? text : redact(text)]));
}

/** The digest is made for one consolidation and stands in no tree. */
function withoutDigest(files: Files): Files {
  return new Map([...files].filter(([path]) => path !== digestPath));
}

function problemOf({ block, reason }: Dropped): string {
  return block === '' ? reason : `${block}: ${reason}`;
}

function recordSuccess(
  state: State,
  { scope, claim }: Extract<Worked, { claim: ConsolidationClaim }>,
  now: number,
  consolidatorClass: Consolidator['class'],
  keepsFailures = false,
): void {
  recordConsolidated(state, claim, {
    selected: scope.selection.chosen.map(({ threadId, extractorClass, sourceUpdatedAt }) => ({
      threadId,
      extractorClass,
      sourceUpdatedAt,
      selectedAt: now,
    })),
    watermark: scope.selection.chosen.reduce((most, output) => Math.max(most, output.sourceUpdatedAt), claim.watermark),
    consolidatorClass,
    now,
    keepsFailures,
  });
}

const ends: Readonly<Record<Proposal['end'], string>> = {
  finished: '',
  review_spent: 'what still broke a rule after the reviews was left out',
  turns_spent: 'stopped at the limit of turns',
  tokens_spent: 'stopped at the limit of tokens',
  time_spent: 'stopped at the limit of time',
  cut_off: 'the last answer was cut off',
};

function endOf(proposal: Proposal): string {
  return ends[proposal.end];
}

const noUsage: Usage = { requests: 0, input: 0, cached: 0, output: 0 };
