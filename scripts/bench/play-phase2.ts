import { openJournal } from '../model/journal.ts';
import { createJournaledModel } from '../model/journaled.ts';
import { createLedger } from '../model/ledger.ts';
import { createOpenAiModel } from '../model/openai.ts';
import { createBuiltinConsolidator } from '../phase2/builtin.ts';
import { createAgentConsolidator } from '../phase2/llm.ts';
import { type ConsolidationPolicy, consolidate } from '../phase2/run.ts';
import { stopwatch } from '../shared/clock.ts';
import { createRedactor } from '../shared/redact.ts';
import type { State } from '../state/database.ts';

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

/** Consolidates all that the state holds with a model that is asked once a scope. */
export async function playPhase2(state: State, now: number, baseUrl: string, journalFolder: string): Promise<void> {
  const redactor = createRedactor({});
  const redact = (text: string) => redactor.redact(text);
  const journal = openJournal(journalFolder, redact);
  const ledger = createLedger({ caps: { phase2: { tokens: 1_000_000_000 } } });
  const model = createJournaledModel(createOpenAiModel({ baseUrl, apiKey: 'none', wire: 'auto' }), journal, ledger);
  await consolidate(state, { files: new Map(), baseline: new Map() }, 'bench', policy, {
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
  });
}
