import assert from 'node:assert/strict';
import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseIsoTime } from '../../scripts/shared/clock.ts';
import { listRuns } from '../../scripts/state/runs.ts';
import { openState } from '../../scripts/state/snapshot.ts';
import { type BatchApi, createBatchApi } from '../support/batch-api.ts';
import { aSession, batchOn, nightAt } from '../support/batch-nights.ts';
import { type ChildNights, startChildNights } from '../support/child-nights.ts';
import { type Behave, sound } from '../support/model-nights.ts';
import type { Ended } from '../support/nights.ts';
import { git, temporaryFolder } from '../support/repository.ts';
import { isExtraction } from '../support/scripted-extractor.ts';
import { threadId } from '../support/written-sessions.ts';

interface Setting extends ChildNights {
  readonly batches: BatchApi;
  /** A night in a process of its own. */
  night(n: number, behave?: Behave): Promise<Ended>;
  /** The same, killed where a call to the Batch API, or to the model, hangs. */
  killedAt(
    n: number,
    place: { readonly call: RegExp; readonly when: 'hangs before' | 'hangs after' } | Behave,
  ): Promise<void>;
}

async function threeSessions(t: TestContext): Promise<Setting> {
  const batches = createBatchApi();
  const nights = await startChildNights(t, batchOn, undefined, batches);
  nights.write(...[1, 2, 3].map((n) => aSession(n, [], nights.shop)));
  const clock = (n: number) => {
    batches.now = parseIsoTime(nightAt(n)) ?? Number.NaN;
    return { CTM_CLOCK: nightAt(n) };
  };
  return {
    ...nights,
    batches,
    night: (n, behave = sound) => nights.run(behave, clock(n)),
    async killedAt(n, place) {
      let tell = () => {};
      const reached = new Promise<void>((resolve) => {
        tell = resolve;
      });
      const silent: Behave = (...args) => {
        const said = typeof place === 'function' ? place(...args) : sound(...args);
        if ('stall' in said) tell();
        return said;
      };
      batches.fault = (call) => {
        if (typeof place === 'function' || !place.call.test(call)) return null;
        tell();
        return place.when;
      };
      const night = nights.start(silent, clock(n));
      await Promise.race([reached, night.ended.then(({ stderr }) => assert.fail(`It ended by itself: ${stderr}`))]);
      // What hangs after it was done is done when the next call is answered.
      await fetch(`${nights.server.baseUrl}/models`);
      night.kill('SIGKILL');
      assert.equal((await night.ended).signal, 'SIGKILL');
      batches.fault = () => null;
    },
  };
}

/** Every session taught what it had to teach, for one batch; nobody was asked about one by itself. */
async function allWasReadOnce(nights: Setting, answers = 3): Promise<void> {
  assert.equal(nights.batches.batches.length, 1, 'one batch was paid for');
  const asked = nights.server.requests.filter((request) => request.method === 'POST' && isExtraction(request));
  assert.ok(asked.every(({ texts }) => texts.join('').startsWith('This is a trial')));
  const state = await openState(`${git(nights.dir, 'show', 'refs/memory/state:state.sqlite.json')}\n`);
  const spent = listRuns(state, 20).reduce((sum, { usage }) => sum + (usage.phase1?.requests ?? 0), 0);
  assert.equal(spent, answers + asked.length, 'each answer and each trial stands once in the ledger');
  const memory = git(nights.dir, 'show', 'HEAD:memories/MEMORY.md');
  for (const n of [1, 2, 3].slice(0, answers)) assert.match(memory, new RegExp(`number ${n} was seen`));
}

test('killed after the upload: nothing was paid, and the next night asks for the batch', async (t) => {
  const nights = await threeSessions(t);
  await nights.killedAt(1, { call: /^POST \/v1\/batches/, when: 'hangs before' });
  assert.deepEqual([nights.batches.batches.length, nights.batches.files.size], [0, 1]);
  assert.equal((await nights.night(1)).code, 0);
  assert.equal(nights.batches.files.size, 1, 'the input that no batch was asked for is deleted');
  await nights.batches.endAll({ behave: sound });
  assert.equal((await nights.night(3)).code, 0);
  await allWasReadOnce(nights);
});

test('killed after the creation, before its record: the next night finds the batch and asks for no other', async (t) => {
  const nights = await threeSessions(t);
  await nights.killedAt(1, { call: /^POST \/v1\/batches/, when: 'hangs after' });
  assert.equal(nights.batches.batches.length, 1);
  assert.doesNotMatch(nights.refs(), /refs\/memory\/state/);
  const second = await nights.night(2);
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stdout, /waits for batch_1/);
  await nights.batches.endAll({ behave: sound });
  assert.equal((await nights.night(3)).code, 0);
  await allWasReadOnce(nights);
});

test('killed after the record: what stands on the disk of the attempt buys nothing', async (t) => {
  const nights = await threeSessions(t);
  const attempts = join(nights.dir, '.git/memory/journal/batches');
  const kept = join(temporaryFolder(t), 'kept');
  nights.batches.fault = (call) => {
    if (call === 'POST /v1/batches') cpSync(attempts, kept, { recursive: true });
    return null;
  };
  assert.equal((await nights.night(1)).code, 0);
  assert.ok(existsSync(kept));
  cpSync(kept, attempts, { recursive: true });
  const second = await nights.night(2);
  assert.match(second.stdout, /3 skipped: waits for batch/);
  await nights.batches.endAll({ behave: sound });
  assert.equal((await nights.night(3)).code, 0);
  await allWasReadOnce(nights);
});

test('killed after one file of results was downloaded: the next night downloads both', async (t) => {
  const nights = await threeSessions(t);
  await nights.night(1);
  const overloaded = { status: 500, error: { message: 'Overloaded.' } };
  await nights.batches.endAll({
    behave: (...args) => (/\] Task 3$/m.test(args[0].texts.join('\n')) ? overloaded : sound(...args)),
  });
  await nights.killedAt(3, { call: /^GET \/v1\/files\/file-errors\d+\/content/, when: 'hangs before' });
  const ended = await nights.night(3);
  assert.equal(ended.code, 3, ended.stderr);
  assert.match(ended.stdout, new RegExp(`failed: ${threadId(3)}: server: In its batch: .*Overloaded`));
  await allWasReadOnce(nights, 2);
});

test('killed after the answers entered the journal: they are used, and stand once in the ledger', async (t) => {
  const nights = await threeSessions(t);
  await nights.night(1);
  await nights.batches.endAll({ behave: sound });
  await nights.killedAt(3, (request, index) => (isExtraction(request) ? sound(request, index) : { stall: true }));
  const ended = await nights.night(3);
  assert.equal(ended.code, 0, ended.stderr);
  await allWasReadOnce(nights);
});

test('killed while the files are deleted: the next night goes on with it', async (t) => {
  const nights = await threeSessions(t);
  await nights.night(1);
  await nights.batches.endAll({ behave: sound });
  await nights.night(3);
  await nights.killedAt(4, { call: /^DELETE /, when: 'hangs after' });
  assert.equal((await nights.night(4)).code, 0);
  assert.equal(nights.batches.files.size, 0);
  await allWasReadOnce(nights);
});
