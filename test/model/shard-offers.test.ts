import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { type Journal, journalKey, openJournal } from '../../scripts/model/journal.ts';
import { createJournaledModel } from '../../scripts/model/journaled.ts';
import { createLedger, type LedgerOptions } from '../../scripts/model/ledger.ts';
import { createScriptedModel, type Script } from '../../scripts/model/scripted.ts';
import { knownTo, openShardJournal } from '../../scripts/model/shard-journal.ts';
import { type Believed, takeShards } from '../../scripts/model/shard-offers.ts';
import type { ModelRequest } from '../../scripts/model/types.ts';
import { isInShard, type Shard } from '../../scripts/shared/shard.ts';
import { bendAnswers, type WrittenAnswer } from '../support/journal-answers.ts';
import { aRequest } from '../support/model-requests.ts';
import { temporaryFolder } from '../support/repository.ts';

const redact = (text: string) => text.replaceAll('hunter2', '[REDACTED_SECRET]');
const prices = { 'small-model': { input: 1, output: 10 } };
const usage = { requests: 1, input: 1_000, cached: 0, output: 100 };
const believed: Believed = { nights: new Map([['night', () => true]]), threads: null };
const nothing = { answers: new Map(), spent: [], died: new Map() };
const [first, second]: [Shard, Shard] = [
  { index: 1, count: 2 },
  { index: 2, count: 2 },
];

/** Sessions of a part, by name. */
function subjectsOf(shard: Shard, count = 3): string[] {
  return Array.from({ length: 50 }, (_, n) => `session-${n}`)
    .filter((subject) => isInShard(subject, shard))
    .slice(0, count);
}

function asks(journal: Journal, script: Script, options: LedgerOptions = { prices }) {
  const scripted = createScriptedModel(script);
  const ledger = createLedger(options);
  return { scripted, ledger, model: createJournaledModel(scripted, journal, ledger) };
}

test('an answer under the key of another session is given to neither, and is let go', async (t) => {
  const place = aPlace(t);
  const [one = '', other = ''] = subjectsOf(first);
  const folder = await place.write(first, [one, other]);
  const [a, b] = [one, other].map((subject) => journalKey(aRequest({ subject })));
  bendAnswers(folder, (entry) => ({ ...entry, key: entry.key === a ? b : a }));
  assert.equal(place.take([folder]).answers, 2);
  const asked = asks(openJournal(place.night, redact), () => ({ text: 'asked anew', usage }));
  for (const subject of [one, other]) assert.equal((await asked.model.ask(aRequest({ subject }))).text, 'asked anew');
  assert.equal(asked.ledger.total().usage.requests, 2);
  assert.deepEqual(readdirSync(join(place.night, 'offered')), []);
});

interface Place {
  readonly night: string;
  shard(shard: Shard): string;
  /** A shard that asks for these. */
  write(shard: Shard, subjects: readonly string[], text?: string, label?: string): Promise<string>;
  take(from: readonly string[], what?: Believed): { answers: number; problems: readonly string[] };
}

function aPlace(t: TestContext): Place {
  const folder = temporaryFolder(t);
  const night = join(folder, 'journal');
  const at = ({ index, count }: Shard) => join(folder, 'shards', `${index}-of-${count}`);
  return {
    night,
    shard: at,
    async write(shard, subjects, text = 'from a shard', label = 'night') {
      const journal = openShardJournal(at(shard), { shard, night: label }, new Map(), nothing, redact);
      const { model } = asks(journal, () => ({ text, usage }));
      for (const subject of subjects) await model.ask(aRequest({ subject }));
      return at(shard);
    },
    take: (from, what = believed) => takeShards(from, night, what, redact),
  };
}

