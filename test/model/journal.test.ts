import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { journalKey, openJournal } from '../../scripts/model/journal.ts';
import type { ModelReply } from '../../scripts/model/types.ts';
import { aRequest } from '../support/model-requests.ts';

const secret = ['sk', 'proj', 'abcdefgh12345678'].join('-');
const redact = (text: string) => text.replaceAll(secret, '[REDACTED_SECRET]');
const victim = new URL('../support/journal-victim.ts', import.meta.url).pathname;

test('an answer that was recorded is found again by the next process, to the byte', async (t) => {
  const folder = aFolder(t);
  const reply = aReply({ text: 'Ünïcode 😀 "quoted"\n', allowance: 0.4 });
  await openJournal(folder, redact).put(journalKey(aRequest()), aRequest(), reply, 0.01);
  const next = openJournal(folder, redact);
  assert.deepEqual(next.find(journalKey(aRequest())), reply);
  assert.deepEqual(
    next.inherited.map(({ subject, usd }) => [subject, usd]),
    [['thread-1', 0.01]],
  );
});

test('an answer belongs to exactly one request: purpose, subject, prompt, model, attempt, words, schema, limits', () => {
  const requests = [
    aRequest(),
    aRequest({ purpose: 'phase2' }),
    aRequest({ subject: 'thread-2' }),
    aRequest({ promptHash: 'p2' }),
    aRequest({ model: 'large-model' }),
    aRequest({ attempt: 2 }),
    aRequest({ messages: [{ role: 'user', text: 'Other.' }] }),
    aRequest({ schema: { name: 's', schema: {} } }),
    aRequest({ tools: [] }),
    aRequest({ maxOutputTokens: 7 }),
    aRequest({ effort: 'high' }),
  ];
  assert.equal(new Set(requests.map(journalKey)).size, requests.length);
  assert.equal(journalKey(aRequest()), journalKey(aRequest()));
});

test('a secret in an answer reaches neither the disk nor the caller, and JSON stays JSON', async (t) => {
  const folder = aFolder(t);
  const escaped = secret.replaceAll('-', '\\u002d');
  const reply = aReply({
    text: `{"note":"the key is ${escaped}"}`,
    toolCalls: [{ id: 'c', name: 'write', arguments: JSON.stringify({ text: `key: ${secret}` }) }],
  });
  const kept = await openJournal(folder, redact).put(journalKey(aRequest()), aRequest(), reply, null);
  assert.deepEqual(JSON.parse(kept.text), { note: 'the key is [REDACTED_SECRET]' });
  assert.deepEqual(JSON.parse(kept.toolCalls[0]?.arguments ?? ''), { text: 'key: [REDACTED_SECRET]' });
  assert.deepEqual(openJournal(folder, redact).find(journalKey(aRequest())), kept);
  for (const text of [secret, escaped]) assert.equal(onDisk(folder).includes(text), false);
});

test('an answer that could not be used is never given again but stays in the account', async (t) => {
  const folder = aFolder(t);
  const key = journalKey(aRequest());
  const journal = openJournal(folder, redact);
  for (let round = 0; round < 2; round++) {
    await journal.put(key, aRequest(), aReply(), 0.01);
    await journal.reject(key, 'not JSON');
    assert.equal(journal.find(key), null);
  }
  await journal.put(key, aRequest(), aReply({ text: 'good' }), 0.01);
  const next = openJournal(folder, redact);
  assert.equal(next.find(key)?.text, 'good');
  assert.deepEqual(next.inherited.map((entry) => entry.rejected).sort(), ['not JSON', 'not JSON', null].sort());
});

test('a process that is killed counts one attempt for each rollout under way, whatever the number of its marks', (t) => {
  const folder = aFolder(t);
  const run = () =>
    spawnSync(process.execPath, ['--import', 'tsx', victim, folder, 'done', 'deadly', 'innocent'], {
      encoding: 'utf8',
    });
  assert.equal(run().signal, 'SIGKILL');
  const second = openJournal(folder, redact);
  assert.deepEqual([...second.diedAttempts()].sort(), [
    ['deadly', 1],
    ['innocent', 1],
  ]);
  second.begin('deadly', 'rollout');
  second.begin('deadly', 'request');
  second.begin('innocent', 'rollout');
  second.end('innocent');
  const third = openJournal(folder, redact);
  assert.deepEqual([...third.diedAttempts()].sort(), [
    ['deadly', 2],
    ['innocent', 1],
  ]);
  assert.deepEqual([...openJournal(folder, redact).diedAttempts()].sort(), [
    ['deadly', 2],
    ['innocent', 1],
  ]);
});

