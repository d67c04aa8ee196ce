import type { ReadPolicy } from '../../scripts/phase1/decide.ts';
import type { Found } from '../../scripts/rollout/source.ts';
import type { Thread } from '../../scripts/rollout/types.ts';
import type { OutputView, ThreadRow } from '../../scripts/state/types.ts';

/** The n-th day of the tests' calendar, in epoch seconds; day 0 is 2026-01-01. */
export function day(n: number): number {
  return 1_767_225_600 + n * 86_400;
}

export function aThread(id: string, more: Partial<Thread> = {}): Thread {
  return {
    id,
    agent: 'codex',
    origin: 'cli',
    kind: 'root',
    repo: 'git.example.test/acme/shop',
    aliases: [],
    cwd: '.',
    branch: 'main',
    commit: null,
    author: null,
    title: 'a session',
    startedAt: day(90),
    updatedAt: day(90),
    ...more,
  };
}

export function aFound(id: string, more: Partial<Thread> = {}, humanItems = 1): Found {
  return { thread: aThread(id, more), items: humanItems + 3, humanItems, skipped: {}, path: `/sessions/${id}.jsonl` };
}

export function aThreadRow(id: string, more: Partial<ThreadRow> = {}): ThreadRow {
  return {
    threadId: id,
    agent: 'codex',
    origin: 'cli',
    author: null,
    repo: 'git.example.test/acme/shop',
    aliases: [],
    cwd: '.',
    branch: 'main',
    commit: null,
    title: 'a session',
    startedAt: day(90),
    updatedAt: day(90),
    firstSeenAt: day(90),
    memoryMode: 'enabled',
    ...more,
  };
}

export function anOutput(id: string, more: Partial<OutputView> = {}): OutputView {
  const sourceUpdatedAt = more.sourceUpdatedAt ?? day(90);
  return {
    threadId: id,
    extractorClass: 'llm',
    sourceUpdatedAt,
    rawMemory: `raw memory of ${id} (@1)`,
    rolloutSummary: `summary of ${id} (@1)`,
    rolloutSlug: id,
    stem: `2026-04-01T00-00-00-0000-${id}`,
    generatedAt: sourceUpdatedAt,
    promptHash: 'prompts',
    runId: 'run',
    thread: aThreadRow(id),
    usageCount: 0,
    readCount: 0,
    lastUsage: null,
    ...more,
  };
}

/** What a night of one team may read: sessions that rested for six hours and are no older than ten days. */
export const aReadPolicy: ReadPolicy = {
  include: ['git.example.test/acme/*'],
  exclude: [],
  excludeOrigins: [],
  outside: 'include',
  isOptedOut: () => false,
  maxAgeDays: 10,
  idleHours: 6,
  all: false,
  now: false,
  since: null,
};
