import { ModelError } from '../model/errors.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import { type ConsolidationClaim, claimConsolidation } from '../state/scopes.ts';
import { renderChanges } from '../workspace/changes.ts';
import { everywhere } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { judge, problemsWith } from './judge.ts';
import type { Prepared } from './prepare.ts';
import type { ConsolidationPolicy, ConsolidationPorts } from './run.ts';
import type { ConsolidationTask, Consolidator, Proposal } from './types.ts';

/** What came of one scope's claim; nothing of it is recorded yet. */
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
