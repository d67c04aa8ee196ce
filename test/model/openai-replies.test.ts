import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonTextOf, salvage } from '../../scripts/model/json-text.ts';
import type { ModelReply } from '../../scripts/model/types.ts';
import { faults } from '../support/api-faults.ts';
import type { Behaviour } from '../support/api-types.ts';
import { aRequest, noteSchema } from '../support/model-requests.ts';
import { serveModel } from '../support/model-server.ts';

const right = '{"note":"It works.","more":"And this is the longer second half of it all."}';

const replies: readonly [string, Behaviour, ModelReply['finish'], string | null][] = [
  ['right', { text: right }, 'stop', right],
  ['fenced', faults.fenced(right), 'stop', right],
  ['thought over', faults.thinking(right), 'stop', right],
  ['wrapped in prose', faults.proseAround(right), 'stop', right],
  ['cut off', faults.truncatedJson(right), 'length', null],
  ['a continued conversation', faults.conversation(), 'stop', null],
  ['refused', faults.refusal(), 'refusal', null],
  ['filtered', faults.filtered(), 'refusal', null],
  ['empty', faults.empty(), 'stop', null],
];

for (const [name, behaviour, finish, json] of replies) {
  test(`an answer that is ${name} arrives and is told apart`, async (t) => {
    for (const wire of ['chat', 'responses'] as const) {
      const { model } = await serveModel(t, { behave: () => behaviour }, { wire });
      const reply = await model.ask(aRequest({ schema: noteSchema }));
      assert.equal(reply.finish, finish);
      assert.equal(jsonTextOf(reply.text), json);
    }
  });
}

test('of an answer that was cut off the complete fields are left', async (t) => {
  const { model } = await serveModel(t, { behave: () => faults.truncatedJson(right) });
  assert.deepEqual(salvage((await model.ask(aRequest())).text), { note: 'It works.' });
});

const passing: readonly [string, Behaviour][] = [
  ['rate limit', faults.rateLimit(2)],
  ['500', faults.serverError()],
  ['503', faults.overloaded()],
  ['cut body', faults.cutBody(right)],
  ['connection dropped before', faults.droppedBefore()],
  ['connection dropped in the middle', faults.droppedInTheMiddle()],
  ['stalled body', faults.stalled()],
];

for (const [name, fault] of passing) {
  test(`one ${name} costs one more request and no answer`, async (t) => {
    const behave = (_: unknown, index: number): Behaviour => (index === 0 ? fault : { text: right });
    const { model, waits } = await serveModel(t, { behave }, name === 'stalled body' ? { idleSeconds: 1 } : {});
    const reply = await model.ask(aRequest());
    assert.equal(reply.text, right);
    assert.equal(reply.usage.requests, 2);
    assert.equal(waits.length, 1);
  });
}

test('the list of models is what the server offers', async (t) => {
  const { server } = await serveModel(t, { models: ['small-model', 'large-model'] });
  const response = await fetch(`${server.baseUrl}/models`);
  assert.deepEqual(
    ((await response.json()) as { data: { id: string }[] }).data.map((model) => model.id),
    ['small-model', 'large-model'],
  );
});
