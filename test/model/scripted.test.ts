import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelError } from '../../scripts/model/errors.ts';
import { createScriptedModel } from '../../scripts/model/scripted.ts';
import { aRequest } from '../support/model-requests.ts';

test('the first entry that fits and is not used up answers', async () => {
  const model = createScriptedModel([
    { when: ({ purpose }) => purpose === 'phase2', reply: { toolCalls: [{ id: 'c', name: 'list', arguments: '{}' }] } },
    { reply: 'one' },
    { reply: 'more', times: 2 },
  ]);
  const asked = async (purpose: 'phase1' | 'phase2') => model.ask(aRequest({ purpose }));
  assert.equal((await asked('phase1')).text, 'one');
  assert.equal((await asked('phase2')).finish, 'tool_calls');
  assert.equal((await asked('phase2')).text, 'more');
  assert.equal((await asked('phase1')).text, 'more');
  await assert.rejects(asked('phase1'), /no answer for phase1 thread-1/);
  assert.equal(model.requests.length, 5);
});

test('a script may fail as a server does, and an abort is an abort', async () => {
  const model = createScriptedModel((_, index) => (index === 0 ? new ModelError('key', 'No.', 'Check it.') : 'yes'));
  await assert.rejects(model.ask(aRequest()), (error) => error instanceof ModelError && error.stopsNight);
  assert.equal((await model.ask(aRequest())).text, 'yes');
  await assert.rejects(
    model.ask(aRequest(), AbortSignal.abort()),
    (error) => error instanceof ModelError && error.kind === 'aborted',
  );
});
