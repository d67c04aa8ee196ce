import assert from 'node:assert/strict';
import test from 'node:test';
import { recordCitations } from '../../scripts/state/citations.ts';
import type { State } from '../../scripts/state/database.ts';
import { SnapshotError } from '../../scripts/state/errors.ts';
import { recordLines } from '../../scripts/state/lines.ts';
import { setMeta } from '../../scripts/state/meta.ts';
import { migrations } from '../../scripts/state/migrations.ts';
import { outputOf } from '../../scripts/state/outputs.ts';
import { query } from '../../scripts/state/query.ts';
import { recordRun } from '../../scripts/state/runs.ts';
import { recordConsolidated } from '../../scripts/state/scopes.ts';
import { recordShown } from '../../scripts/state/shown.ts';
import { emptyState, openState, sizeVerdict, snapshotOf, stopBytes, warnBytes } from '../../scripts/state/snapshot.ts';
import { deleteThread, getThread, upsertThread } from '../../scripts/state/threads.ts';
import { setTombstone } from '../../scripts/state/tombstones.ts';
import { aCitation, anOutput, aThread, dayAt, mustClaimScope, scope, withOutput } from '../support/state-rows.ts';

async function aFullState(): Promise<State> {
  const state = await emptyState();
  withOutput(state, 'thread-b', { output: { rawMemory: 'Größer, 漢字, "quoted" \\ back\tslash\u2028 and 🙂' } });
  withOutput(state, 'thread-a', { extractorClass: 'builtin', thread: { author: null, aliases: ['github.com/x/y'] } });
  recordCitations(state, [aCitation('e1', 'thread-a')], { now: dayAt(101), horizon: null });
  setTombstone(state, { kind: 'author', key: 'eve', reason: 'left', runId: null, pullRequest: null, setAt: dayAt(1) });
  recordLines(state, [{ scope, hash: 'f'.repeat(32), who: 'ada', since: dayAt(3) }]);
  recordRun(state, {
    runId: 'run-1',
    startedAt: dayAt(101),
    finishedAt: dayAt(101) + 60,
    outcome: 'done',
    counts: { extracted: 2 },
    usage: { phase1: { requests: 2, input: 2 ** 52 } },
    models: 'm',
    promptsHash: 'p',
  });
  const { sourceUpdatedAt } = anOutput();
  recordConsolidated(state, mustClaimScope(state), {
    selected: [{ threadId: 'thread-a', extractorClass: 'builtin', sourceUpdatedAt, selectedAt: dayAt(101) }],
    watermark: sourceUpdatedAt,
    consolidatorClass: 'llm',
    now: dayAt(101),
  });
  upsertThread(state, aThread('long-gone', { startedAt: dayAt(1), updatedAt: dayAt(1), firstSeenAt: dayAt(1) }));
  setMeta(state, 'horizon', String(dayAt(71)));
  recordShown(state, [
    {
      threadId: 'thread-b',
      author: 'ada',
      at: dayAt(101),
      injected: ['k3f7x2ab', 'bbbbbbbb'],
      retrieved: [],
      read: [],
    },
  ]);
  return state;
}

/** A snapshot with one thread: line 2 opens citations, and so on in the order of names. */
async function aSmallText(): Promise<string> {
  const state = await emptyState();
  upsertThread(state, aThread('thread-a'));
  return snapshotOf(state);
}

function lineOf(text: string, part: string): number {
  return text.split('\n').findIndex((line) => line.includes(part)) + 1;
}

async function refusal(text: string): Promise<SnapshotError> {
  const error = await openState(text).then(
    () => null,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof SnapshotError, `expected a SnapshotError, got ${String(error)}`);
  return error;
}

test('a snapshot opens to a state that writes the same bytes', async () => {
  const text = snapshotOf(await aFullState());
  assert.equal(snapshotOf(await openState(text)), text);
  const empty = snapshotOf(await emptyState());
  assert.equal(snapshotOf(await openState(empty)), empty);
});

test('a snapshot is JSON with a row a line, tables by name, rows by key', async () => {
  const text = snapshotOf(await aFullState());
  const parsed: { format: string; schema: number; tables: Record<string, { columns: string[]; rows: unknown[][] }> } =
    JSON.parse(text);
  assert.equal(parsed.format, 'ctm-state');
  assert.equal(parsed.schema, migrations.length);
  assert.deepEqual(Object.keys(parsed.tables), Object.keys(parsed.tables).sort());
  assert.deepEqual(
    parsed.tables.stage1_outputs?.rows.map((row) => row[0]),
    ['thread-a', 'thread-b'],
  );
  for (const { rows } of Object.values(parsed.tables))
    for (const row of rows) assert.ok(text.split(/,?\n/).includes(JSON.stringify(row)), 'a row is one line');
  assert.ok(text.endsWith('\n}}\n'));
});