test('a mark that could not be removed after it was reckoned is not reckoned again', (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  first.begin('deadly', 'rollout');
  const [mark = ''] = readdirSync(join(folder, 'attempts'));
  const text = readFileSync(join(folder, 'attempts', mark), 'utf8');
  assert.equal(openJournal(folder, redact).diedAttempts().get('deadly'), 1);
  writeFileSync(join(folder, 'attempts', mark), text);
  assert.equal(openJournal(folder, redact).diedAttempts().get('deadly'), 1);
});

test('once all is committed the answers go, and the counts of those that were not settled stay', async (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  first.begin('settled', 'rollout');
  first.begin('open', 'rollout');
  const next = openJournal(folder, redact);
  await next.put(journalKey(aRequest()), aRequest(), aReply(), null);
  next.clear(['settled', 'never heard of']);
  assert.equal(next.find(journalKey(aRequest())), null);
  const last = openJournal(folder, redact);
  assert.deepEqual(last.inherited, []);
  assert.deepEqual([...last.diedAttempts()], [['open', 1]]);
});

test('the answers of what had to stop in the middle stay, and are accounted for', async (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  const [done, open] = [aRequest({ subject: 'done' }), aRequest({ subject: 'open' })];
  for (const request of [done, open]) await first.put(journalKey(request), request, aReply(), 1);
  first.clear(['done'], ['open']);
  const next = openJournal(folder, redact);
  assert.deepEqual(
    next.inherited.map(({ subject, accounted }) => [subject, accounted]),
    [['open', true]],
  );
  assert.equal(next.find(journalKey(done)), null);
  assert.deepEqual(next.find(journalKey(open)), aReply());
  next.clear(['open']);
  assert.deepEqual(openJournal(folder, redact).inherited, []);
});

test('a list of rows that is damaged is reported, and then no row is believed', async (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  await first.put(journalKey(aRequest()), aRequest(), aReply(), 1);
  first.tell('a run');
  const toldBy = () => {
    const next = openJournal(folder, redact);
    return [next.problems.length, ...next.inherited.flatMap((entry) => next.toldBy(entry))];
  };
  assert.deepEqual(toldBy(), [0, 'a run']);
  writeFileSync(join(folder, 'rows.json'), '{"version":1,"rows":[["a ru');
  assert.deepEqual(toldBy(), [1]);
  openJournal(folder, redact).clear([]);
  assert.deepEqual(toldBy(), [0]);
});

