import { openJournal } from '../model/journal.ts';
import { createJournaledModel } from '../model/journaled.ts';
import { createLedger } from '../model/ledger.ts';
import { createOpenAiModel } from '../model/openai.ts';
import type { Model } from '../model/types.ts';
import { type ReadPolicy, whySkipped } from '../phase1/decide.ts';
import { createLlmExtractor } from '../phase1/llm.ts';
import { type ExtractionReport, extractMemories } from '../phase1/run.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import { createRedactor } from '../shared/redact.ts';
import type { State } from '../state/database.ts';
import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import { upsertThread } from '../state/threads.ts';
import { samplePlace } from './samples.ts';

/** As it is by default. */
export const concurrency = 8;

export interface Played {
  readonly state: State;
  readonly report: ExtractionReport;
  /** A night has one redactor and one way to its server for both phases. */
  redact(text: string): string;
  readonly server: Model;
}

/** From files on disk to the state's text, with all that stands between: redaction, journal, ledger, claims. */
export async function playPhase1(
  sources: readonly Source[],
  baseUrl: string,
  journalFolder: string,
  signal: AbortSignal,
): Promise<Played> {
  const redactor = createRedactor({});
  const redact = (text: string) => redactor.redact(text);
  const journal = openJournal(journalFolder, redact);
  const server = createOpenAiModel({ baseUrl, apiKey: 'none', wire: 'auto' });
  const ledger = createLedger({ caps: { phase1: { tokens: 1_000_000_000 } } });
  const model = createJournaledModel(server, journal, ledger);
  const extractor = createLlmExtractor({
    model,
    modelName: 'bench',
    audience: 'team',
    language: 'source',
    contextWindow: null,
    maxOutputTokens: 8_000,
    redact,
    reject: model.reject,
  });
  const read = redactedRollouts(openRollouts(sources, await samplePlace()), redactor);
  const state = await openState(snapshotOf(await emptyState()));
  const { found } = await read.list(signal);
  const now = found.reduce((latest, { thread }) => Math.max(latest, thread.updatedAt), 0);
  const known = { firstSeenAt: null, memoryMode: 'enabled', tombstoned: false, horizon: 0 } as const;
  const candidates = found.filter((entry) => whySkipped(entry, known, policy, now) === null);
  state.transaction(() => {
    for (const { thread } of candidates) {
      const { id, kind: _kind, ...rest } = thread;
      upsertThread(state, { ...rest, threadId: id, firstSeenAt: now, memoryMode: 'enabled' });
    }
  });
  const report = await extractMemories(
    state,
    candidates,
    'bench',
    { concurrency, leaseSeconds: 3_600, retrySeconds: 3_600, ignoreBackoff: false },
    {
      rollouts: read,
      extractor,
      clock: { now: () => now },
      attempts: {
        died: () => 0,
        begin: async (threadId) => journal.begin(threadId, 'rollout'),
        end: async (threadId) => journal.end(threadId),
      },
      progress: () => {},
      spent: () => '',
      goesOn: () => true,
    },
    signal,
  );
  snapshotOf(state);
  return { state, report, redact, server };
}

const policy: ReadPolicy = {
  include: [],
  exclude: [],
  excludeOrigins: [],
  outside: 'include',
  isOptedOut: () => false,
  maxAgeDays: 10,
  idleHours: 6,
  all: true,
  now: true,
  since: 0,
};
