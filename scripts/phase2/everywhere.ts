import { ModelError } from '../model/errors.ts';
import type { Files } from '../shared/files.ts';
import { sha256 } from '../shared/thread-id.ts';
import type { State } from '../state/database.ts';
import {
  claimConsolidation,
  recordConsolidated,
  recordConsolidationFailure,
  releaseConsolidation,
} from '../state/scopes.ts';
import { type AcceptContext, acceptBlocks } from '../workspace/accept.ts';
import { changesBetween, renderChanges } from '../workspace/changes.ts';
import { digestOfScopes } from '../workspace/digest.ts';
import { everywhere, memorySummaryPath } from '../workspace/layout.ts';
import { lineHash } from '../workspace/lines.ts';
import { repair } from '../workspace/repair.ts';
import { project, scopesOf } from '../workspace/scope.ts';
import { buildSummary } from '../workspace/summary.ts';
import { ruleContext } from './context.ts';
import { digestPath } from './llm.ts';
import { type ConsolidationPolicy, type ConsolidationPorts, failsOneScope, type MemoryStart } from './run.ts';
import type { ScopeResult } from './scope.ts';
import type { ConsolidationTask, Proposal } from './types.ts';

export interface Everywhere {
  readonly result: ScopeResult;
  /** The projection of `*` afterwards; null where it stays as it was. */
  readonly files: Files | null;
  /** What the next night's difference is taken against. */
  readonly baseline: Files;
}

/**
 * The scope `*`: blocks that hold in every repository, and the summary that opens every session. A built-in
 * consolidator writes the summary by code and no such blocks; an agent works when the digest of all scopes changed.
 */
export async function consolidateEverywhere(
  state: State,
  start: MemoryStart,
  runId: string,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
  signal?: AbortSignal,
): Promise<Everywhere> {
  const own = project(start.files, everywhere);
  const ready = new Map([...own, [digestPath, digestOfScopes(start.files)]]);
  const baseline = start.baseline.get(everywhere) ?? new Map<string, string>();
  const changes = changesBetween(baseline, ready);
  const result = (outcome: ScopeResult['outcome'], detail: string, proposal?: Proposal): ScopeResult => ({
    scope: everywhere,
    outcome,
    detail,
    files: null,
    selected: 0,
    waiting: 0,
    forgotten: [],
    dropped: [],
    restored: 0,
    usage: proposal?.usage ?? { requests: 0, input: 0, cached: 0, output: 0 },
    turns: proposal?.turns ?? 0,
  });
  const repositories = scopesOf(start.files).filter((scope) => scope !== everywhere);
  if (changes.length === 0 || (repositories.length === 0 && own.size === 0)) {
    return { result: result('unchanged', ''), files: null, baseline };
  }
  const context: AcceptContext = {
    ...ruleContext(state, everywhere, policy.audience),
    scope: everywhere,
    deletedThreads: new Set(),
    isPersonSkill: () => false,
  };
  const claim = claimConsolidation(state, everywhere, {
    now: ports.clock.now(),
    cooldownSeconds: policy.cooldownSeconds,
    leaseSeconds: policy.leaseSeconds,
    workerId: runId,
    token: `${runId}:${everywhere}`,
    ignoreCooldown: true,
  });
  if (claim.outcome !== 'claimed') return { result: result(claim.outcome, ''), files: null, baseline };
  const summary = buildSummary(start.files, context);
  const finish = (files: Files, detail: string, proposal?: Proposal): Everywhere => {
    const withSummary = files.has(memorySummaryPath) ? files : new Map([...files, [memorySummaryPath, summary]]);
    const done = withoutDigest(withSummary);
    recordConsolidated(state, claim, {
      selected: [],
      watermark: claim.watermark,
      consolidatorClass: proposal === undefined ? 'builtin' : ports.consolidator.class,
      now: ports.clock.now(),
    });
    return {
      result: result('consolidated', detail, proposal),
      files: done,
      baseline: new Map([...done, [digestPath, ready.get(digestPath) ?? '']]),
    };
  };
  if (ports.consolidator.class === 'builtin') {
    return finish(new Map([...own, [memorySummaryPath, summary]]), '');
  }
  const judge = (files: Files) => acceptBlocks(ready, repair(files, context), context);
  const inputHash = sha256(JSON.stringify([...ready]));
  const task: ConsolidationTask = {
    scope: everywhere,
    mode: baseline.size === 0 ? 'init' : 'incremental',
    files: ready,
    changes: renderChanges(changes),
    repositories,
    appendOnly: false,
    isPersons: (line) => context.isPersonLine(everywhere, lineHash(line)),
    review: (files) => judge(files).dropped.map(({ block, reason }) => (block === '' ? reason : `${block}: ${reason}`)),
  };
  if (!ports.goesOn()) {
    releaseConsolidation(state, claim);
    return { result: result('left', ''), files: null, baseline };
  }
  if (claim.before !== null && claim.before.failures >= 3 && claim.before.failedInput === inputHash) {
    return finish(new Map([...own, [memorySummaryPath, summary]]), 'by code: the agent failed three times');
  }
  try {
    const proposal = await ports.consolidator.consolidate(task, signal);
    const masked = new Map(
      [...proposal.files].map(([path, text]) => [path, path === digestPath ? text : ports.redact(text)]),
    );
    return finish(judge(masked).files, '', proposal);
  } catch (error) {
    if (error instanceof ModelError && error.kind === 'budget') {
      releaseConsolidation(state, claim);
      return { result: result('left', ''), files: null, baseline };
    }
    if (!failsOneScope(error)) throw error;
    const now = ports.clock.now();
    recordConsolidationFailure(state, claim, {
      label: error.message,
      inputHash,
      now,
      retrySeconds: policy.retrySeconds,
    });
    return { result: result('failed', error.message), files: null, baseline };
  }
}

function withoutDigest(files: Files): Files {
  return new Map([...files].filter(([path]) => path !== digestPath));
}
