import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { type Journal, openJournal } from '../../scripts/model/journal.ts';
import { createJournaledModel } from '../../scripts/model/journaled.ts';
import { createLedger, type LedgerOptions } from '../../scripts/model/ledger.ts';
import { createScriptedModel, type Script } from '../../scripts/model/scripted.ts';
import { aRequest } from '../support/model-requests.ts';

const redact = (text: string) => text.replaceAll('hunter2', '[REDACTED_SECRET]');
const prices = { 'small-model': { input: 1, output: 10 } };

test('a night that died pays again only for what was in flight', async (t) => {
  const folder = aFolder(t);
  const first = night(folder, (request) => {
    if (request.subject === 'b') throw new ModelError('network', 'Gone.', 'Wait.');
    return `about ${request.subject}`;
  });
  const lived = await first.model.ask(aRequest({ subject: 'a' }));
  await assert.rejects(first.model.ask(aRequest({ subject: 'b' })), /Gone/);

  const second = night(folder, () => 'new');
  assert.deepEqual(await second.model.ask(aRequest({ subject: 'a' })), lived);
  assert.equal((await second.model.ask(aRequest({ subject: 'b' }))).text, 'new');
  assert.deepEqual(
    second.scripted.requests.map((request) => request.subject),
    ['b'],
  );
});

test('live and replayed answers are equal, secrets removed in both', async (t) => {
  const folder = aFolder(t);
  const live = await night(folder, () => 'password: hunter2').model.ask(aRequest());
  assert.equal(live.text, 'password: [REDACTED_SECRET]');
  assert.deepEqual(await night(folder, () => 'never').model.ask(aRequest()), live);
});

test('what a dead process paid counts at its price then, once, and is marked as such', async (t) => {
  const folder = aFolder(t);
  const usage = { requests: 1, input: 1_000_000, cached: 0, output: 100_000 };
  await night(folder, () => ({ text: 'x', usage }), { prices }).model.ask(aRequest());
  const second = night(folder, () => ({ text: 'y', usage }));
  await second.model.ask(aRequest());
  await second.model.ask(aRequest());
  assert.deepEqual(second.ledger.total('phase1'), { answers: 1, usage, usd: 2, unpriced: 0, replayed: 1 });
});

test('what an earlier night accounted for is used again and counts no second time', async (t) => {
  const folder = aFolder(t);
  const first = night(folder, () => 'x');
  const said = await first.model.ask(aRequest());
  openJournal(folder, redact).clear([], [aRequest().subject]);
  const second = night(folder, () => 'never');
  assert.deepEqual(await second.model.ask(aRequest()), said);
  assert.equal(second.ledger.total().answers, 0);
});

test('what a row tells that was saved before the process died is told no second time, and what came after it is', async (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  const asked = async (journal: Journal, subject: string) =>
    createJournaledModel(
      createScriptedModel(() => 'x'),
      journal,
      createLedger(),
    ).ask(aRequest({ subject }));
  await asked(first, 'a');
  first.tell('run 1');
  const second = openJournal(folder, redact);
  await asked(second, 'b');
  second.tell('run 2');
  await asked(openJournal(folder, redact), 'c');
  const subjects = (saved: readonly string[]) => {
    const { ledger } = night(folder, () => 'never');
    ledger.settle((run) => saved.includes(run));
    return [...ledger.bySubject('phase1').keys()];
  };
  assert.deepEqual(subjects([]), ['a', 'b', 'c']);
  assert.deepEqual(subjects(['run 1']), ['b', 'c']);
  assert.deepEqual(subjects(['run 2']), ['c'], 'its row tells what no row before it told');
});

test('what a dead process paid leaves less under the cap', async (t) => {
  const folder = aFolder(t);
  const usage = { requests: 1, input: 9_000, cached: 0, output: 0 };
  await night(folder, () => ({ text: 'x', usage })).model.ask(aRequest());
  const second = night(folder, () => 'never', { caps: { phase1: { tokens: 10_000 } } });
  await assert.rejects(
    second.model.ask(aRequest({ subject: 'other' })),
    (error) => error instanceof ModelError && error.kind === 'budget',
  );
  assert.equal((await second.model.ask(aRequest())).text, 'x');
  assert.equal(second.scripted.requests.length, 0);
});

test('an answer that could not be parsed is asked for anew by the next night and paid twice in the account', async (t) => {
  const folder = aFolder(t);
  const first = night(folder, () => 'no JSON');
  await first.model.ask(aRequest());
  await first.model.reject(aRequest(), 'not JSON');
  const second = night(folder, () => '{}');
  assert.equal((await second.model.ask(aRequest())).text, '{}');
  assert.equal(second.ledger.total().usage.requests, 2);
});

test('a request leaves a mark while it is under way and none when it has ended, well or badly', async (t) => {
  const folder = aFolder(t);
  const marks = () =>
    readdirSync(join(folder, 'attempts'))
      .flatMap((name) =>
        readFileSync(join(folder, 'attempts', name), 'utf8')
          .trim()
          .split('\n'),
      )
      .reduce((open, line) => open + ('begin' in JSON.parse(line) ? 1 : -1), 0);
  const seen: number[] = [];
  const { model } = night(folder, (request) => {
    seen.push(marks());
    if (request.subject === 'bad') throw new ModelError('stalled', 'Stalled.', 'Wait.');
    return 'x';
  });
  await model.ask(aRequest({ subject: 'good' }));
  await assert.rejects(model.ask(aRequest({ subject: 'bad' })));
  assert.deepEqual([seen, marks()], [[1, 1], 0]);
});

test('requests at the same time, of which only one fits under the cap, do not go over it together', async (t) => {
  const { model, scripted } = night(aFolder(t), () => 'x', { caps: { phase1: { tokens: 1_500 } } });
  const outcomes = await Promise.allSettled(['a', 'b', 'c'].map((subject) => model.ask(aRequest({ subject }))));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.equal(scripted.requests.length, 1);
});

function night(folder: string, script: Script, options: LedgerOptions = {}) {
  const scripted = createScriptedModel(script);
  const ledger = createLedger(options);
  return { scripted, ledger, model: createJournaledModel(scripted, openJournal(folder, redact), ledger) };
}

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