test('the same rows give the same text in whatever order they came', async () => {
  const one = await emptyState();
  const other = await emptyState();
  for (const id of ['a', 'b', 'c']) upsertThread(one, aThread(id));
  for (const id of ['c', 'a', 'b']) upsertThread(other, aThread(id));
  assert.equal(snapshotOf(one), snapshotOf(other));
});

test('however many rows a table has, all stand in the order of their keys, once each', async () => {
  for (const count of [1, 63, 64, 65, 128, 129, 300]) {
    const state = await emptyState();
    const keys = Array.from(
      { length: count },
      (_, index) => [`scope ${index % 3}`, String((index * 7) % count)] as const,
    );
    recordLines(
      state,
      keys.map(([of, hash]) => ({ scope: of, hash, who: 'ada', since: dayAt(3) })),
    );
    const { tables } = JSON.parse(snapshotOf(state)) as { tables: { lines: { rows: [string, string][] } } };
    const distinct = new Set(keys.map((key) => key.join('\n')));
    assert.deepEqual(
      tables.lines.rows.map(([of, hash]) => `${of}\n${hash}`),
      [...distinct].sort(),
    );
  }
});

test('every character that a text may hold survives, and what SQLite cannot hold becomes U+FFFD', async () => {
  const state = await emptyState();
  let every = '';
  for (let code = 1; code < 0xd800; code += 1) every += String.fromCharCode(code);
  upsertThread(state, aThread('thread-a', { title: every }));
  upsertThread(state, aThread('thread-b', { title: 'nul \0, half \ud83d, whole 🙂' }));
  const reopened = await openState(snapshotOf(state));
  assert.equal(getThread(reopened, 'thread-a')?.title, every);
  assert.equal(getThread(reopened, 'thread-b')?.title, 'nul \ufffd, half \ufffd, whole 🙂');
});

test('what is deleted is nowhere in the text', async () => {
  const state = await aFullState();
  assert.match(snapshotOf(state), /漢字/);
  deleteThread(state, 'thread-b', dayAt(102));
  assert.doesNotMatch(snapshotOf(state), /漢字|thread-b/);
});

test('a snapshot with CRLF, a byte order mark or without its last line end opens all the same', async () => {
  const text = await aSmallText();
  for (const variant of [text.replaceAll('\n', '\r\n'), `\ufeff${text}`, text.trimEnd()])
    assert.equal(snapshotOf(await openState(variant)), text);
});

test('an older schema is migrated, and keeps its rows', async () => {
  const text = snapshotOf(await aFullState());
  const table = /"shown":\{"columns":\[[^\]]*\],"rows":\[\n([^\n]*\n)\]\},\n/;
  const older = text.replace(`"schema":${migrations.length}`, '"schema":1').replace(table, '');
  const state = await openState(older);
  assert.equal(
    snapshotOf(state),
    text.replace(table, (all, rows: string) => all.replace(rows, '')),
  );
  assert.ok(outputOf(state, 'thread-b'));
  assert.equal(query(state, 'select usage_count from usage').rows[0]?.[0], 1);
});

test('a newer schema is refused with the way to update', async () => {
  const error = await refusal((await aSmallText()).replace(/"schema":\d+/, '"schema":999'));
  assert.equal(error.line, 1);
  assert.match(error.message, /newer version/);
  assert.match(error.hint, /Update/);
});

test('conflict markers are named as a conflict, wherever they stand', async () => {
  const lines = (await aSmallText()).split('\n');
  for (const at of [0, 3, lines.length - 2]) {
    const conflicted = lines.toSpliced(at, 0, '<<<<<<< HEAD');
    const error = await refusal(conflicted.join('\n'));
    assert.equal(error.line, at + 1);
    assert.match(error.message, /conflict/);
    assert.match(error.hint, /git checkout --ours/);
  }
});