const damages: readonly [string, (text: string) => string][] = [
  ['half-written', (text) => text.slice(0, text.length / 2)],
  ['under no key', (text) => text.replace(/"key":"./, '"key":"z')],
  ['of a later version', (text) => text.replace('"version":1', '"version":2')],
  ['without its text', (text) => text.replace('"text"', '"words"')],
  ['with a negative price', (text) => text.replace('"usd":0.01', '"usd":-1')],
  ['no JSON', () => '\u0000\u0000'],
];

for (const [name, damage] of damages) {
  test(`a recorded answer that is ${name} is left out and reported`, async (t) => {
    const folder = aFolder(t);
    const key = journalKey(aRequest());
    await openJournal(folder, redact).put(key, aRequest(), aReply(), 0.01);
    const other = aRequest({ subject: 'other' });
    await openJournal(folder, redact).put(journalKey(other), other, aReply(), 0.01);
    const file = join(folder, 'answers', '000001.jsonl');
    const [damaged, sound] = [damage(readFileSync(file, 'utf8').trimEnd()), readFileSync(inAnswers(folder, 2), 'utf8')];
    for (const text of [`${damaged}\n${sound}`, `${sound}${damaged}`]) {
      writeFileSync(file, text);
      rmSync(inAnswers(folder, 2), { force: true });
      const next = openJournal(folder, redact);
      assert.equal(next.find(key), null);
      assert.deepEqual(
        next.inherited.map(({ subject }) => subject),
        ['other'],
      );
      assert.match(next.problems.join(), /000001\.jsonl are damaged; 1 of them/);
    }
  });
}

for (const [name, damage] of [
  ...damages,
  ['empty', () => ''],
  ['of another key', (text: string) => text.replace(/"key":"./, '"key":"0')],
] as const) {
  test(`an answer in a file of its own that is ${name} is left out and reported`, async (t) => {
    const folder = aFolder(t);
    const key = `1${journalKey(aRequest()).slice(1)}`;
    await openJournal(folder, redact).put(key, aRequest(), aReply(), 0.01);
    writeFileSync(join(folder, 'answers', `${key}.json`), damage(readFileSync(inAnswers(folder, 1), 'utf8')));
    rmSync(inAnswers(folder, 1));
    const next = openJournal(folder, redact);
    assert.deepEqual([next.find(key), next.inherited.length], [null, 0]);
    assert.match(next.problems.join(), new RegExp(key));
  });
}

test('an empty file of answers is one into which nothing was written yet', (t) => {
  const folder = aFolder(t);
  openJournal(folder, redact);
  writeFileSync(inAnswers(folder, 1), '');
  assert.deepEqual(openJournal(folder, redact).problems, []);
});

test('no process writes into the file of another, which may end in half a line', async (t) => {
  const folder = aFolder(t);
  openJournal(folder, redact);
  writeFileSync(inAnswers(folder, 1), '{"vers');
  await openJournal(folder, redact).put(journalKey(aRequest()), aRequest(), aReply(), null);
  assert.equal(readFileSync(inAnswers(folder, 1), 'utf8'), '{"vers');
  assert.deepEqual(openJournal(folder, redact).find(journalKey(aRequest())), aReply());
});

test('many that are answered at once are all there, in the order in which they came, and long files end', async (t) => {
  const folder = aFolder(t);
  const journal = openJournal(folder, redact);
  const requests = Array.from({ length: 40 }, (_, n) => aRequest({ subject: `thread-${n}` }));
  const text = 'ü'.repeat(200_000);
  await Promise.all(requests.map((request) => journal.put(journalKey(request), request, aReply({ text }), null)));
  const next = openJournal(folder, redact);
  assert.deepEqual(next.problems, []);
  assert.deepEqual(
    [...next.inherited].sort((a, b) => a.n - b.n).map(({ subject }) => subject),
    requests.map(({ subject }) => subject),
  );
  const sizes = readdirSync(join(folder, 'answers')).map((name) => statSync(join(folder, 'answers', name)).size);
  assert.equal(sizes.length, 2);
  assert.ok(sizes.every((size) => size < 9_000_000));
  next.clear(
    [],
    requests.map(({ subject }) => subject),
  );
  assert.equal(openJournal(folder, redact).inherited.length, 40);
  next.clear([]);
  assert.deepEqual(readdirSync(join(folder, 'answers')), []);
});

test('answers of earlier versions, one in a file each, are found, rejected and replaced', async (t) => {
  const folder = aFolder(t);
  const [kept, bad, anew] = ['kept', 'bad', 'anew'].map((subject) => aRequest({ subject }));
  const first = openJournal(folder, redact);
  for (const request of [kept, bad, anew]) if (request) await first.put(journalKey(request), request, aReply(), 1);
  for (const line of readFileSync(inAnswers(folder, 1), 'utf8').trimEnd().split('\n'))
    writeFileSync(join(folder, 'answers', `${JSON.parse(line).key}.json`), `${line}\n`);
  rmSync(inAnswers(folder, 1));
  const next = openJournal(folder, redact);
  assert.equal(next.inherited.length, 3);
  if (bad) await next.reject(journalKey(bad), 'not JSON');
  if (anew) await next.put(journalKey(anew), anew, aReply({ text: 'Another.' }), 1);
  const last = openJournal(folder, redact);
  const seen = last.inherited.map(({ subject, reply, rejected }) => [subject, reply.text, rejected]);
  assert.deepEqual(seen.sort(), [
    ['anew', 'Another.', null],
    ['bad', 'An answer.', 'not JSON'],
    ['kept', 'An answer.', null],
  ]);
});

test('what a process that was killed left twice counts once', async (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  await first.put(journalKey(aRequest()), aRequest(), aReply(), 1);
  await first.reject(journalKey(aRequest()), 'not JSON');
  await first.put(journalKey(aRequest()), aRequest(), aReply(), 1);
  copyFileSync(inAnswers(folder, 1), inAnswers(folder, 2));
  assert.equal(openJournal(folder, redact).inherited.length, 2);
});

test('links and strange names are left out and reported, unfinished files are removed', async (t) => {
  const folder = aFolder(t);
  const key = journalKey(aRequest());
  const other = aFolder(t);
  await openJournal(other, redact).put(key, aRequest(), aReply(), 0.01);
  openJournal(folder, redact);
  symlinkSync(inAnswers(other, 1), inAnswers(folder, 1));
  writeFileSync(join(folder, 'answers', 'notes.txt'), 'x');
  writeFileSync(join(folder, 'answers', '000002.jsonl.1.tmp'), '{"ver');
  mkdirSync(join(folder, 'answers', 'folder'));
  const next = openJournal(folder, redact);
  assert.equal(next.find(key), null);
  assert.equal(next.problems.length, 2);
  assert.equal(
    readdirSync(join(folder, 'answers')).some((name) => name.endsWith('.tmp')),
    false,
  );
});

test('a mark that was torn while it was written costs only itself', (t) => {
  const folder = aFolder(t);
  const first = openJournal(folder, redact);
  for (const subject of ['ended', 'deadly', 'torn']) first.begin(subject, 'rollout');
  first.end('ended');
  const [name = ''] = readdirSync(join(folder, 'attempts'));
  const file = join(folder, 'attempts', name);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(file, [lines[0], lines[3], lines[1], lines[2]?.slice(0, 20)].join('\n'));
  const next = openJournal(folder, redact);
  assert.deepEqual([...next.diedAttempts()], [['deadly', 1]]);
  assert.match(next.problems.join(), /1 of them/);
});

test('damaged counts and marks are reported and do not stop the night', (t) => {
  const folder = aFolder(t);
  openJournal(folder, redact);
  writeFileSync(join(folder, 'died.json'), '{"generation":');
  writeFileSync(join(folder, 'attempts', 'mark.json'), '');
  const journal = openJournal(folder, redact);
  assert.equal(journal.diedAttempts().size, 0);
  assert.equal(journal.problems.length, 2);
});

test('only the owner may read the journal', async (t) => {
  const folder = join(aFolder(t), 'memory', 'journal');
  await openJournal(folder, redact).put(journalKey(aRequest()), aRequest(), aReply(), null);
  assert.equal(statSync(join(folder, 'answers')).mode & 0o777, 0o700);
  assert.equal(statSync(inAnswers(folder, 1)).mode & 0o777, 0o600);
});

test('a journal that cannot be written says so and what to do', async (t) => {
  const folder = aFolder(t);
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => openJournal(join(folder, 'file', 'journal'), redact), /journal in .* cannot be written/);
  const journal = openJournal(folder, redact);
  mkdirSync(inAnswers(folder, 1));
  await assert.rejects(journal.put(journalKey(aRequest()), aRequest(), aReply(), null), /cannot be written: EISDIR/);
  await journal.put(journalKey(aRequest()), aRequest(), aReply(), null);
  assert.deepEqual(openJournal(folder, redact).find(journalKey(aRequest())), aReply(), 'the next goes elsewhere');
  journal.clear([]);
  rmSync(join(folder, 'answers'), { recursive: true });
  await assert.rejects(journal.put(journalKey(aRequest()), aRequest(), aReply(), null), /cannot be written: ENOENT/);
  assert.equal(journal.find(journalKey(aRequest())), null);
});

function inAnswers(folder: string, n: number): string {
  return join(folder, 'answers', `00000${n}.jsonl`);
}

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'journal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function aReply(changes: Partial<ModelReply> = {}): ModelReply {
  return {
    text: 'An answer.',
    toolCalls: [],
    finish: 'stop',
    usage: { requests: 1, input: 100, cached: 10, output: 20 },
    model: 'small-model',
    ...changes,
  };
}

function onDisk(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n');
}
