import type { Ledger } from '../model/ledger.ts';
import type { ExtractionReport } from '../phase1/run.ts';
import type { ConsolidationReport } from '../phase2/run.ts';
import type { EpochSeconds } from '../shared/clock.ts';
import { areSame } from '../shared/files.ts';
import { snapshotOf } from '../state/snapshot.ts';
import type { RunRow } from '../state/types.ts';
import { sameBatches } from './batches.ts';
import type { BatchesTonight } from './batches-tonight.ts';
import type { NightPorts } from './night.ts';
import type { Start } from './start.ts';

/** What both phases did. */
export interface Halves {
  readonly found: number;
  /** New ones. */
  readonly citations: number;
  readonly phase1: ExtractionReport;
  readonly batches: BatchesTonight;
  readonly phase2: ConsolidationReport;
}

/** Quiet: neither the tables nor the files nor the batches differ from what the night found, and nothing was paid for. */
export function outcomeOf(start: Start, { phase1, batches, phase2 }: Halves, ledger: Ledger): RunRow['outcome'] {
  const isSame =
    areSame(start.memories, phase2.files) &&
    sameBatches(start.night.batches, batches.batches) &&
    snapshotOf(start.state) === start.stateText;
  if (isSame && ledger.total().answers === 0 && batches.problems.length === 0) return 'quiet';
  const failures =
    phase1.failed.length + batches.problems.length + phase2.scopes.filter(({ outcome }) => outcome === 'failed').length;
  return failures > 0 ? 'partly' : 'done';
}

/** The night's line of the ledger. */
export function runRow(
  runId: string,
  now: EpochSeconds,
  outcome: RunRow['outcome'],
  { found, citations, phase1, batches, phase2 }: Halves,
  ports: NightPorts,
): RunRow {
  const scopes = (wanted: string) => phase2.scopes.filter((scope) => scope.outcome === wanted).length;
  const written = phase2.scopes.filter(({ outcome: ended }) => ended === 'consolidated' || ended === 'code_only');
  return {
    runId,
    startedAt: now,
    finishedAt: ports.clock.now(),
    outcome,
    counts: {
      found,
      citations,
      extracted: phase1.extracted.length,
      nothing: phase1.nothing.length,
      failed: phase1.failed.length,
      left: phase1.left.length,
      ...(batches.submitted !== null && { batched: batches.submitted.requests.length }),
      unverified: phase1.unverified,
      secrets: Object.values(phase1.secrets).reduce((sum, count) => sum + count, 0),
      scopes_consolidated: scopes('consolidated') + scopes('code_only'),
      scopes_failed: scopes('failed'),
      forgotten: written.reduce((sum, scope) => sum + scope.forgotten.length, 0),
      dropped: phase2.scopes.reduce((sum, scope) => sum + scope.dropped.length, 0),
    },
    usage: { phase1: usageOf(ports.ledger, 'phase1'), phase2: usageOf(ports.ledger, 'phase2') },
    models: ports.models,
    promptsHash: `${ports.extractor.promptHash.slice(0, 16)} ${ports.consolidator.promptHash.slice(0, 16)}`,
  };
}

/** How often a request had to be sent again depends on the server's mood: it is told, not recorded. */
function usageOf(ledger: Ledger, purpose: 'phase1' | 'phase2'): Record<string, number> {
  const { usage, usd, answers } = ledger.total(purpose);
  return { ...usage, requests: answers, micro_usd: Math.round(usd * 1_000_000) };
}

/** The commits' trailers: typed values only, no words of the memory. */
export function trailersOf(runId: string, { phase1, phase2 }: Halves, ports: NightPorts): Record<string, string> {
  const { usage } = ports.ledger.total();
  const consolidated = phase2.scopes.filter(({ files }) => files !== null).length;
  const byCode = phase2.scopes.filter(({ outcome }) => outcome === 'code_only').map(({ scope }) => scope);
  return {
    'Memory-Run': runId,
    'Memory-Phase1': `${phase1.extracted.length} extracted, ${phase1.nothing.length} without output, ${phase1.failed.length} failed`,
    'Memory-Phase2': `${consolidated} scopes${byCode.length === 0 ? '' : `, by code alone: ${byCode.join(' ')}`}`,
    'Memory-Model': ports.models,
    'Memory-Prompts': `${ports.extractor.promptHash.slice(0, 12)} ${ports.consolidator.promptHash.slice(0, 12)}`,
    'Memory-Tokens': `${usage.input} in, ${usage.output} out`,
  };
}