test('what shards paid for is answered without a request, and counts once, at its price', async (t) => {
  const place = aPlace(t);
  const [mine, theirs] = [subjectsOf(first), subjectsOf(second)];
  const from = [await place.write(first, mine), await place.write(second, theirs)];
  assert.deepEqual(place.take(from), { answers: 6, problems: [] });
  const { model, scripted, ledger } = asks(openJournal(place.night, redact), () => 'asked anew');
  for (const subject of [...mine, ...theirs])
    assert.equal((await model.ask(aRequest({ subject }))).text, 'from a shard');
  assert.equal(scripted.requests.length, 0);
  assert.deepEqual(ledger.total(), {
    answers: 6,
    usage: { requests: 6, input: 6_000, cached: 0, output: 600 },
    usd: 0.012,
    unpriced: 0,
    replayed: 6,
  });
});

test('an answer that was taken over is the night’s own from then on', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  place.take([await place.write(first, [subject])]);
  await asks(openJournal(place.night, redact), () => 'never').model.ask(aRequest({ subject }));
  const journal = openJournal(place.night, redact);
  assert.deepEqual([journal.inherited.length, journal.offered.size], [1, 0]);
  assert.deepEqual(place.take([place.shard(first)]).answers, 0, 'nor is it taken a second time');
});

test('what others paid for holds its place under the caps until it is asked for', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  place.take([await place.write(first, [subject])]);
  const { model, ledger } = asks(openJournal(place.night, redact), () => ({ text: 'x', usage }), {
    prices,
    caps: { phase1: { tokens: 2_100 } },
  });
  await assert.rejects(model.ask(aRequest({ subject: 'another' })), isBudget, '1,100 of 2,100 are spent already');
  assert.equal(ledger.total().answers, 0);
  await model.ask(aRequest({ subject }));
  await assert.rejects(model.ask(aRequest({ subject: 'another' })), isBudget);
  assert.equal(ledger.total().answers, 1);
});

function isBudget(error: unknown): boolean {
  return error instanceof ModelError && error.kind === 'budget';
}

test('of sessions that were left, what is offered stays for the night that goes on with them; the rest goes', async (t) => {
  const place = aPlace(t);
  const [done = '', left = ''] = subjectsOf(first);
  place.take([await place.write(first, [done, left])]);
  openJournal(place.night, redact).clear([done], [left]);
  const next = openJournal(place.night, redact);
  assert.deepEqual(
    [...next.offered.values()].map(({ subject, accounted }) => [subject, accounted]),
    [[left, false]],
  );
});

test('a journal of another night, of another version, or none, is left out', async (t) => {
  const place = aPlace(t);
  const old = await place.write(first, subjectsOf(first), 'x', 'the night before');
  assert.deepEqual(place.take([old]).answers, 0);
  assert.match(place.take([old]).problems.join(), /is of another night/);
  for (const label of [
    '',
    'null',
    '{"version":2,"index":1,"count":2,"night":"night"}',
    label2('3', '2'),
    label2('1', '999'),
  ]) {
    writeFileSync(join(old, 'shard.json'), label);
    const { answers, problems } = place.take([old]);
    assert.deepEqual([answers, problems.length], [0, 1], label);
    assert.match(problems[0] ?? '', /is not what a shard leaves/);
  }
  assert.match(place.take([join(place.night, 'missing')]).problems[0] ?? '', /is no folder/);
});

function label2(index: string, count: string): string {
  return `{"version":1,"index":${index},"count":${count},"night":"night"}`;
}

test('answers for sessions of another part, or that may not be read, are left out', async (t) => {
  const place = aPlace(t);
  const [mine = '', other = ''] = subjectsOf(first);
  const [theirs = ''] = subjectsOf(second);
  const from = await place.write(first, [mine, other, theirs]);
  const { answers, problems } = place.take([from], { ...believed, threads: new Set([mine, theirs]) });
  assert.equal(answers, 1);
  assert.match(problems[0] ?? '', /2 answers were not asked of it/);
});

