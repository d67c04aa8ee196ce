import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { jobOf } from '../../scripts/state/jobs.ts';
import { listRuns, usageThisMonth } from '../../scripts/state/runs.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import { faults } from '../support/api-faults.ts';
import type { Answer, Behaviour, RecordedRequest } from '../support/api-types.ts';
import { type Behave, cwdOf, type Nights, type Played, shop, sound, startNights } from '../support/model-nights.ts';
import { scopeIn } from '../support/scripted-agent.ts';
import { extractionOf, isExtraction } from '../support/scripted-extractor.ts';
import { threadId, type WrittenSession } from '../support/written-sessions.ts';

function session(n: number): WrittenSession {
  const happened = [{ human: `Task ${n}` }, { run: 'make', out: `FACT number ${n} was seen` }] as const;
  return { id: threadId(n), cwd: cwdOf[shop], at: `2026-11-28T10:0${n}:00Z`, happened };
}

const [bad, good] = [session(1), session(2)];

/** A model that answers for one session in this way and is sound for all others. */
function forBad(answer: (request: RecordedRequest) => Behaviour): Behave {
  return (request, index) => (isAbout(request, bad) ? answer(request) : sound(request, index));
}

function isAbout(request: RecordedRequest, { id }: WrittenSession): boolean {
  return isExtraction(request) && (request.texts[1] ?? '').includes(`${id}.jsonl`);
}

function right(request: RecordedRequest): string {
  return JSON.stringify(extractionOf(request));
}

const patience = { maxRetries: 1 };

/** Only who tests a stalled server gives it up soon: a busy machine may be slow as well. */
function patienceFor(failure: string) {
  return failure === 'stalled' ? { ...patience, idleSeconds: 1 } : patience;
}

async function stateOf(nights: Nights) {
  return openState(`${nights.git('show', 'refs/memory/state:state.sqlite.json')}\n`);
}

const failing: readonly [
  name: string,
  answer: (request: RecordedRequest) => Behaviour,
  failure: string,
  requests: number,
][] = [
  ['429 with retry-after', () => faults.rateLimit(3), 'server', 2],
  ['500', () => faults.serverError(), 'server', 2],
  ['truncated JSON', (request) => faults.truncatedJson(right(request)), 'cut_off', 2],
  ['a refusal', () => faults.refusal(), 'refusal', 1],
  ['a filter', () => faults.filtered(), 'refusal', 1],
  ['an empty answer', () => faults.empty(), 'empty_reply', 1],
  ['a web page with 200', () => faults.webPage(), 'server', 1],
  ['a stalled answer', () => faults.stalled(), 'stalled', 2],
  ['a dropped connection', () => faults.droppedInTheMiddle(), 'server', 2],
  ['a connection dropped before', () => faults.droppedBefore(), 'server', 2],
  ['a wrong shape', () => ({ text: '{"memory": "all is well"}' }), 'wrong_shape', 2],
  ['the session carried on', () => faults.conversation(), 'conversation', 2],
  ['prose', () => ({ text: 'The session was about a build. It went well.' }), 'not_json', 2],
  ['too long an input', () => faults.tooLong(), 'too_long', 2],
];

for (const [name, answer, failure, requests] of failing) {
  test(`${name}: this session fails with its own reason and is tried again in an hour, the others are kept`, async (t) => {
    const nights = await startNights(t);
    nights.write(bad, good);
    const played = await nights.play({
      at: '2026-11-29T03:00:00Z',
      behave: forBad(answer),
      patience: patienceFor(failure),
    });
    const { phase1, outcome } = played.report;
    assert.equal(outcome, 'partly');
    assert.deepEqual(
      phase1.failed.map((one) => [one.threadId, one.failure]),
      [[bad.id, failure]],
    );
    assert.deepEqual(phase1.extracted, [good.id]);
    assert.equal(countOf(played, bad), requests);
    const job = jobOf(await stateOf(nights), 'memory_stage1', bad.id);
    assert.deepEqual([job?.status, job?.retryRemaining, job?.retryAt], ['error', 2, at('2026-11-29T04:00:00Z')]);
    assert.ok(job?.lastError?.startsWith(`${failure}: `), job?.lastError ?? '');
    assert.match(nights.file('memories/MEMORY.md'), /number 2 was seen/);
  });
}

const mended: readonly [name: string, answer: (request: RecordedRequest) => Answer][] = [
  ['fenced JSON', (request) => faults.fenced(right(request))],
  ['thinking aloud', (request) => faults.thinking(right(request))],
  ['prose around the JSON', (request) => faults.proseAround(right(request))],
  ['an answer without token counts', (request) => ({ text: right(request), withoutUsage: true })],
];

