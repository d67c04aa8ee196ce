import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { ModelError, type ModelErrorKind } from '../../scripts/model/errors.ts';
import type { ModelReply } from '../../scripts/model/types.ts';
import { faults } from '../support/api-faults.ts';
import { startApiServer } from '../support/api-server.ts';
import type { Behaviour } from '../support/api-types.ts';
import { aRequest, readTool } from '../support/model-requests.ts';
import { serveModel } from '../support/model-server.ts';

const rateLimited: Behaviour = { status: 429, error: { message: 'Slow down.', code: 'rate_limit_exceeded' } };

test('a passing failure is tried again after 1, 2, 4 … seconds, more or less', async (t) => {
  for (const status of [408, 409, 429, 500, 502, 503, 504, 529]) {
    const { model, waits } = await serveModel(t, {
      behave: (_, index) => (index < 3 ? { status } : { text: 'At last.' }),
    });
    const reply = await model.ask(aRequest());
    assert.equal(reply.text, 'At last.');
    assert.equal(reply.usage.requests, 4);
    assert.deepEqual(
      waits.map((seconds, index) => seconds >= 0.75 * 2 ** index && seconds <= 1.25 * 2 ** index),
      [true, true, true],
    );
  }
});

test('the server says how long to wait, up to a minute', async (t) => {
  const asks = [{ 'retry-after': '7' }, { 'retry-after-ms': '250', 'retry-after': '9' }, { 'retry-after': '3600' }];
  const { model, waits } = await serveModel(t, {
    behave: (_, index) => (asks[index] ? { ...rateLimited, headers: asks[index] } : { text: 'ok' }),
  });
  await model.ask(aRequest());
  assert.deepEqual(waits, [7, 0.25, 60]);
});

test('after four tries more the failure is told with its kind and the number of tries', async (t) => {
  const { model, server } = await serveModel(t, { behave: () => rateLimited });
  const error = await failureOf(model.ask(aRequest()));
  assert.equal(error.kind, 'rate_limit');
  assert.equal(server.requests.length, 5);
  assert.match(error.message, /Slow down\..*after 5 tries/);
});

test('a server that says do not retry is not asked again', async (t) => {
  const { model, server } = await serveModel(t, {
    behave: () => ({ status: 500, headers: { 'x-should-retry': 'false' } }),
  });
  assert.equal((await failureOf(model.ask(aRequest()))).kind, 'server');
  assert.equal(server.requests.length, 1);
});

const final: readonly [string, Behaviour, ModelErrorKind, boolean][] = [
  ['401', faults.wrongKey(), 'key', true],
  ['403', faults.forbidden(), 'key', true],
  ['402', faults.unpaid(), 'quota', true],
  ['429 insufficient_quota', faults.insufficientQuota(), 'quota', true],
  ['403 without balance', { status: 403, error: { message: 'Insufficient account balance.' } }, 'quota', true],
  ['400 context length', faults.tooLong(), 'too_long', false],
  [
    '400 in a local server’s words',
    { status: 400, body: '{"object":"error","message":"This model\'s maximum context length is 4096 tokens."}' },
    'too_long',
    false,
  ],
  ['413', { status: 413, body: 'Payload too large' }, 'too_long', false],
  [
    '429 for a request over the whole limit',
    {
      status: 429,
      error: { message: 'Request too large for m: Limit 30000, Requested 90000.', code: 'rate_limit_exceeded' },
    },
    'too_long',
    false,
  ],
  ['400', { status: 400, error: { message: 'What is this?' } }, 'bad_request', false],
  [
    '404 of the model',
    { status: 404, error: { message: 'The model `x` does not exist.', code: 'model_not_found' } },
    'bad_request',
    false,
  ],
  [
    '422 in FastAPI’s words',
    { status: 422, body: '{"detail":[{"loc":["body","model"],"msg":"no such thing"}]}' },
    'bad_request',
    false,
  ],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/v1' }, body: '' }, 'bad_request', false],
  ['501', { status: 501 }, 'server', false],
];

for (const [name, behaviour, kind, stopsNight] of final) {
  test(`${name} is ${kind}, asked once, and ${stopsNight ? 'stops' : 'does not stop'} the night`, async (t) => {
    const { model, server } = await serveModel(t, { behave: () => behaviour });
    const error = await failureOf(model.ask(aRequest()));
    assert.equal(error.kind, kind);
    assert.equal(error.stopsNight, stopsNight);
    assert.equal(error.exitCode, stopsNight ? 4 : 1);
    assert.equal(server.requests.length, 1);
    assert.notEqual(error.hint, '');
  });
}

