import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JournalLook } from '../../scripts/model/journal-look.ts';
import { nightPolicy } from '../../scripts/nightly/policy.ts';
import { hour } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordFailure } from '../../scripts/state/extraction.ts';
import { emptyNightRecord } from '../../scripts/state/night-record.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { recordConsolidated, recordConsolidationFailure } from '../../scripts/state/scopes.ts';
import { emptyState, snapshotOf } from '../../scripts/state/snapshot.ts';
import { noteAgent, upsertThread } from '../../scripts/state/threads.ts';
import { type StatusInput, statusOf } from '../../scripts/status/facts.ts';
import { statusText } from '../../scripts/status/text.ts';
import { warningsOf } from '../../scripts/status/warnings.ts';
import { anOutput, aThread, dayAt, mustClaim, mustClaimScope, scope, withOutput } from '../support/state-rows.ts';

const emptyJournal: JournalLook = {
  answers: 0,
  rejected: 0,
  tokens: 0,
  usd: 0,
  underWay: [],
  died: new Map(),
  problems: [],
};

function anInput(state: State, given: Partial<StatusInput> = {}): StatusInput {
  return {
    branch: 'refs/heads/main',
    state,
    stateBytes: 1_000,
    stateOid: 'a'.repeat(40),
    night: emptyNightRecord,
    memory: { files: new Map(), baseline: new Map() },
    journal: emptyJournal,
    policy: nightPolicy(parseConfig(null), { all: false, now: false, since: null }).consolidation,
    usdPerMonth: null,
    now: dayAt(101) + hour,
    ...given,
  };
}

/** One thread that the scope's last consolidation read, on day 101. */
async function aState(): Promise<State> {
  const state = await emptyState();
  withOutput(state, 'a');
  consolidated(state, ['a']);
  return state;
}

function consolidated(state: State, threads: readonly string[]): void {
  const { sourceUpdatedAt } = anOutput();
  recordConsolidated(state, mustClaimScope(state), {
    selected: threads.map((threadId) => ({
      threadId,
      extractorClass: 'llm',
      sourceUpdatedAt,
      selectedAt: dayAt(101),
    })),
    watermark: sourceUpdatedAt,
    consolidatorClass: 'llm',
    now: dayAt(101),
  });
}

test('a scope says what it read, what waits, and from when on it may be consolidated', async () => {
  const state = await aState();
  withOutput(state, 'b', { output: { stem: '1970-04-10T00-00-00-abce-b' } });
  const [status] = statusOf(anInput(state)).scopes;
  assert.deepEqual(status, {
    scope,
    selected: 1,
    waiting: 1,
    leaving: 0,
    consolidatedAt: dayAt(101),
    by: 'llm',
    next: 'cooldown',
    at: dayAt(101) + 6 * hour,
    failures: 0,
    lastError: null,
  });
  assert.equal(statusOf(anInput(state, { now: dayAt(102) })).scopes[0]?.next, 'due');
});

test('looking leaves the state as it was', async () => {
  const state = await aState();
  withOutput(state, 'b', { output: { stem: '1970-04-10T00-00-00-abce-b' } });
  const before = snapshotOf(state);
  statusOf(anInput(state, { now: dayAt(102) }));
  assert.equal(snapshotOf(state), before);
});

test('a scope that failed waits for its backoff and shows the real error', async () => {
  const state = await aState();
  const claim = mustClaimScope(state, { now: dayAt(102) });
  const failure = { label: 'the key was refused (401)', inputHash: 'h', now: dayAt(102), retrySeconds: hour };
  recordConsolidationFailure(state, claim, failure);
  const status = statusOf(anInput(state, { now: dayAt(102) + 60 }));
  const [first] = status.scopes;
  assert.deepEqual([first?.next, first?.at, first?.failures], ['backoff', dayAt(102) + hour, 1]);
  assert.equal(first?.consolidatedAt, dayAt(101), 'the last success is still known');
  assert.match(statusText(status, null, dayAt(102)), /failed: the key was refused \(401\)/);
});