for (const [name, answer] of mended) {
  test(`${name} is understood`, async (t) => {
    const nights = await startNights(t);
    nights.write(bad, good);
    const { report } = await nights.play({ at: '2026-11-29T03:00:00Z', behave: forBad(answer), patience });
    assert.deepEqual([report.outcome, report.phase1.extracted], ['done', [bad.id, good.id]]);
    assert.match(nights.file('memories/MEMORY.md'), /number 1 was seen/);
  });
}

test('after three failures a session is exhausted, until it has newer activity', async (t) => {
  const nights = await startNights(t);
  nights.write(bad);
  const behave = forBad(() => faults.refusal());
  for (const [when, asked, reason] of [
    ['2026-11-29T03:00:00Z', 1, undefined],
    ['2026-11-29T03:30:00Z', 0, 'backoff'],
    ['2026-11-29T04:00:00Z', 1, undefined],
    ['2026-11-29T05:00:00Z', 1, undefined],
    ['2026-11-29T06:00:00Z', 0, 'exhausted'],
  ] as const) {
    const played = await nights.play({ at: when, behave });
    assert.deepEqual([countOf(played, bad), played.report.skipped.get(bad.id)], [asked, reason], when);
  }
  nights.write({ ...bad, happened: [...bad.happened, { human: 'and one more thing' }] });
  const { report } = await nights.play({ at: '2026-11-29T12:00:00Z' });
  assert.deepEqual(report.phase1.extracted, [bad.id]);
});

const stopping: readonly [name: string, answer: () => Behaviour, words: RegExp][] = [
  ['401', () => faults.wrongKey(), /Incorrect API key provided/],
  ['402', () => faults.unpaid(), /Insufficient credits/],
  ['403', () => faults.forbidden(), /This key may not use that model/],
  ['insufficient_quota', () => faults.insufficientQuota(), /You exceeded your current quota/],
];

for (const phase of ['phase 1', 'phase 2'] as const) {
  for (const [name, answer, words] of stopping) {
    test(`${name} in ${phase} stops the night with the server’s words; what was paid is used by the next`, async (t) => {
      const nights = await startNights(t);
      nights.write(bad, good);
      const before = [nights.tip(), nights.git('for-each-ref', 'refs/memory')];
      let asked = 0;
      const behave: Behave = (request, index) => {
        const isLate = phase === 'phase 1' ? isAbout(request, bad) : !isExtraction(request) && request.texts.length > 2;
        asked += 1;
        return isLate ? answer() : sound(request, index);
      };
      const config = '  concurrency: 1\n';
      await assert.rejects(nights.play({ at: '2026-11-29T03:00:00Z', behave, patience, config }), (error) => {
        assert.ok(error instanceof ModelError);
        assert.match(error.message, words);
        assert.equal(error.exitCode, 4);
        return true;
      });
      assert.deepEqual([nights.tip(), nights.git('for-each-ref', 'refs/memory')], before, 'nothing is recorded');

      const { report, requests, engine } = await nights.play({ at: '2026-11-29T03:05:00Z', config });
      assert.equal(report.outcome, 'done');
      assert.equal(requests.length, 8 - (asked - 1), 'only the rest is paid for');
      assert.equal(engine.ledger.total().answers, 8);
      assert.equal(engine.ledger.total().replayed, asked - 1);
      assert.equal(jobOf(await stateOf(nights), 'memory_stage1', bad.id)?.retryRemaining, 3);
      const later = await nights.play({ at: '2026-11-30T03:05:00Z' });
      assert.deepEqual([later.report.outcome, later.requests.length], ['quiet', 0]);
    });
  }
}

test('the cap of tokens leaves the rest to the next night, and says so', async (t) => {
  const nights = await startNights(t);
  nights.write(bad, good, session(3));
  const config = '  concurrency: 1\nbudget:\n  phase1_tokens: 20000\n';
  const first = await nights.play({ at: '2026-11-29T03:00:00Z', config });
  const { extracted, left } = first.report.phase1;
  assert.deepEqual([first.report.outcome, extracted.length + left.length], ['done', 3]);
  assert.ok(extracted.length > 0 && left.length > 0, `${extracted.length} read, ${left.length} left`);
  const second = await nights.play({ at: '2026-11-30T03:00:00Z', config });
  assert.deepEqual([...second.report.phase1.extracted], [...left].slice(0, second.report.phase1.extracted.length));
});

