import { archivePath, archiveRef } from '../../scripts/archive/layout.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { writeRollout } from '../../scripts/rollout/canonical.ts';
import type { Item, Rollout } from '../../scripts/rollout/types.ts';
import { day, parseIsoTime } from '../../scripts/shared/clock.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { recordCitations } from '../../scripts/state/citations.ts';
import { putEvidence } from '../../scripts/state/evidence.ts';
import { newJob, putJob } from '../../scripts/state/jobs.ts';
import { emptyNightRecord } from '../../scripts/state/night-record.ts';
import { putOutput } from '../../scripts/state/outputs.ts';
import { saveStateRef, stateRef } from '../../scripts/state/ref.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { recordShown } from '../../scripts/state/shown.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { evidenceKey, setTombstone } from '../../scripts/state/tombstones.ts';
import { type BlockDraft, renderBlock } from '../../scripts/workspace/handbook.ts';
import { theNight } from './nights.ts';
import { commitAll, env, writeFiles } from './repository.ts';
import { aThread } from './state-rows.ts';
import { aRollout } from './stored-rollouts.ts';
import { threadId } from './written-sessions.ts';

/** A session with the line that it taught. */
export interface Taught {
  readonly repo: string;
  readonly topic: string;
  readonly title: string;
  readonly line: string;
  /** In turn a person's and an agent's, items 2, 3, …; the line rests on the first. */
  readonly words: readonly string[];
  readonly summary: string;
  /** Its rollout is not in the ref any more. */
  readonly isExpired?: boolean;
  /** A person had its first item forgotten. */
  readonly isForgotten?: boolean;
}

export interface ReportMemory {
  readonly taught: readonly Taught[];
  readonly nights?: number;
  /** Errors of sessions that could not be read. */
  readonly failures?: readonly string[];
  readonly unread?: number;
  readonly files?: Readonly<Record<string, string>>;
}

export const now = parseIsoTime(theNight) ?? 0;

/** Fills an empty repository as nights would have: handbook, state, rollouts ref. Every third session was cited. */
export async function writeReportMemory(dir: string, memory: ReportMemory): Promise<void> {
  writeFiles(dir, { 'memories/MEMORY.md': handbookOf(memory.taught), ...memory.files });
  commitAll(dir, 'Memory');
  const repository = await openRepository(dir, { env });
  const author = { name: 'Memory', email: 'memory@example.org' };
  const night = emptyNightRecord;
  const tree = { text: await stateOf(memory), night, baseline: new Map(), reviewed: new Map(), closed: new Map() };
  await saveStateRef(repository, { ref: stateRef, expected: null, tree, at: now, author, message: 'State' });
  const kept = memory.taught.flatMap((one, n) => (one.isExpired === true ? [] : [rolloutOf(one, n)]));
  const changes = new Map(kept.map((rollout) => [archivePath(rollout.thread), writeRollout(rollout)]));
  const commit = await repository.writeCommit({
    base: null,
    parents: [],
    changes,
    message: 'Sessions',
    author,
    at: now,
  });
  await repository.swapRef(archiveRef, null, commit);
}

/** Short id of the n-th session, from 0. */
export function shortIdOf(n: number): string {
  return shortThreadId(threadId(n + 1));
}

function startOf(n: number): number {
  return now - ((n % 25) + 1) * day - (n % 1000);
}

function rolloutOf({ words, repo, title }: Taught, n: number): Rollout {
  const rollout = aRollout(n + 1, words, { repo, title, startedAt: startOf(n) });
  const tool: Item = { n: '90', at: startOf(n) + 90, who: 'tool', kind: 'output', text: 'exit 0', src: { line: 90 } };
  return { ...rollout, items: [...rollout.items, tool] };
}

