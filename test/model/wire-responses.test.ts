import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResponses } from '../../scripts/model/wire-responses.ts';

const message = { type: 'message', content: [{ type: 'output_text', text: 'whole' }] };
const completed = { type: 'response.completed', response: { status: 'completed', model: 'm', output: [message] } };
const delta = { type: 'response.output_text.delta', delta: 'who' };
const item = { type: 'response.output_item.done', item: message };

const ends: readonly [string, string][] = [
  ['an empty line', '\n\n'],
  ['nothing', ''],
  ['[DONE]', '\n\ndata: [DONE]\n\n'],
  ['CRLF and [DONE]', '\r\n\r\ndata: [DONE]\r\n\r\n'],
];

for (const [name, end] of ends) {
  test(`the last event of a stream that ends with ${name} holds the whole response`, () => {
    const reading = readResponses(`${events(delta, completed)}${end}`, true);
    assert.equal(reading.outcome === 'reply' && reading.text, 'whole');
  });
}

test('events before the last one need not be whole', () => {
  const reading = readResponses(`data: {"type":"response.out\n\n${events(completed)}\n\n`, true);
  assert.equal(reading.outcome === 'reply' && reading.text, 'whole');
});

test('a last event without its output, or in several lines, is read with all the others', () => {
  const bare = { type: 'response.completed', response: { status: 'completed', output: [] } };
  const lines = JSON.stringify(completed, null, 1).replace(/^/gm, 'data: ');
  for (const body of [`${events(delta, item, bare)}\n\n`, `${events(delta)}\n\n${lines}\n\n`]) {
    const reading = readResponses(body, true);
    assert.equal(reading.outcome === 'reply' && reading.text, 'whole');
  }
});

test('a stream that stops before the end, or ends in an error, is no reply', () => {
  assert.equal(readResponses(`${events(delta, item)}\n\n`, true).outcome, 'cut');
  assert.equal(readResponses(events(delta, completed).slice(0, -3), true).outcome, 'cut');
  assert.equal(
    readResponses(`${events(item, { type: 'error', error: { message: 'no' } })}\n\n`, true).outcome,
    'error',
  );
});

function events(...values: readonly object[]): string {
  return values.map((value) => `data: ${JSON.stringify(value)}`).join('\n\n');
}
