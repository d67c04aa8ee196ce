import assert from 'node:assert/strict';
import { test } from 'node:test';
import { optsOut, usedOutside } from '../../scripts/rollout/opt-out.ts';
import { redactRollout } from '../../scripts/rollout/redacted.ts';
import type { Item, Rollout } from '../../scripts/rollout/types.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { aThread } from '../support/rows.ts';

const redactor = createRedactor({});

function item(n: string, text: string, more: Partial<Item> = {}): Item {
  return { n, at: 1, who: 'human', kind: 'text', text, src: { line: 1 }, ...more };
}

function clean(...items: readonly Item[]): Rollout {
  const source = { agent: 'codex', lines: 1, bytes: 1, sha256: '' } as const;
  return redactRollout({ thread: aThread('t'), source, skipped: {}, redaction: {}, items }, redactor);
}

function texts(...items: readonly Item[]): string[] {
  return clean(...items).items.map(({ text }) => text);
}

test('a private passage leaves nothing but its place, whoever said it and however it is written', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['before <private>my salary</private> after', 'before [private] after'],
    ['<PRIVATE>x</Private>', '[private]'],
    ['a <private reason="law">x\r\ny</private>\r\nb', 'a [private]\r\nb'],
    ['a <private>x <private>y</private> z</private> b', 'a [private] b'],
    ['a <private>x</private> b <private>y</private> c', 'a [private] b [private] c'],
    ['a < private >x< / private > b', 'a [private] b'],
    ['never closed: <private>all of\nthis', 'never closed: [private]'],
    ['a &lt;private&gt;x&lt;/private&gt; b', 'a [private] b'],
    ['{"patch":"\\u003cprivate\\u003ex\\u003c/private\\u003e y"}', '{"patch":"[private] y"}'],
    [
      '<privateer> is a ship, and </private> alone closes nothing',
      '<privateer> is a ship, and </private> alone closes nothing',
    ],
    ['', ''],
  ];
  for (const [text, left] of cases) assert.deepEqual(texts(item('2', text)), [left], text);
  for (const who of ['assistant', 'commentary', 'other_agent', 'harness', 'tool'] as const)
    for (const kind of ['text', 'call', 'output'] as const)
      assert.deepEqual(texts(item('2', 'a <private>x</private>', { who, kind })), ['a [private]'], `${who} ${kind}`);
});

test('one message in several parts is one text; the next message begins anew', () => {
  assert.deepEqual(
    texts(
      item('2', 'a <private>x'),
      item('2.2', 'y'),
      item('2.3', 'z</private> b'),
      item('3', 'c <private>d'),
      item('4', 'e'),
    ),
    ['a [private]', '[private]', '[private] b', 'c [private]', 'e'],
  );
});

test('what an answer or a command repeats of it goes as well, and the title knows none of it', () => {
  const { items, thread, redaction } = clean(
    item('2', '<private>The customer is Halvorsen Shipping.</private> Fix the invoice.'),
    item('3', 'I see: The customer is Halvorsen Shipping. Fixed.', { who: 'assistant' }),
    item('4', 'grep -r "The customer is Halvorsen Shipping."', { who: 'tool', kind: 'call' }),
  );
  assert.doesNotMatch(JSON.stringify({ items, thread }), /Halvorsen/);
  assert.equal(thread.title, '[private] Fix the invoice.');
  assert.equal(redaction.private, 1, 'counted in the manifest');
});

test('a session without the mark is left as it is, a hostile one is read in linear time', () => {
  const plain = [item('2', 'Fix the build'), item('3', 'Done', { who: 'assistant' })];
  assert.deepEqual(clean(...plain).items, plain);
  const hostile = '<private '.repeat(50_000);
  assert.deepEqual(texts(item('2', hostile)), [hostile], 'no mark is ever complete');
  assert.deepEqual(texts(item('2', '<private>'.repeat(50_000))), ['[private]']);
});

test('the word keeps a session out where a person says it as a word', () => {
  const says = (text: string, who: Item['who'] = 'human') => optsOut([item('2', text, { who })]);
  for (const text of ['#no-memory', 'Look at this (#no-memory), please', 'x\n#NO-MEMORY.', '#no-memory: my taxes'])
    assert.ok(says(text), text);
  for (const text of ['#no-memory-leaks', 'a#no-memory', '/#no-memory', 'no-memory', '##no-memory', ''])
    assert.ok(!says(text), text);
  assert.ok(!says('#no-memory', 'tool') && !says('#no-memory', 'assistant'));
  assert.ok(optsOut([item('2', 'privat! bitte')], 'privat!'), 'a laptop has its own word');
});

test('the web and MCP servers are outside; our own server is not', () => {
  const call = (more: Partial<Item>) => usedOutside([item('2', '{}', { who: 'tool', kind: 'call', ...more })]);
  assert.ok(call({ does: 'web' }) && call({ does: 'mcp', tool: 'mcp__jira__get' }));
  assert.ok(!call({ does: 'mcp', tool: 'mcp__commit-to-memory__search' }) && !call({ does: 'shell' }));
});