test('a limit per minute that speaks of quota and billing is still only a rate limit', async (t) => {
  const words = 'You exceeded your current quota, please check your plan and billing details.';
  const { model } = await serveModel(t, {
    behave: (_, index) => (index === 0 ? { status: 429, error: { message: words, code: '429' } } : { text: 'ok' }),
  });
  assert.equal((await model.ask(aRequest())).text, 'ok');
});

test('the server’s own words reach the person, the key never does', async (t) => {
  const { model } = await serveModel(t, { apiKey: 'another-key' });
  const error = await failureOf(model.ask(aRequest()));
  assert.match(error.message, /Incorrect API key provided: \[key\]/);
  assert.doesNotMatch(JSON.stringify([error.message, error.hint, error.stack]), /test-key-123/);
});

test('words of the server are one capped line without control characters', async (t) => {
  const words = `First\nsecond \u001b[31mred\u202e ${'long '.repeat(500)}`;
  const { model } = await serveModel(t, { behave: () => ({ status: 400, error: { message: words } }) });
  const { message } = await failureOf(model.ask(aRequest()));
  assert.match(message, /First second \[31mred long/);
  assert.ok(message.length < 400);
});

test('a web page with status 200 is told with its beginning, once', async (t) => {
  const { model, server } = await serveModel(t, { behave: faults.webPage });
  const error = await failureOf(model.ask(aRequest()));
  assert.equal(error.kind, 'server');
  assert.match(error.message, /text\/html.*<!DOCTYPE html>.*Please log in/);
  assert.equal(server.requests.length, 1);
});

test('an empty body, another program’s JSON and an answer without choices are no answers', async (t) => {
  for (const raw of ['', '{"status":"up"}', '{"choices":[]}', '[]', 'null', '"text"']) {
    for (const wire of ['chat', 'responses'] as const) {
      const { model } = await serveModel(t, { behave: () => ({ raw, contentType: 'application/json' }) }, { wire });
      assert.equal((await failureOf(model.ask(aRequest()))).kind, 'server');
    }
  }
});

for (const wire of ['chat', 'responses'] as const) {
  for (const stream of [true, false]) {
    const shape = `${wire}, ${stream ? 'streamed' : 'whole'}`;

    test(`an answer that is cut off is noticed and asked for twice more (${shape})`, async (t) => {
      for (const share of [0.5, 0.9]) {
        const cut: Behaviour = { cut: share, answer: { text: 'A long answer. '.repeat(20) } };
        const once = await serveModel(
          t,
          { behave: (_, index) => (index === 0 ? cut : { text: 'Whole.' }) },
          { wire, stream },
        );
        assert.equal((await once.model.ask(aRequest())).text, 'Whole.');
        const always = await serveModel(t, { behave: () => cut }, { wire, stream });
        const error = await failureOf(always.model.ask(aRequest()));
        assert.equal(error.kind, 'server');
        assert.match(error.message, /cut off/);
        assert.equal(always.server.requests.length, 3);
      }
    });

    test(`a connection that breaks in the middle is a network failure (${shape})`, async (t) => {
      const { model, server } = await serveModel(t, { behave: () => ({ drop: 'middle' }) }, { wire, stream });
      assert.equal((await failureOf(model.ask(aRequest()))).kind, 'network');
      assert.equal(server.requests.length, 3);
    });

    test(`a body that stalls is given up and asked for once more (${shape})`, async (t) => {
      const { model, server } = await serveModel(
        t,
        { behave: () => ({ stall: true, after: 40 }) },
        { wire, stream, idleSeconds: 0.05 },
      );
      const error = await failureOf(model.ask(aRequest()));
      assert.equal(error.kind, 'stalled');
      // A machine that is slow enough gives up before the server has heard of it, so the tries are counted here.
      assert.match(error.message, /no byte for 0\.05 s.*\(after 2 tries\)/);
      assert.ok(server.requests.length <= 2);
    });

    test(`a server that never answers is given up (${shape})`, async (t) => {
      const { model } = await serveModel(
        t,
        { behave: () => new Promise<Behaviour>(() => {}) },
        { wire, stream, timeoutSeconds: 0.1, idleSeconds: 9, maxRetries: 0 },
      );
      const error = await failureOf(model.ask(aRequest()));
      assert.equal(error.kind, 'stalled');
      assert.match(error.message, /no whole answer within 0.1 s/);
    });
  }
}

test('an error status whose body stalls is given up as well', async (t) => {
  const { model } = await serveModel(
    t,
    { behave: () => ({ stall: true, code: 500 }) },
    { idleSeconds: 0.05, maxRetries: 0 },
  );
  assert.equal((await failureOf(model.ask(aRequest()))).kind, 'stalled');
});

test('a whole answer that takes longer than the idle time is waited for', async (t) => {
  const slow = async (): Promise<Behaviour> => {
    await delay(40);
    return { text: 'Slow.' };
  };
  const { model } = await serveModel(t, { behave: slow }, { stream: false, idleSeconds: 0.005 });
  assert.equal((await model.ask(aRequest())).text, 'Slow.');
});

test('a connection that breaks before the answer, and an address where nobody listens, are network failures', async (t) => {
  const dropped = await serveModel(t, { behave: (_, index) => (index === 0 ? { drop: 'before' } : { text: 'ok' }) });
  assert.equal((await dropped.model.ask(aRequest())).text, 'ok');

  const gone = await startApiServer();
  await gone.close();
  const { model, waits } = await serveModel(t, {}, { baseUrl: gone.baseUrl });
  const error = await failureOf(model.ask(aRequest()));
  assert.equal(error.kind, 'network');
  assert.match(error.message, /ECONNREFUSED/);
  assert.equal(waits.length, 4);
});

test('an error inside a stream or behind status 200 counts as what it says', async (t) => {
  const quota = '{"error":{"message":"No credits.","code":402}}';
  const behaviours: Behaviour[] = [
    { raw: `data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: ${quota}\n\n`, contentType: 'text/event-stream' },
    { raw: quota, contentType: 'application/json' },
  ];
  for (const behaviour of behaviours) {
    const { model } = await serveModel(t, { behave: () => behaviour });
    assert.equal((await failureOf(model.ask(aRequest()))).kind, 'quota');
  }
  const failed = 'data: {"type":"response.failed","response":{"error":{"code":"server_error","message":"Oops."}}}\n\n';
  const { model, server } = await serveModel(
    t,
    { behave: () => ({ raw: failed, contentType: 'text/event-stream' }) },
    { wire: 'responses' },
  );
  assert.equal((await failureOf(model.ask(aRequest()))).kind, 'server');
  assert.equal(server.requests.length, 5);
});

test('a prompt that a filter turns away is a refusal, not an error of the service', async (t) => {
  const filtered: Behaviour[] = [
    {
      status: 400,
      error: { message: 'The response was filtered due to the content management policy.', code: 'content_filter' },
    },
    { status: 403, error: { message: 'Your chosen model requires moderation and your input was flagged.' } },
  ];
  for (const behaviour of filtered) {
    const { model } = await serveModel(t, { behave: () => behaviour });
    assert.equal((await model.ask(aRequest())).finish, 'refusal');
  }
});

test('a model without tools is named as such', async (t) => {
  const { model, server } = await serveModel(t, { abilities: { tools: false } });
  const error = await failureOf(model.ask(aRequest({ tools: [readTool] })));
  assert.equal(error.kind, 'bad_request');
  assert.match(error.message, /cannot use tools.*does not support tools/);
  assert.match(error.hint, /model\.consolidation_model/);
  assert.equal(server.requests.length, 1);
});

test('an abort ends a request under way, a wait between tries, and what has not begun', async (t) => {
  const during = new AbortController();
  const abortAndHang = () => {
    during.abort();
    return new Promise<Behaviour>(() => {});
  };
  const hanging = await serveModel(t, { behave: abortAndHang });
  assert.equal((await failureOf(hanging.model.ask(aRequest(), during.signal))).kind, 'aborted');

  const between = new AbortController();
  const waiting = await serveModel(t, { behave: () => rateLimited }, { wait: async () => between.abort() });
  assert.equal((await failureOf(waiting.model.ask(aRequest(), between.signal))).kind, 'aborted');
  assert.equal(waiting.server.requests.length, 1);

  const before = await serveModel(t, {});
  assert.equal((await failureOf(before.model.ask(aRequest(), AbortSignal.abort()))).kind, 'aborted');
  assert.equal(before.server.requests.length, 0);
});

test('an address or a key that no request can be made with is an error of use that does not show the key', async (t) => {
  for (const baseUrl of ['', 'localhost:1234', 'ftp://host/v1', 'http://user:pass@host/v1']) {
    await assert.rejects(serveModel(t, {}, { baseUrl }), /model\.base_url/);
  }
  await assert.rejects(
    serveModel(t, {}, { apiKey: 'two\nlines' }),
    (error: Error) => !/two|lines\n/.test(error.message),
  );
});

test('a server that asks for no key gets along without one', async (t) => {
  const { model } = await serveModel(t, {}, { apiKey: '' });
  assert.equal((await model.ask(aRequest())).text, 'Hello.');
});

async function failureOf(asked: Promise<ModelReply>): Promise<ModelError> {
  const error = await asked.then(
    (reply) => assert.fail(`answered: ${reply.text}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ModelError)) throw error;
  return error;
}