function handbookOf(taught: readonly Taught[]): string {
  const blocks = new Map<string, BlockDraft>();
  for (const [n, { repo, topic, line }] of taught.entries()) {
    const key = `${repo} ${topic}`;
    const bullet = `${line} [${shortIdOf(n)}@2]`;
    const before = blocks.get(key)?.bullets ?? { preferences: [], knowledge: [], failures: [] };
    const place = (['preferences', 'knowledge', 'failures'] as const)[n % 3] ?? 'knowledge';
    blocks.set(key, {
      title: topic,
      scopeLine: topic,
      appliesTo: { repo, cwd: '.', reuseRule: 'look before you rely on it' },
      tasks: [],
      bullets: { ...before, [place]: [...before[place], bullet] },
    });
  }
  return [...blocks.values()].map(renderBlock).join('\n');
}

async function stateOf({ taught, nights = 0, failures = [], unread = 0 }: ReportMemory): Promise<string> {
  const state = await emptyState();
  for (const [n, one] of taught.entries()) {
    const id = threadId(n + 1);
    const startedAt = startOf(n);
    upsertThread(state, aThread(id, { ...one, startedAt, updatedAt: startedAt + 60, firstSeenAt: startedAt + 90 }));
    putEvidence(state, [
      {
        threadId: id,
        n: '2',
        who: 'human',
        at: startedAt,
        line: 2,
        srcId: null,
        author: 'dana',
        hash: 'a',
        hedged: false,
      },
    ]);
    putOutput(state, {
      threadId: id,
      extractorClass: 'llm',
      sourceUpdatedAt: startedAt + 60,
      rawMemory: `- ${one.line} (@2)`,
      rolloutSummary: `${one.summary}\n- ${one.line} (@2)`,
      rolloutSlug: 'session',
      stem: `stem-${n}`,
      generatedAt: startedAt + 4_000,
      promptHash: 'p',
      runId: 'run-0',
    });
    if (one.isForgotten === true) {
      const key = evidenceKey(id, '2', one.repo);
      setTombstone(state, {
        kind: 'evidence',
        key,
        reason: 'asked for',
        runId: 'run-0',
        pullRequest: null,
        setAt: now,
      });
    }
  }
  const cited = taught.flatMap((_, n) => (n % 3 === 0 ? [n] : []));
  recordCitations(
    state,
    cited.map((n) => ({
      eventId: `event-${n}`,
      kind: 'cited' as const,
      cited: threadId(n + 1),
      citingThread: threadId(1),
      author: 'dana',
      at: startOf(n) + 5_000,
    })),
    { now, horizon: null },
  );
  if (taught.length > 1)
    recordShown(state, [
      {
        threadId: threadId(1),
        author: 'dana',
        at: now - day,
        injected: [shortIdOf(0), shortIdOf(1)].sort(),
        retrieved: [shortIdOf(1)],
        read: [],
      },
    ]);
  for (let n = 0; n < nights; n += 1) recordRun(state, runOf(n));
  for (const [n, error] of failures.entries()) {
    const id = threadId(90_000 + n);
    upsertThread(state, aThread(id, { title: `Session ${n} that broke`, startedAt: now - day, updatedAt: now - day }));
    putJob(state, {
      ...newJob('memory_stage1', id),
      status: 'error',
      lastError: error,
      retryAt: now + 3_600,
      retryRemaining: 2,
    });
  }
  for (let n = 0; n < unread; n += 1) upsertThread(state, aThread(threadId(95_000 + n), { title: 'Waits' }));
  return snapshotOf(state);
}

function runOf(n: number): Parameters<typeof recordRun>[1] {
  const startedAt = now - n * day;
  const phase = (input: number, output: number) => ({
    requests: 4,
    input,
    cached: 0,
    output,
    micro_usd: input * 2 + output * 10,
  });
  return {
    runId: `run-${n}`,
    startedAt,
    finishedAt: startedAt + 240 + n,
    outcome: n % 9 === 4 ? 'partly' : n % 7 === 6 ? 'quiet' : 'done',
    counts: {
      found: 30,
      extracted: n % 7 === 6 ? 0 : 4 + ((n * 7) % 13),
      failed: n % 9 === 4 ? 2 : 0,
      forgotten: (n * 5) % 4,
    },
    usage: { phase1: phase(40_000 + ((n * 7_919) % 60_000), 6_000), phase2: phase(20_000, 4_000) },
    models: 'small, large',
    promptsHash: 'p p',
  };
}
