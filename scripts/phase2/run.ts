import type { Usage } from '../model/types.ts';
import { addUsage, noUsage } from '../model/usage.ts';
import type { Clock } from '../shared/clock.ts';
import { byBinary, type Files } from '../shared/files.ts';
import { mapLimit } from '../shared/limit.ts';
import type { Progress } from '../shared/log.ts';
import type { State } from '../state/database.ts';
import { jobOf } from '../state/jobs.ts';
import { dueScopes } from '../state/scopes.ts';
import type { FilesByScope } from '../state/tree.ts';
import { entriesIn } from '../workspace/extension.ts';
import { replaceInputs } from '../workspace/inputs.ts';
import { everywhere } from '../workspace/layout.ts';
import { spliceAll } from '../workspace/scope.ts';
import { baselineOf, prepareEverywhere, summaryConsolidator } from './everywhere.ts';
import { type Prepared, prepareScope } from './prepare.ts';
import type { SelectionPolicy } from './select.ts';
import { type ScopeResult, settleScope } from './settle.ts';
import type { Consolidator } from './types.ts';
import { type Worked, workOn } from './work.ts';

export interface ConsolidationPolicy {
  readonly selection: SelectionPolicy;
  readonly audience: 'team' | 'person';
  readonly concurrency: number;
  readonly leaseSeconds: number;
  readonly retrySeconds: number;
  readonly cooldownSeconds: number;
  /** `--now` */
  readonly ignoreCooldown: boolean;
  /** `--now`: a scope that failed is tried again before its backoff is over. */
  readonly ignoreBackoff: boolean;
}

export interface ConsolidationPorts {
  readonly consolidator: Consolidator;
  /** What is committed where paying has failed three times on the same input. */
  readonly fallback: Consolidator;
  readonly clock: Clock;
  /** Everything that is written passes here. */
  readonly redact: (text: string) => string;
  progress(progress: Progress): void;
  spent(): string;
  goesOn(): boolean;
}

/** The memory as the night found it. */
export interface MemoryStart {
  /** Everything below `memories/`, as people left it. */
  readonly files: Files;
  readonly baseline: FilesByScope;
}

export interface ConsolidationReport {
  readonly files: Files;
  readonly baseline: FilesByScope;
  /** In scope order, `*` last. */
  readonly scopes: readonly ScopeResult[];
  readonly usage: Usage;
}

/**
 * Consolidates every scope that has something to take in, several at once, and puts the results together in scope
 * order: what happens to one scope never depends on another. Then the scope `*`.
 * @throws ModelError that stops the night, and the signal's reason.
 */
export async function consolidate(
  state: State,
  start: MemoryStart,
  runId: string,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
  signal?: AbortSignal,
): Promise<ConsolidationReport> {
  const prepared = scopesToLookAt(state, start.files).map((scope) =>
    prepareScope(state, scope, start, policy, ports.clock.now()),
  );
  const busy = prepared.filter((scope) => scope.isDue);
  let done = 0;
  const ended = await mapLimit(
    inTurn(state, busy),
    policy.concurrency,
    async (scope) => {
      const result = await workOn(state, scope, runId, policy, ports, signal);
      done += 1;
      ports.progress({ stage: 'phase 2: scopes', done, total: busy.length, note: ports.spent() });
      return result;
    },
    signal,
  );
  const worked = ended.sort((a, b) => byBinary(a.scope.scope, b.scope.scope));
  const repositories = putTogether(state, start, worked, policy, ports);
  const last = await workEverywhere(state, repositories, runId, policy, ports, signal);
  const together = putTogether(state, repositories, last, policy, ports);
  const quiet = prepared
    .filter((scope) => !scope.isDue && (scope.isHeld || start.baseline.has(scope.scope)))
    .map(resting);
  const scopes = [...repositories.results, ...quiet].sort((a, b) => byBinary(a.scope, b.scope));
  return { ...together, scopes: [...scopes, ...together.results], usage: usageOf([...scopes, ...together.results]) };
}

/**
 * Whoever waited longest comes first, new ones before all: where a night's allowance does not suffice for all, what large
 * repositories leave undone tonight has the next night to itself.
 */
function inTurn(state: State, scopes: readonly Prepared[]): Prepared[] {
  const lastTurn = ({ scope }: Prepared) => jobOf(state, 'memory_consolidate', scope)?.finishedAt ?? 0;
  return [...scopes].sort((a, b) => lastTurn(a) - lastTurn(b) || byBinary(a.scope, b.scope));
}

/** Those that are due, and those that notes are about: a person may have changed one. */
export function scopesToLookAt(state: State, files: Files): string[] {
  const noted = entriesIn(files).map(({ scope }) => scope);
  return [...new Set([...dueScopes(state), ...noted])].filter((scope) => scope !== everywhere).sort(byBinary);
}

async function workEverywhere(
  state: State,
  start: MemoryStart,
  runId: string,
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
  signal?: AbortSignal,
): Promise<Worked[]> {
  const scope = prepareEverywhere(state, start, policy);
  if (!scope.isDue) return [];
  const byCode = summaryConsolidator(state, start.files, policy);
  const consolidator = ports.consolidator.class === 'builtin' ? byCode : ports.consolidator;
  return [await workOn(state, scope, runId, policy, { ...ports, consolidator, fallback: byCode }, signal)];
}

/** Records how each scope ended, in scope order, and puts their files and baselines into the whole. */
function putTogether(
  state: State,
  start: MemoryStart,
  worked: readonly Worked[],
  policy: ConsolidationPolicy,
  ports: ConsolidationPorts,
): MemoryStart & { readonly results: readonly ScopeResult[] } {
  const results = worked.map((work) => settleScope(state, work, policy, ports));
  const changed = worked.flatMap(({ scope }, index) => {
    const files = results[index]?.files ?? null;
    return files === null ? [] : [{ scope, own: files }];
  });
  const inputs = new Map(
    changed.filter(({ scope }) => scope.scope !== everywhere).map(({ scope }) => [scope.scope, scope.ready]),
  );
  const read = inputs.size === 0 ? start.files : replaceInputs(start.files, inputs);
  const files = spliceAll(read, new Map(changed.map(({ scope, own }) => [scope.scope, own])));
  const baseline = new Map(start.baseline);
  for (const { scope } of changed) baseline.set(scope.scope, baselineOf(files, scope));
  return { files, baseline, results };
}

function resting({ scope, selection, isHeld }: Prepared): ScopeResult {
  return {
    scope,
    outcome: isHeld ? 'held' : 'unchanged',
    detail: '',
    files: null,
    selected: selection.chosen.length,
    waiting: selection.waiting,
    forgotten: [],
    dropped: [],
    restored: 0,
    usage: noUsage,
    turns: 0,
  };
}

function usageOf(results: readonly ScopeResult[]): Usage {
  return results.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
}
