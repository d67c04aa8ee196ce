import { openJournal } from '../model/journal.ts';
import { createJournaledModel } from '../model/journaled.ts';
import { createLedger } from '../model/ledger.ts';
import { createBuiltinConsolidator } from '../phase2/builtin.ts';
import { createAgentConsolidator } from '../phase2/llm.ts';
import { type ConsolidationPolicy, type ConsolidationPorts, consolidate } from '../phase2/run.ts';
import { stopwatch } from '../shared/clock.ts';
import type { Played } from './play-phase1.ts';

/** Everything at once, as nothing was consolidated before. */
const policy: ConsolidationPolicy = {
  selection: { maxRawMemories: 4_096, maxUnusedDays: 365, maxNewPerNight: 4_096 },
  audience: 'team',
  concurrency: 4,
  leaseSeconds: 3_600,
  retrySeconds: 3_600,
  cooldownSeconds: 21_600,
  ignoreCooldown: true,
  ignoreBackoff: true,
};

/** Consolidates all that phase 1 left with a model that is asked once a scope. */
export async function playPhase2(
  { state, redact, server }: Pick<Played, 'state' | 'redact' | 'server'>,
  now: number,
  journalFolder: string,
  signal: AbortSignal,
): Promise<void> {
  const journal = openJournal(journalFolder, redact);
  const ledger = createLedger({ caps: { phase2: { tokens: 1_000_000_000 } } });
  const model = createJournaledModel(server, journal, ledger);
  const ports: ConsolidationPorts = {
    consolidator: createAgentConsolidator({
      model,
      modelName: 'bench',
      audience: policy.audience,
      language: 'source',
      contextWindow: null,
      redact,
      limits: {
        turns: 1,
        inputTokens: 2_000_000,
        outputTokensPerTurn: 16_000,
        reviews: 0,
        minutes: 20,
        elapsed: stopwatch,
      },
    }),
    fallback: createBuiltinConsolidator(),
    clock: { now: () => now },
    redact,
    progress: () => {},
    spent: () => '',
    goesOn: () => true,
  };
  await consolidate(state, { files: new Map(), baseline: new Map() }, 'bench', policy, ports, signal);
}