test('an answer to a question that nobody asks is never given, and counts for nothing', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  const others: Partial<ModelRequest>[] = [{ promptHash: 'p2' }, { model: 'large-model' }, { attempt: 2 }];
  const journal = openShardJournal(place.shard(first), { shard: first, night: 'night' }, new Map(), nothing, redact);
  for (const other of others)
    await asks(journal, () => ({ text: 'wrong', usage })).model.ask(aRequest({ subject, ...other }));
  assert.equal(place.take([place.shard(first)]).answers, 3);
  const { model, ledger } = asks(openJournal(place.night, redact), () => 'right');
  assert.equal((await model.ask(aRequest({ subject }))).text, 'right');
  assert.equal(ledger.total().replayed, 0);
});

test('of two answers to one question the first stays, whatever the second says', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  const one = await place.write(first, [subject], 'the first');
  const copy = join(place.night, '../another');
  cpSync(one, copy, { recursive: true });
  bend(copy, subject, (entry) => ({ ...entry, reply: { ...entry.reply, text: 'the second' } }));
  assert.equal(place.take([one, copy]).answers, 1);
  const { model } = asks(openJournal(place.night, redact), () => 'never');
  assert.equal((await model.ask(aRequest({ subject }))).text, 'the first');
});

/** Writes an answer of a shard anew. */
function bend(folder: string, subject: string, change: (entry: WrittenAnswer) => object): void {
  bendAnswers(folder, (entry) => (entry.subject === subject ? change(entry) : entry));
}

test('what a hostile machine left harms nothing: it is told and left out', async (t) => {
  const place = aPlace(t);
  const subjects = subjectsOf(first, 8);
  const [a = '', b = '', c = '', d = '', e = '', f = '', g = '', sound = ''] = subjects;
  const folder = await place.write(first, subjects);
  const counted = (more: object) => (entry: WrittenAnswer) => ({
    ...entry,
    reply: { ...entry.reply, usage: { ...entry.reply.usage, ...more } },
  });
  bend(folder, a, counted({ input: 1e308 }));
  bend(folder, b, counted({ output: 0.5 }));
  bend(folder, c, counted({ cached: 2_000 }));
  bend(folder, d, (entry) => ({ ...entry, usd: 1e300 }));
  bend(folder, e, (entry) => ({ ...entry, purpose: 'phase2' }));
  bend(folder, f, (entry) => ({ ...entry, rejected: 'no' }));
  bend(folder, g, (entry) => ({ ...entry, reply: { ...entry.reply, text: 'x'.repeat(1024 * 1024) } }));
  const answers = join(folder, 'answers');
  writeFileSync(join(answers, '../../outside.json'), '{}');
  writeFileSync(join(answers, 'no-key.json'), '{}');
  writeFileSync(join(answers, `${'0'.repeat(64)}.json`), '{"version":1');
  symlinkSync('/etc/passwd', join(answers, `${'1'.repeat(64)}.json`));
  mkdirSync(join(answers, `${'2'.repeat(64)}.json`));
  writeFileSync(join(answers, '000007.jsonl'), Buffer.alloc(17 * 1024 * 1024, '\n'));
  writeFileSync(join(answers, '000008.jsonl'), '{}\n\u0000\n[');
  const { answers: taken, problems } = place.take([folder]);
  assert.equal(taken, 1);
  assert.deepEqual(readdirSync(join(place.night, 'offered')), [`${journalKey(aRequest({ subject: sound }))}.json`]);
  assert.match(
    problems.join('\n'),
    /answers holds more than a shard writes[\s\S]*5 of its files are damaged[\s\S]*6 answers were not asked/,
  );
  assert.equal(openJournal(place.night, redact).problems.length, 0);
});

test('a folder that is a link leads nowhere', async (t) => {
  const place = aPlace(t);
  const real = await place.write(first, subjectsOf(first));
  const linked = join(place.night, '../linked');
  symlinkSync(real, linked);
  assert.equal(place.take([linked]).answers, 0);
  const bent = await place.write(second, subjectsOf(second));
  rmSync(join(bent, 'answers'), { recursive: true });
  symlinkSync(join(real, 'answers'), join(bent, 'answers'));
  assert.equal(place.take([bent]).answers, 0);
  assert.ok(!existsSync(join(place.night, 'offered')));
});

