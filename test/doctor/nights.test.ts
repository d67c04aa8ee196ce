import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { leaseFindings, lockFacts, lockFindings } from '../../scripts/doctor/locks.ts';
import { machineFindings } from '../../scripts/doctor/machine.ts';
import { citingFindings, readerFindings } from '../../scripts/doctor/memory.ts';
import { nightFindings } from '../../scripts/doctor/nights.ts';
import { doctorJson, doctorText } from '../../scripts/doctor/report.ts';
import type { JournalLook } from '../../scripts/model/journal-look.ts';
import { nightPolicy } from '../../scripts/nightly/policy.ts';
import { hour } from '../../scripts/shared/clock.ts';
import { parseConfig } from '../../scripts/shared/config.ts';
import { recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { recordFailure } from '../../scripts/state/extraction.ts';
import { emptyNightRecord } from '../../scripts/state/night-record.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { recordConsolidated, recordConsolidationFailure } from '../../scripts/state/scopes.ts';
import { recordShown } from '../../scripts/state/shown.ts';
import { emptyState, stopBytes, warnBytes } from '../../scripts/state/snapshot.ts';
import { upsertThread } from '../../scripts/state/threads.ts';
import type { ThreadRow } from '../../scripts/state/types.ts';
import { type StatusInput, statusOf } from '../../scripts/status/facts.ts';
import { temporaryFolder } from '../support/repository.ts';
import { aCitation, anOutput, aThread, dayAt, mustClaim, mustClaimScope, withOutput } from '../support/state-rows.ts';

const config = parseConfig(null);

const emptyJournal: JournalLook = {
  answers: 0,
  rejected: 0,
  tokens: 0,
  usd: 0,
  underWay: [],
  died: new Map(),
  problems: [],
};

/** What is said of a state, and of what a night left beside it. */
function said(state: State, given: Partial<StatusInput> = {}, isAtWork = false): string {
  const now = given.now ?? dayAt(101) + hour;
  const status = statusOf({
    branch: 'refs/heads/main',
    state,
    stateBytes: 1_000,
    stateOid: 'a'.repeat(40),
    night: emptyNightRecord,
    memory: { files: new Map(), baseline: new Map() },
    journal: emptyJournal,
    policy: nightPolicy(config, { all: false, now: false, since: null }).consolidation,
    usdPerMonth: null,
    ...given,
    now,
  });
  return doctorText(nightFindings({ status, ready: 0, isAtWork }, now), false);
}

test('a state in which everything went well has no finding', async () => {
  assert.equal(said(await emptyState()), 'Nothing is wrong.');
});

test('a session whose lease is over is stuck, unless a night is at work; one that is spent is given up', async () => {
  const state = await emptyState();
  upsertThread(state, aThread('a'));
  mustClaim(state, 'a');
  assert.match(said(state, { now: dayAt(102) }), /^warning +night\.stuck +1 jobs look stuck: .* → Nothing to do/);
  assert.equal(said(state, { now: dayAt(102) }, true), 'Nothing is wrong.');
  for (let attempt = 0; attempt < 3; attempt += 1)
    recordFailure(
      state,
      mustClaim(state, 'a', { at: dayAt(102 + attempt) }),
      'cut_off: too\u001b[2J long',
      dayAt(102),
      hour,
    );
  const text = said(state, { now: dayAt(103) });
  assert.match(
    text,
    /^warning +night\.exhausted +1 sessions are given up \(a\); the last error: cut_off: .* → npm run status/m,
  );
  assert.ok(!text.includes('\u001b'));
});

test('a scope that fails on the same input warns the second time and is an error the third', async () => {
  const state = await emptyState();
  withOutput(state, 'a');
  const fail = (n: number) => {
    const claim = mustClaimScope(state, { now: dayAt(102 + n) });
    const failure = { label: 'review: blocks were dropped', inputHash: 'h', now: dayAt(102 + n), retrySeconds: hour };
    recordConsolidationFailure(state, claim, failure);
    return said(state, { now: dayAt(102 + n) });
  };
  assert.equal(fail(0), 'Nothing is wrong.');
  assert.match(
    fail(1),
    /^warning +night\.scope_fails +Consolidating github\.com\/acme\/shop failed 2 times .* blocks were dropped/,
  );
  assert.match(fail(2), /^error +night\.scope_fails .* 3 times .* → npm run check, then npm run phase2 -- --now$/);
});

test('a memory that nothing new reaches while sessions wait is an error', async () => {
  const state = await emptyState();
  withOutput(state, 'a');
  const { sourceUpdatedAt } = anOutput();
  recordConsolidated(state, mustClaimScope(state), {
    selected: [{ threadId: 'a', extractorClass: 'llm', sourceUpdatedAt, selectedAt: dayAt(101) }],
    watermark: sourceUpdatedAt,
    consolidatorClass: 'llm',
    now: dayAt(101),
  });
  withOutput(state, 'b', { output: { stem: '1970-04-10T00-00-00-abce-b' } });
  assert.match(
    said(state, { now: dayAt(107) }),
    /^error +night\.frozen +Nothing new reached the memory for 6 days while 1 sessions wait\. .* → npm run nightly/,
  );
});

test('what a night that died has left: a push, answers that are paid, a journal that is damaged', async () => {
  const state = await emptyState();
  const pendingPush = { runId: 'r1', ref: 'refs/heads/memory/nightly', oldOid: null, tip: 'b'.repeat(40) };
  assert.match(
    said(state, { night: { ...emptyNightRecord, pendingPush } }),
    /^warning +night\.pending +Run r1 ended before its commits reached refs\/heads\/memory\/nightly\. .* → npm run publish/,
  );
  const journal = {
    ...emptyJournal,
    answers: 2,
    tokens: 900,
    died: new Map([['a', 2]]),
    problems: ['answers/1 is damaged'],
  };
  const text = said(state, { journal });
  assert.match(text, /^warning +night\.died +Reading a ended 2 times/m);
  assert.match(text, /^warning +night\.journal +answers\/1 is damaged\. /m);
  assert.match(
    text,
    /^warning +night\.journal +2 answers .* wait in the journal \(900 tokens\)\. .* → npm run nightly/m,
  );
  assert.doesNotMatch(said(state, { journal }, true), /wait in the journal/);
});

test('a state that grows too large warns, and is an error when it cannot be written again', async () => {
  const state = await emptyState();
  assert.match(
    said(state, { stateBytes: warnBytes }),
    /^warning +night\.size +The state grows too large\. .* → lower memory\.max_unused_days/,
  );
  assert.match(said(state, { stateBytes: stopBytes }), /^error +night\.size /);
});

test('a memory that was never cited in the window is one that nobody reads; one citation is enough', async () => {
  const state = await emptyState();
  const run = { outcome: 'done', counts: {}, usage: {}, models: 'builtin', promptsHash: 'p' } as const;
  recordRun(state, { runId: 'r1', startedAt: dayAt(101), finishedAt: dayAt(101), ...run });
  const of = (now: number) => doctorText(readerFindings(state, config, now), false);
  assert.equal(of(dayAt(107)), 'Nothing is wrong.', 'too early to tell');
  assert.match(of(dayAt(108)), /^warning +memory\.no_reader .* memories age by time alone/);
  recordCitations(state, [aCitation('e1', 'a', { at: dayAt(107) })], { now: dayAt(108), horizon: null });
  assert.equal(of(dayAt(108)), 'Nothing is wrong.');
  assert.match(of(dayAt(140)), /memory\.no_reader/, 'it has left the window');
});

test('an agent that is given memory again and again and never cites is named; one citation of its own is enough', async () => {
  const state = await emptyState();
  const of = (now: number) => doctorText(citingFindings(state, config, now), false);
  const shown = (n: number, agent: ThreadRow['agent'], at: number) => {
    upsertThread(state, aThread(`${agent}-${n}`, { agent }));
    const seen = { injected: ['k3f7x2ab'], retrieved: [], read: [] };
    recordShown(state, [{ threadId: `${agent}-${n}`, author: 'ada', at, ...seen }]);
  };
  for (let n = 1; n <= 4; n += 1) shown(n, 'codex', dayAt(100));
  for (let n = 1; n <= 9; n += 1) shown(n, 'claude-code', dayAt(100));
  recordCitations(state, [aCitation('e1', 'a', { citingThread: 'claude-code-3', at: dayAt(100) })], {
    now: dayAt(101),
    horizon: null,
  });
  assert.equal(of(dayAt(101)), 'Nothing is wrong.', 'too few to tell');
  shown(5, 'codex', dayAt(101));
  assert.match(
    of(dayAt(101)),
    /^warning +memory\.never_cites +codex was given memory in 5 sessions of the last 30 days and cited none of it\. .* age by time alone\. → .*npm run status -- --usage/,
  );
  assert.equal(of(dayAt(131)), 'Nothing is wrong.', 'they have left the window');
});

test('a lock and a lease of a process of this machine that does not run any more are found', async (t) => {
  const here = (alive: boolean) => ({ host: 'here', isAlive: () => alive });
  const path = join(temporaryFolder(t), 'night.lock');
  assert.deepEqual(await lockFacts(path), null);
  writeFileSync(path, '{"host":"here","pid":7,"started":"1970-04-12T00:00:00Z","note":"nightly"}\n');
  const lock = await lockFacts(path);
  assert.deepEqual(lockFindings(lock, here(true), dayAt(200)), []);
  assert.match(
    doctorText(lockFindings(lock, here(false), dayAt(101)), false),
    /^warning +lock\.dead .* process 7 on here .* does not run any more\. .* → npm run nightly/,
  );
  const record = { worker: 'process 7 on here', token: 't', run: null, leaseUntil: dayAt(102) };
  const leases = [{ ref: 'refs/memory/lease', oid: 'a'.repeat(40), record }] as const;
  assert.deepEqual(leaseFindings(leases, here(true), dayAt(101)), []);
  assert.match(
    doctorText(leaseFindings(leases, here(false), dayAt(101)), false),
    /^warning +lease\.dead .* does not run any more\. .* → git push origin :refs\/memory\/lease$/,
  );
});

test('programs that are too old, or missing, are named', () => {
  assert.deepEqual(machineFindings({ node: '20.0.0', git: [2, 31] }), []);
  const text = doctorText(machineFindings({ node: '18.19.1', git: [2, 30] }), false);
  assert.match(text, /^error +machine\.node +Node 18\.19\.1 is too old\. .* → Install it/m);
  assert.match(text, /^warning +machine\.git +git 2\.30 is too old\. .* → Install git 2\.31 or newer/m);
  const found = machineFindings({ node: '22.1.0', git: null });
  const { outcome, findings } = JSON.parse(doctorJson(found)) as { outcome: string; findings: readonly unknown[] };
  assert.deepEqual([outcome, findings.length], ['well', 1], 'a warning leaves it well');
});