test('a repository that the cap stops in the middle is left as it was, and no turn is paid twice', async (t) => {
  const nights = await startNights(t);
  nights.write(bad);
  const config = 'budget:\n  phase2_tokens: 29500\n';
  const first = await nights.play({ at: '2026-11-29T03:00:00Z', config });
  assert.deepEqual(
    first.report.phase2.scopes.map(({ scope, outcome }) => [scope, outcome]),
    [[shop, 'left']],
  );
  assert.equal(first.report.outcome, 'done', 'phase 1 has done its part');
  assert.equal(jobOf(await stateOf(nights), 'memory_consolidate', shop)?.failures, 0);
  const turns = first.requests.length - 1;
  assert.ok(turns > 0 && turns < 3);

  const second = await nights.play({ at: '2026-11-30T03:00:00Z', config });
  assert.equal(second.report.phase2.scopes[0]?.outcome, 'consolidated');
  assert.equal(second.requests.filter((request) => scopeIn(request) === shop).length, 3 - turns);
  const used = listRuns(await stateOf(nights), 9).map(({ usage }) => usage.phase2?.requests);
  assert.deepEqual(used.reverse().slice(0, 1), [turns]);
  const all = [...first.requests, ...second.requests].filter((request) => !isExtraction(request));
  assert.equal(
    used.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    all.length,
    'the ledger holds every turn once',
  );
});

test('a night that paid and has nothing to show for it is no quiet one: its cost is recorded', async (t) => {
  const nights = await startNights(t);
  nights.write(bad);
  await nights.play({ at: '2026-11-29T03:00:00Z', goesOn: () => true, config: 'budget:\n  phase2_tokens: 1000\n' });
  const { report, requests } = await nights.play({
    at: '2026-11-30T03:00:00Z',
    config: 'budget:\n  phase2_tokens: 26000\n',
  });
  assert.deepEqual([report.phase2.scopes[0]?.outcome, report.outcome], ['left', 'done']);
  assert.ok(requests.length > 0);
  const [last] = listRuns(await stateOf(nights), 1);
  assert.equal(last?.usage.phase2?.requests, requests.length);
});

test('a month’s budget that is used up asks nothing; what a night costs is recorded for the next', async (t) => {
  const nights = await startNights(t);
  nights.write(bad, good);
  const prices =
    '  prices:\n    extract: {input: 1000, cached: 1000, output: 1000}\n    consolidation: {input: 1000, cached: 1000, output: 1000}\n';
  const none = await nights.play({ at: '2026-11-29T03:00:00Z', config: prices, usdPerMonth: 0 });
  assert.deepEqual([none.requests.length, none.report.phase1.left.length], [0, 2]);
  const some = await nights.play({ at: '2026-11-29T04:00:00Z', config: prices, usdPerMonth: 1_000 });
  const used = usageThisMonth(await stateOf(nights), at('2026-11-30T00:00:00Z'));
  const micro = Object.values(used).reduce((sum, phase) => sum + (phase.micro_usd ?? 0), 0);
  assert.equal(micro, Math.round(some.engine.ledger.total().usd * 1_000_000));
  assert.ok(micro > 0);
});

test('an allowance below the limit makes the night yield; the rest waits', async (t) => {
  const nights = await startNights(t);
  nights.write(bad, good, session(3));
  const headers = { 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': '20' };
  const behave: Behave = (request, index) => {
    const answer = sound(request, index);
    return 'text' in answer ? { ...answer, headers } : answer;
  };
  const { report, requests } = await nights.play({ at: '2026-11-29T03:00:00Z', behave, config: '  concurrency: 1\n' });
  assert.deepEqual([requests.length, report.phase1.extracted.length, report.phase1.left.length], [1, 1, 2]);
  assert.deepEqual([report.outcome, report.phase2.scopes[0]?.outcome], ['done', 'left']);
});

test('when the minutes are over the rest is left, in either phase', async (t) => {
  const nights = await startNights(t);
  nights.write(bad, good, session(3));
  let asked = 0;
  const goesOn = () => {
    asked += 1;
    return asked <= 2;
  };
  const { report } = await nights.play({ at: '2026-11-29T03:00:00Z', goesOn, config: '  concurrency: 1\n' });
  assert.deepEqual([report.phase1.extracted.length, report.phase1.left.length], [2, 1]);
  assert.deepEqual(
    report.phase2.scopes.map(({ outcome }) => outcome),
    ['left'],
  );
});

function countOf({ requests }: Played, about: WrittenSession): number {
  return requests.filter((request) => isAbout(request, about)).length;
}

function at(iso: string): number {
  return Date.parse(iso) / 1000;
}
