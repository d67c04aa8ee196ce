import { join } from 'node:path';
import { openJournal } from '../model/journal.ts';
import { createJournaledModel } from '../model/journaled.ts';
import { createLedger } from '../model/ledger.ts';
import { createOpenAiModel } from '../model/openai.ts';
import { type ReadPolicy, whySkipped } from '../phase1/decide.ts';
import { createLlmExtractor } from '../phase1/llm.ts';
import { type ExtractionReport, extractMemories } from '../phase1/run.ts';
import { redactedRollouts } from '../rollout/redacted.ts';
import { openRollouts, type Source } from '../rollout/source.ts';
import { createRedactor } from '../shared/redact.ts';
import { emptyState, openState, snapshotOf } from '../state/snapshot.ts';
import { upsertThread } from '../state/threads.ts';
import { loadSamples, samplePlace } from './samples.ts';
import { type ServerFigures, startModelServer } from './server.ts';
import { sessionText, writeSessions } from './sessions.ts';
import { parseSpeed } from './statistics.ts';
import type { Measure } from './types.ts';

const rollouts = 1_000;
const rolloutBytes = 71_000;
const concurrency = 8;

export const phase1Measure: Measure = {
  name: 'phase1',
  what: `processor time of phase 1 a rollout of ${rolloutBytes / 1000} KB, ${rollouts} of them, a server that answers at once`,
  unit: 'ms',
  limit: { on: 'value', bound: 'at most', than: 7 },
  async take({ world, folder }) {
    const samples = (await loadSamples()).filter(({ speaksAt }) => speaksAt < rolloutBytes / 2);
    const calibration = await parseSpeed(
      world,
      samples.flatMap((sample) => sessionText(sample, 1, rolloutBytes).trimEnd().split('\n')),
    );
    const sources = await writeSessions(join(folder, 'sessions'), samples, rollouts, rolloutBytes);
    const server = await startModelServer(world, concurrency);
    try {
      await playPhase1(sources, server.baseUrl, join(folder, 'warm-up'));
      await server.figures();
      const before = world.cpuTime();
      const report = await playPhase1(sources, server.baseUrl, join(folder, 'journal'));
      const ms = world.cpuTime() - before;
      const figures = await server.figures();
      const note = `${figures.mostOpen} requests at once, ${(figures.requests / rollouts).toFixed(2)} a rollout`;
      return { value: ms / rollouts, calibration, note, faults: faultsOf(report, figures) };
    } finally {
      server.stop();
    }
  },
};

function faultsOf({ extracted, unverified }: ExtractionReport, { mostOpen }: ServerFigures): string[] {
  return [
    ...(extracted.length === rollouts ? [] : [`${rollouts - extracted.length} rollouts gave no memory`]),
    ...(unverified === 0 ? [] : [`${unverified} bullets could not be verified`]),
    ...(mostOpen === concurrency ? [] : [`${mostOpen} requests were open at once where ${concurrency} are configured`]),
  ];
}

/** From files on disk to the state's text, with all that stands between: redaction, journal, ledger, claims. */
async function playPhase1(
  sources: readonly Source[],
  baseUrl: string,
  journalFolder: string,
): Promise<ExtractionReport> {
  const redactor = createRedactor({});
  const redact = (text: string) => redactor.redact(text);
  const journal = openJournal(journalFolder, redact);
  const model = createJournaledModel(
    createOpenAiModel({ baseUrl, apiKey: 'none', wire: 'auto' }),
    journal,
    createLedger({ caps: { phase1: { tokens: 1_000_000_000 } } }),
  );
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
  const { found } = await read.list();
  const now = found.reduce((latest, { thread }) => Math.max(latest, thread.updatedAt), 0);
  const known = { firstSeenAt: null, memoryMode: 'enabled', tombstoned: false, horizon: 0 } as const;
  const candidates = found.filter((entry) => whySkipped(entry, known, policy, now) === null);
  for (const { thread } of candidates) {
    const { id, kind: _kind, ...rest } = thread;
    upsertThread(state, { ...rest, threadId: id, firstSeenAt: now, memoryMode: 'enabled' });
  }
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
        end: async (threadId) => journal.end(threadId, 'rollout'),
      },
      progress: () => {},
      spent: () => '',
      goesOn: () => true,
    },
  );
  snapshotOf(state);
  return report;
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