test('a session that failed shows its error and when it is tried again, a spent one that it is given up', async () => {
  const state = await emptyState();
  for (const id of ['once', 'spent']) upsertThread(state, aThread(id, { title: 'Fix\u001b[2J it' }));
  recordFailure(state, mustClaim(state, 'once'), 'refusal: it would not', dayAt(101), hour);
  for (let attempt = 0; attempt < 3; attempt += 1)
    recordFailure(
      state,
      mustClaim(state, 'spent', { at: dayAt(102 + attempt) }),
      'cut_off: too long',
      dayAt(102),
      hour,
    );
  const status = statusOf(anInput(state));
  assert.deepEqual(
    status.sessions.failed.map(({ threadId, triedAgainAt, retriesLeft }) => [threadId, triedAgainAt, retriesLeft]),
    [
      ['once', dayAt(101) + hour, 2],
      ['spent', null, 0],
    ],
  );
  const text = statusText(status, null, dayAt(102));
  assert.match(text, /once .*\n.*refusal: it would not; tried again from 1970-04-12T01:00:00Z on, 2 retries left/);
  assert.match(text, /spent .*\n.*given up until it has newer activity/);
  assert.ok(!text.includes('\u001b'));
});

test('a job whose lease is over while it says that it runs looks stuck', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  mustClaim(state, 'a');
  const running = statusOf(anInput(state, { now: dayAt(101) + 60 }));
  assert.deepEqual([running.stuck.length, running.sessions.running], [0, 1]);
  const status = statusOf(anInput(state, { now: dayAt(102) }));
  assert.deepEqual(status.stuck, [
    { kind: 'memory_stage1', key: 'a', startedAt: dayAt(101), leaseUntil: dayAt(101) + hour },
  ]);
  assert.match(warningsOf(status, 0, dayAt(102)).join('\n'), /1 jobs look stuck/);
});

test('a memory that nothing new reached for more than three days warns only while sessions wait', async () => {
  const state = await aState();
  const warned = (now: number, ready = 0) => warningsOf(statusOf(anInput(state, { now })), ready, now).length > 0;
  assert.equal(warned(dayAt(110)), false, 'nothing waits');
  assert.equal(warned(dayAt(110), 2), true, 'sessions of the sources wait');
  withOutput(state, 'b', { output: { stem: '1970-04-10T00-00-00-abce-b' } });
  assert.equal(warned(dayAt(104)), false, 'three days are fine');
  assert.equal(warned(dayAt(105)), true);
});

test('the month is counted against its budget', async () => {
  const state = await emptyState();
  recordRun(state, {
    runId: 'run-1',
    startedAt: dayAt(101),
    finishedAt: dayAt(101),
    outcome: 'done',
    counts: { extracted: 2 },
    usage: { phase1: { input: 900, output: 100, micro_usd: 8_100_000 } },
    models: 'm',
    promptsHash: 'p',
  });
  const status = statusOf(anInput(state, { usdPerMonth: 10 }));
  assert.deepEqual(status.month, { tokens: 1_000, usd: 8.1, usdPerMonth: 10 });
  assert.match(warningsOf(status, 0, dayAt(101)).join('\n'), /\$8\.10 of this month's \$10\.00/);
  assert.deepEqual(warningsOf(statusOf(anInput(state, { usdPerMonth: 100 })), 0, dayAt(101)), []);
});

test('what a dead night left is told: a push that has not ended, paid answers, a session that kills', async () => {
  const pendingPush = { runId: 'run-9', ref: 'refs/heads/main', oldOid: null, tip: 'b'.repeat(40) };
  const status = statusOf(
    anInput(await aState(), {
      night: { ...emptyNightRecord, pendingPush },
      journal: { ...emptyJournal, answers: 3, tokens: 5_000, usd: 0.25, underWay: ['a'], died: new Map([['b', 2]]) },
    }),
  );
  const text = statusText(status, null, dayAt(101));
  assert.match(text, /pending .*bbbbbbbbbbbb of run run-9/);
  assert.match(text, /3 paid answers wait to be used.*5000 tokens, \$0\.2500/);
  assert.match(text, /under way now, or when the last night died: a/);
  const warnings = warningsOf(status, 0, dayAt(101)).join('\n');
  assert.match(warnings, /Run run-9 ended before/);
  assert.match(warnings, /Reading b ended 2 times/);
});

test('a state that grows too large is told before it stops', async () => {
  const state = await aState();
  const warn = statusOf(anInput(state, { stateBytes: 31_000_000 }));
  const stop = statusOf(anInput(state, { stateBytes: 46_000_000 }));
  assert.match(warningsOf(warn, 0, dayAt(101)).join('\n'), /grows too large/);
  assert.match(warningsOf(stop, 0, dayAt(101)).join('\n'), /too large to be written again/);
});

test('a note is no session that waits to be read', async () => {
  const state = await aState();
  const before = statusOf(anInput(state)).sessions;
  upsertThread(state, { ...aThread('note-0a1b2c3d4e5f6071'), agent: noteAgent });
  assert.deepEqual(statusOf(anInput(state)).sessions, before);
});
