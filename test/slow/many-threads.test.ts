import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyFor } from '../../scripts/bench/phase2.ts';
import { whatToRead } from '../../scripts/nightly/reading.ts';
import { claimSessions } from '../../scripts/phase1/claim.ts';
import { prepareScope } from '../../scripts/phase2/prepare.ts';
import type { Found } from '../../scripts/rollout/source.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { newJob, putJob } from '../../scripts/state/jobs.ts';
import { emptyNightRecord } from '../../scripts/state/night-record.ts';
import { putOutput } from '../../scripts/state/outputs.ts';
import { dueScopes } from '../../scripts/state/scopes.ts';
import { recordShown } from '../../scripts/state/shown.ts';
import { emptyState } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import { statusOf } from '../../scripts/status/facts.ts';
import { anOutput, aReadPolicy, aThreadRow, day } from '../support/rows.ts';

/** A scope for so many threads, as a larger team has more repositories. */
const threadsEach = 1_000;
const now = day(100);

const idOf = (n: number) => `thread-${String(n).padStart(6, '0')}`;
const repoOf = (n: number) => `git.example.test/acme/repository-${Math.floor(n / threadsEach)}`;

/** Threads with outputs and jobs; a quarter of them read five memories each, half of them cited one. */
async function stateOf(count: number): Promise<State> {
  const state = await emptyState();
  const all = Array.from({ length: count }, (_, n) => n);
  state.transaction(() => {
    for (const n of all) {
      const threadId = idOf(n);
      upsertThread(state, aThreadRow(threadId, { repo: repoOf(n), updatedAt: day(95), firstSeenAt: day(96) }));
      putOutput(state, anOutput(threadId, { sourceUpdatedAt: day(95), generatedAt: day(96), stem: threadId }));
      putJob(state, { ...newJob('memory_stage1', threadId), status: 'done', inputWatermark: day(95) });
    }
    recordShown(
      state,
      all.slice(0, count / 4).map((n) => {
        const read = Array.from({ length: 5 }, (_, k) => shortThreadId(idOf((n * 7 + k) % count)));
        return { threadId: idOf(n), author: `a${n % 50}`, at: day(97), injected: [], retrieved: [], read };
      }),
    );
    const cited = (n: number) => ({ cited: idOf((n * 13) % count), citingThread: idOf(n), author: `a${n % 50}` });
    const rows = all
      .slice(0, count / 2)
      .map((n) => ({ ...cited(n), eventId: `e${n}`, kind: 'cited', at: day(97) }) as const);
    recordCitations(state, rows, { now, horizon: null });
  });
  return state;
}

/** Every session again, each third of them grown. */
function foundOf(count: number): Found[] {
  return Array.from({ length: count }, (_, n) => {
    const { threadId: id, firstSeenAt: _seen, memoryMode: _mode, ...row } = aThreadRow(idOf(n), { repo: repoOf(n) });
    const thread = { ...row, id, kind: 'root', updatedAt: n % 3 === 0 ? day(98) : day(95) } as Found['thread'];
    return { thread, items: 5, humanItems: 1, skipped: {}, path: `/sessions/${id}.jsonl` };
  });
}

const policy = policyFor(256);

/** Milliseconds of processor time that each part takes. */
async function partsOf(count: number): Promise<Readonly<Record<string, number>>> {
  const state = await stateOf(count);
  const found = foundOf(count);
  const memory = { files: new Map(), baseline: new Map() };
  const taken: Record<string, number> = {};
  const timed = <T>(name: string, work: () => T): T => {
    const before = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(before);
    taken[name] = (user + system) / 1_000;
    return result;
  };
  const seen = { branch: 'refs/heads/main', stateBytes: 0, stateOid: null, night: emptyNightRecord, usdPerMonth: null };
  const journal = { answers: 0, rejected: 0, tokens: 0, usd: 0, underWay: [], died: new Map(), problems: [] };
  const status = timed('status', () => statusOf({ ...seen, state, memory, journal, policy, now }));
  assert.equal(status.sessions.known, count);
  const chosen = timed('selection', () =>
    dueScopes(state).map((scope) => prepareScope(state, scope, memory, policy, now).selection.chosen.length),
  );
  assert.equal(chosen.length, count / threadsEach);
  const { candidates } = timed('scan', () => whatToRead({ state }, found, aReadPolicy, now));
  assert.equal(candidates.length, count);
  const terms = { runId: 'run', extractorClass: 'llm', now, leaseSeconds: 3_600, ignoreBackoff: false } as const;
  const { claimed } = timed('claims', () => state.transaction(() => claimSessions(state, candidates, terms)));
  assert.equal(claimed.length, Math.ceil(count / 3));
  state.close();
  return taken;
}

test('scan, claims, selection and status of ten times as many threads take about ten times as long, up to 100,000', async (t) => {
  const small = await partsOf(10_000);
  const large = await partsOf(100_000);
  for (const [name, ms] of Object.entries(large)) {
    const ratio = ms / (small[name] ?? 0);
    t.diagnostic(`${name}: ${small[name]?.toFixed(0)} ms, ${ms.toFixed(0)} ms, ${ratio.toFixed(1)} times`);
    // A hundred times as long is what grows with the square; the room is the collector's.
    assert.ok(ratio < 20, `${name} took ${ratio.toFixed(1)} times as long`);
  }
});