test('damage is refused at its line, with the way back and without showing the row', async () => {
  const text = await aSmallText();
  const row = lineOf(text, '"thread-a"');
  const threads = lineOf(text, '"threads":');
  const cases: [string, string, number, RegExp][] = [
    ['empty', '', 1, /ends here/],
    ['another file', '{"hello":"world"}\n', 1, /not the head/],
    ['another format', text.replace('ctm-state', 'other-state'), 1, /format is not/],
    ['schema 0', text.replace(/"schema":\d+/, '"schema":0'), 1, /no number/],
    ['cut inside a row', text.slice(0, text.indexOf('"thread-a"') + 5), row, /no valid JSON/],
    ['cut between rows', text.split('\n').slice(0, row).join('\n'), row + 1, /ends here/],
    ['no JSON', text.replace('"thread-a"', 'thread-a'), row, /no valid JSON/],
    ['no array', text.replace(/^\["thread-a".*$/m, '{"thread_id":"thread-a"}'), row, /no JSON array/],
    ['comma left over', text.replace(/^(\["thread-a".*)$/m, '$1,'), row + 1, /should follow the comma/],
    ['comma missing', text.replace(/^(\["thread-a".*)$/m, '$1\n$1'), row + 1, /without a comma/],
    ['the key twice', text.replace(/^(\["thread-a".*)$/m, '$1,\n$1'), row + 1, /key stands twice/],
    ['a column missing', text.replace('"agent",', ''), threads, /columns of threads should be/],
    ['columns in another order', text.replace('"agent","origin"', '"origin","agent"'), threads, /columns of threads/],
    ['a value missing', text.replace('"thread-a",', ''), row, /columns, the row/],
    ['a fraction', text.replace(String(dayAt(99)), '1.5'), row, /started_at should be an integer/],
    ['beyond 2^53', text.replace(String(dayAt(99)), '9007199254740993'), row, /started_at should be an integer/],
    ['a text for a number', text.replace(String(dayAt(99)), '"1"'), row, /started_at should be an integer/],
    ['a number for a text', text.replace('"codex"', '7'), row, /agent should be a text/],
    ['a boolean', text.replace('"codex"', 'true'), row, /agent should be a text/],
    ['null where something must be', text.replace('"codex"', 'null'), row, /agent should be a text/],
    ['a word that is not allowed', text.replace('"enabled"', '"off"'), row, /not allowed/],
    ['aliases that are no list', text.replace('"[]"', '"{}"'), row, /not allowed/],
    ['aliases that are no JSON', text.replace('"[]"', '"["'), row, /not allowed/],
    ['NUL', text.replace('"codex"', '"co\\u0000dex"'), row, /NUL/],
    ['half a surrogate pair', text.replace('"codex"', '"co\\ud83d"'), row, /surrogate/],
    [
      'a table missing',
      text.replace(/^"meta".*\n\]\},\n/m, ''),
      lineOf(text, '"meta":'),
      /table meta should stand here/,
    ],
    [
      'a table too many',
      text.replace('\n]}\n}}', '\n]},\n"zoo":{"columns":["a"],"rows":[\n]}\n}}'),
      text.split('\n').length - 1,
      /zoo/,
    ],
    ['text after the end', `${text}more\n`, text.split('\n').length, /follows the closing/],
    ['no end', text.replace('\n}}\n', '\n'), text.split('\n').length - 1, /ends here/],
  ];
  for (const [name, damaged, line, reason] of cases) {
    assert.notEqual(damaged, text, name);
    const error = await refusal(damaged);
    assert.match(error.message, reason, name);
    assert.equal(error.line, line, name);
    assert.doesNotMatch(error.message, /thread-a/, name);
    assert.match(error.hint, /git checkout|Update/, name);
  }
});

test('a ledger or a horizon that later reads would stumble over is refused at its line', async () => {
  const text = snapshotOf(await aFullState());
  const cases: [string, string, string][] = [
    ['"run-1",8726400', '"{\\"extracted\\":2}"', '"nothing"'],
    ['"run-1",8726400', '"{\\"phase1\\"', '"[{\\"phase1\\"'],
    ['"horizon"', /\["horizon","\d+"\]/.exec(text)?.[0] ?? '', '["horizon","soon"]'],
  ];
  for (const [row, good, bad] of cases) {
    assert.ok(good !== '' && text.includes(good), row);
    const error = await refusal(text.replace(good, bad));
    assert.equal(error.line, lineOf(text, row));
    assert.match(error.message, /not allowed/);
  }
});

test('the size is fine, worth a warning, or too large to write', () => {
  assert.deepEqual([0, warnBytes - 1, warnBytes, stopBytes - 1, stopBytes].map(sizeVerdict), [
    'fine',
    'fine',
    'warn',
    'warn',
    'stop',
  ]);
});

test('of many rows the first wrong one is named, and all of them are there when none is wrong', async () => {
  const state = await emptyState();
  for (let index = 100; index < 150; index += 1) upsertThread(state, aThread(`thread-${index}`));
  const lines = snapshotOf(state).split('\n');
  const at = (id: string) => lines.findIndex((line) => line.startsWith(`["${id}"`));
  const opened = await openState(lines.join('\n'));
  assert.equal(snapshotOf(opened), lines.join('\n'));
  const doubled = lines.with(at('thread-121'), lines[at('thread-120')] ?? '');
  const wrong = doubled.with(at('thread-125'), (lines[at('thread-125')] ?? '').replace(/,\d+,/, ',"late",'));
  for (const text of [doubled, wrong]) {
    await assert.rejects(openState(text.join('\n')), (error: Error) => {
      assert.ok(error instanceof SnapshotError);
      assert.match(error.message, new RegExp(`line ${at('thread-121') + 1}: threads: its key stands twice`));
      return true;
    });
  }
});