test('secrets that another machine left in an answer are removed before it is written here', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  const folder = await place.write(first, [subject]);
  bend(folder, subject, (entry) => ({ ...entry, reply: { ...entry.reply, text: 'password: hunter2' } }));
  place.take([folder]);
  const written = readFileSync(join(place.night, 'offered', `${journalKey(aRequest({ subject }))}.json`), 'utf8');
  assert.match(written, /password: \[REDACTED_SECRET\]/);
});

test('a session over which a shard died is read last and alone: one death for it, none for the others', async (t) => {
  const place = aPlace(t);
  const [died = '', ended = ''] = subjectsOf(first);
  const [theirs = ''] = subjectsOf(second);
  const journal = openShardJournal(place.shard(first), { shard: first, night: 'night' }, new Map(), nothing, redact);
  for (const subject of [died, ended, theirs]) journal.begin(subject, 'rollout');
  journal.end(ended);
  place.take([place.shard(first)]);
  assert.deepEqual([...openJournal(place.night, redact).diedAttempts()], [[died, 1]]);
  assert.deepEqual([...openJournal(place.night, redact).diedAttempts()], [[died, 1]], 'and is counted once');
});

test('a shard that is started again goes on from its journal; for another night it begins anew', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  await place.write(first, [subject], 'the first time');
  const open = (night: string) =>
    openShardJournal(place.shard(first), { shard: first, night }, new Map(), nothing, redact);
  assert.equal(open('night').inherited.length, 1);
  assert.equal(open('the next night').inherited.length, 0);
  assert.deepEqual(readdirSync(join(place.shard(first), 'answers')), []);
});

test('of a night that others came before, what they have not read stays of use: to the night, and to the shard', async (t) => {
  const place = aPlace(t);
  const [read = '', unread = ''] = subjectsOf(first);
  const shard = await place.write(first, [read, unread]);
  const nights = new Map([
    ['night', (subject: string) => subject === unread],
    ['the next night', () => true],
  ]);
  const { answers, problems } = place.take([shard], { nights, threads: null });
  assert.equal(answers, 1);
  assert.match(
    problems.join(),
    /^Shard 1\/2: a night has read 1 of its sessions since, and those answers are left out/,
  );
  const older = new Map([['night', () => false]]);
  assert.match(place.take([shard], { nights: older, threads: null }).problems.join(), /is of another night/);
  const label = { shard: first, night: 'the next night' };
  const again = openShardJournal(shard, label, nights, nothing, redact);
  assert.deepEqual(
    again.inherited.map(({ subject }) => subject),
    [unread],
  );
});

test('what the night’s journal holds no shard asks for again', async (t) => {
  const place = aPlace(t);
  const [subject = ''] = subjectsOf(first);
  await asks(openJournal(place.night, redact), () => ({ text: 'known', usage })).model.ask(aRequest({ subject }));
  const known = knownTo(place.night, () => false, []);
  assert.equal(known.spent.length, 1);
  openJournal(place.night, redact).tell('a run');
  assert.equal(knownTo(place.night, (run) => run === 'a run', []).spent.length, 0, 'it stands in the books');
  const journal = openShardJournal(place.shard(first), { shard: first, night: 'night' }, new Map(), known, redact);
  const { model, ledger } = asks(journal, () => 'never');
  assert.equal((await model.ask(aRequest({ subject }))).text, 'known');
  assert.equal(ledger.total().answers, 0);
});

test('a folder that holds something else is not touched', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.tmp'), 'mine');
  const open = (path: string) => () => openShardJournal(path, { shard: first, night: 'n' }, new Map(), nothing, redact);
  assert.throws(open(folder), /is no folder for a shard’s journal/);
  assert.throws(open(join(folder, 'a.tmp')), /is no folder for a shard’s journal/);
  assert.deepEqual(readdirSync(folder), ['a.tmp']);
});
