import assert from 'node:assert/strict';
import { appendFileSync, closeSync, openSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { eachLine, type Line, newHash } from '../../scripts/rollout/lines.ts';
import { temporaryFolder } from '../support/repository.ts';

test('only a line feed ends a line: U+2028 and a lone carriage return are text', async (t) => {
  const lines = await linesOf(t, 'a\u2028b\u2029c\r\nd\re\n\u0085f\n');
  assert.deepEqual(texts(lines), ['a\u2028b\u2029c', 'd\re', '\u0085f']);
});

test('a byte order mark is no part of the first line, and stays in others', async (t) => {
  const lines = await linesOf(t, '\uFEFF{"a":1}\n\uFEFFx\n');
  assert.deepEqual(texts(lines), ['{"a":1}', '\uFEFFx']);
});

test('a last line without an end is a line; numbers and offsets count every line', async (t) => {
  const lines = await linesOf(t, 'one\n\r\n\ntwo');
  assert.deepEqual(
    lines.map(({ number, offset, text }) => [number, offset, text]),
    [
      [1, 0, 'one'],
      [2, 4, ''],
      [3, 6, ''],
      [4, 7, 'two'],
    ],
  );
});

test('lines longer than a chunk come whole', async (t) => {
  const long = 'é'.repeat(700_000);
  const lines = await linesOf(t, `x\n${long}\ny\n`);
  assert.deepEqual([lines.length, lines[1]?.text === long, lines[2]?.text], [3, true, 'y']);
});

test('a line of 50 MB is counted and not held, and the next one is read', async (t) => {
  const path = join(temporaryFolder(t), 'big.jsonl');
  const file = openSync(path, 'w');
  writeSync(file, '{"a":1}\n');
  const block = Buffer.alloc(1024 * 1024, 'QUJD');
  for (let megabytes = 0; megabytes < 50; megabytes += 1) writeSync(file, block);
  writeSync(file, '\n{"b":2}\n');
  closeSync(file);
  const lines: Line[] = [];
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  await eachLine(path, newHash(), (line) => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    lines.push({ ...line, bytes: Buffer.from(line.bytes) });
  });
  assert.deepEqual(
    lines.map((line) => [line.number, line.tooLong, line.bytes.toString()]),
    [
      [1, false, '{"a":1}'],
      [2, true, ''],
      [3, false, '{"b":2}'],
    ],
  );
  assert.equal(lines[2]?.offset, 8 + 50 * 1024 * 1024 + 1);
  assert.ok(most < 45 * 1024 * 1024, `${most} bytes held`);
});

test('a file that grows while it is read gives what it had when it was opened', async (t) => {
  const path = join(temporaryFolder(t), 'growing.jsonl');
  writeFileSync(path, 'one\ntwo\n');
  const seen: string[] = [];
  const end = await eachLine(path, newHash(), (line) => {
    seen.push(line.bytes.toString());
    appendFileSync(path, 'later\n');
  });
  assert.deepEqual([seen, end], [['one', 'two'], { lines: 2, bytes: 8 }]);
});

test('an empty file has no line', async (t) => {
  assert.deepEqual(await linesOf(t, ''), []);
});

test('a symbolic link is not read', async (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'secret'), 'x\n');
  symlinkSync(join(folder, 'secret'), join(folder, 'link.jsonl'));
  await assert.rejects(
    eachLine(join(folder, 'link.jsonl'), newHash(), () => assert.fail('read')),
    /ELOOP/,
  );
});

test('reading stops when it is told to', async (t) => {
  const path = join(temporaryFolder(t), 'long.jsonl');
  writeFileSync(path, 'line\n'.repeat(1000));
  await assert.rejects(
    eachLine(path, newHash(), () => undefined, AbortSignal.abort(new Error('enough'))),
    /enough/,
  );
});

async function linesOf(t: TestContext, content: string): Promise<{ number: number; offset: number; text: string }[]> {
  const path = join(temporaryFolder(t), 'lines.jsonl');
  writeFileSync(path, content);
  const lines: { number: number; offset: number; text: string }[] = [];
  await eachLine(path, newHash(), ({ number, offset, bytes }) =>
    lines.push({ number, offset, text: bytes.toString() }),
  );
  return lines;
}

function texts(lines: readonly { text: string }[]): string[] {
  return lines.map((line) => line.text);
}
