import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../scripts/model/types.ts';
import type { Abilities } from '../support/api-refusals.ts';
import type { Behaviour } from '../support/api-types.ts';
import { aRequest, noteSchema, readTool } from '../support/model-requests.ts';
import { serveModel } from '../support/model-server.ts';

for (const wire of ['chat', 'responses'] as const) {
  for (const stream of [true, false]) {
    const shape = `${wire}, ${stream ? 'streamed' : 'whole'}`;

    test(`a reply has its text, its tokens and the server's name of the model (${shape})`, async (t) => {
      const behave = (): Behaviour => ({ text: 'Ünïcode 😀 text.', usage: { input: 100, cached: 60, output: 9 } });
      const { model, server } = await serveModel(t, { behave, apiKey: 'test-key-123' }, { wire, stream });
      assert.deepEqual(await model.ask(aRequest()), {
        text: 'Ünïcode 😀 text.',
        toolCalls: [],
        finish: 'stop',
        usage: { requests: 1, input: 100, cached: 60, output: 9 },
        model: 'small-model',
      });
      assert.deepEqual(server.requests[0]?.texts, ['You extract memories.', 'The session.']);
    });

    test(`a schema goes along strictly (${shape})`, async (t) => {
      const { model, server } = await serveModel(t, { behave: () => ({ text: '{"note":"x"}' }) }, { wire, stream });
      assert.equal((await model.ask(aRequest({ schema: noteSchema }))).text, '{"note":"x"}');
      const { response_format, text } = server.requests[0]?.body ?? {};
      assert.deepEqual(
        wire === 'chat' ? response_format : text,
        wire === 'chat'
          ? { type: 'json_schema', json_schema: { ...noteSchema, strict: true } }
          : { format: { type: 'json_schema', ...noteSchema, strict: true } },
      );
    });

    test(`calls of tools, several at once, come back and their results go along (${shape})`, async (t) => {
      const behave = (_: unknown, index: number): Behaviour =>
        index === 0
          ? {
              text: 'Let me look.',
              calls: [
                { name: 'read', arguments: { path: 'a.md' } },
                { name: 'read', arguments: { path: 'b "quoted".md' } },
              ],
            }
          : { text: 'Done.' };
      const { model, server } = await serveModel(t, { behave }, { wire, stream });
      const asked = aRequest({ tools: [readTool] });
      const first = await model.ask(asked);
      assert.equal(first.finish, 'tool_calls');
      assert.equal(first.text, 'Let me look.');
      assert.deepEqual(first.toolCalls, [
        { id: 'call_1', name: 'read', arguments: '{"path":"a.md"}' },
        { id: 'call_2', name: 'read', arguments: '{"path":"b \\"quoted\\".md"}' },
      ]);
      const messages: Message[] = [
        ...asked.messages,
        { role: 'assistant', text: first.text, toolCalls: first.toolCalls },
        ...first.toolCalls.map((call): Message => ({ role: 'tool', callId: call.id, text: `content of ${call.id}` })),
      ];
      assert.equal((await model.ask({ ...asked, messages })).text, 'Done.');
      assert.ok(server.requests[1]?.texts.includes('content of call_2'));
    });

    test(`a reply that was cut at its length and a refusal are replies (${shape})`, async (t) => {
      const behaviours: Behaviour[] = [
        { text: 'Half a', finish: 'length' },
        { refusal: 'I will not.' },
        { text: '', finish: 'content_filter' },
        { text: '' },
      ];
      const { model } = await serveModel(
        t,
        { behave: (_, index) => behaviours[index] ?? { status: 500 } },
        { wire, stream },
      );
      const replies = [
        await model.ask(aRequest()),
        await model.ask(aRequest()),
        await model.ask(aRequest()),
        await model.ask(aRequest()),
      ];
      assert.deepEqual(
        replies.map(({ finish, text }) => [finish, text]),
        [
          ['length', 'Half a'],
          ['refusal', 'I will not.'],
          ['refusal', ''],
          ['stop', ''],
        ],
      );
    });

    test(`what the model thought aloud is no part of the reply (${shape})`, async (t) => {
      const { model } = await serveModel(
        t,
        { behave: () => ({ text: '<think>Hm. {"a":1}</think>\n\n{"note":"x"}' }) },
        { wire, stream },
      );
      assert.equal((await model.ask(aRequest())).text, '{"note":"x"}');
    });

    test(`a server that counts no tokens gets an estimate, never zero (${shape})`, async (t) => {
      const { model } = await serveModel(
        t,
        { behave: () => ({ text: 'Hello there.', withoutUsage: true }) },
        { wire, stream },
      );
      const { usage } = await model.ask(aRequest());
      assert.ok(usage.input >= 8 && usage.output >= 3);
    });
  }
}

const refusals: readonly [
  string,
  'auto' | 'chat' | 'responses',
  Abilities,
  number,
  (body: Readonly<Record<string, unknown>>) => boolean,
][] = [
  ['no /responses', 'auto', { responses: false }, 2, (body) => Array.isArray(body.messages)],
  [
    'no json_schema',
    'chat',
    { jsonSchema: false },
    2,
    (body) => /"json_object"/.test(JSON.stringify(body)) && /JSON Schema/.test(JSON.stringify(body.messages)),
  ],
  [
    'no json_schema on /responses',
    'responses',
    { jsonSchema: false },
    2,
    (body) => /"json_object"/.test(JSON.stringify(body.text)) && /JSON Schema/.test(JSON.stringify(body.input)),
  ],
  [
    'no JSON mode at all',
    'chat',
    { jsonSchema: false, jsonObject: false },
    3,
    (body) => body.response_format === undefined && /JSON Schema/.test(JSON.stringify(body.messages)),
  ],
  [
    'no max_completion_tokens',
    'chat',
    { maxCompletionTokens: false },
    2,
    (body) => body.max_tokens === 1000 && body.max_completion_tokens === undefined,
  ],
  ['no effort', 'chat', { reasoningEffort: false }, 2, (body) => body.reasoning_effort === undefined],
  ['no effort on /responses', 'responses', { reasoningEffort: false }, 2, (body) => body.reasoning === undefined],
  [
    'no stream_options',
    'chat',
    { streamOptions: false },
    2,
    (body) => body.stream === true && body.stream_options === undefined,
  ],
  ['no streams', 'chat', { stream: false }, 2, (body) => body.stream === undefined],
  [
    'nothing of it all',
    'auto',
    {
      responses: false,
      jsonSchema: false,
      jsonObject: false,
      maxCompletionTokens: false,
      reasoningEffort: false,
      streamOptions: false,
      stream: false,
    },
    8,
    (body) => Object.keys(body).sort().join() === 'max_tokens,messages,model',
  ],
];

for (const [name, wire, abilities, requests, holds] of refusals) {
  test(`a server with ${name} is asked in what it knows, and the next time at once`, async (t) => {
    const { model, server, waits } = await serveModel(
      t,
      { abilities, behave: () => ({ text: '{"note":"x"}' }) },
      { wire },
    );
    const asked = aRequest({ schema: noteSchema, effort: 'low' });
    assert.equal((await model.ask(asked)).usage.requests, requests);
    assert.ok(holds(server.requests.at(-1)?.body ?? {}), JSON.stringify(server.requests.at(-1)?.body));
    assert.equal((await model.ask(asked)).usage.requests, 1);
    assert.equal(server.requests.length, requests + 1);
    assert.deepEqual(waits, []);
  });
}

test('requests that learn at the same time learn together', async (t) => {
  const { model, server } = await serveModel(
    t,
    { abilities: { responses: false, jsonSchema: false } },
    { wire: 'auto' },
  );
  await Promise.all(Array.from({ length: 8 }, () => model.ask(aRequest({ schema: noteSchema }))));
  const before = server.requests.length;
  await model.ask(aRequest({ schema: noteSchema }));
  assert.equal(server.requests.length, before + 1);
});

test('only `auto` leaves /responses', async (t) => {
  const { model } = await serveModel(t, { abilities: { responses: false } }, { wire: 'responses' });
  await assert.rejects(model.ask(aRequest()), /Invalid URL/);
});

const strangers: readonly [string, Behaviour][] = [
  ['405', { status: 405, body: 'Method Not Allowed' }],
  [
    'a 422 that misses chat messages',
    { status: 422, body: '{"detail":[{"type":"missing","loc":["body","messages"],"msg":"Field required"}]}' },
  ],
  [
    '200 with an error',
    { raw: '{"error":"Unexpected endpoint or method. (POST /v1/responses)"}', contentType: 'application/json' },
  ],
];

for (const [name, behaviour] of strangers) {
  test(`a server that answers /responses with ${name} is asked by chat`, async (t) => {
    const behave = (request: { path: string }): Behaviour =>
      request.path === '/v1/responses' ? behaviour : { text: 'By chat.' };
    const { model } = await serveModel(t, { behave }, { wire: 'auto' });
    assert.equal((await model.ask(aRequest())).text, 'By chat.');
  });
}

test('a wrong value is not taken for an unknown parameter', async (t) => {
  const message = 'max_completion_tokens is too large: 999999. This model supports at most 16384 completion tokens.';
  const { model, server } = await serveModel(t, {
    behave: () => ({ status: 400, error: { message, param: 'max_completion_tokens' } }),
  });
  await assert.rejects(model.ask(aRequest()), /too large/);
  assert.equal(server.requests.length, 1);
});

test('a request that is too long is not taken for one with an unknown parameter', async (t) => {
  const message = "The maximum context length is 4096; 'max_completion_tokens' is invalid, reduce the length.";
  const { model, server } = await serveModel(t, { behave: () => ({ status: 400, error: { message } }) });
  await assert.rejects(model.ask(aRequest()), /too long for the model/);
  assert.equal(server.requests.length, 1);
});

test('a server that streams unasked, or answers whole where a stream was asked for, is understood', async (t) => {
  const stream =
    'data: {"choices":[{"delta":{"content":"Streamed."},"finish_reason":"stop"}]}\r\n\r\n: comment\r\n\r\ndata: [DONE]\r\n\r\n';
  const unasked = await serveModel(
    t,
    { behave: () => ({ raw: stream, contentType: 'text/plain' }) },
    { stream: false },
  );
  assert.equal((await unasked.model.ask(aRequest())).text, 'Streamed.');
  const whole =
    '{"choices":[{"message":{"content":[{"type":"thinking","text":"Hm."},{"type":"text","text":"Whole."}]}}]}';
  const asked = await serveModel(t, { behave: () => ({ raw: whole, contentType: 'application/json' }) });
  assert.equal((await asked.model.ask(aRequest())).text, 'Whole.');
});

test('calls of lesser servers are understood: no id, arguments as an object, finish "stop"', async (t) => {
  const call = '{"function":{"name":"read","arguments":{"path":"a"}}}';
  const raw = `{"choices":[{"finish_reason":"stop","message":{"content":null,"tool_calls":[${call},${call}]}}]}`;
  const { model } = await serveModel(t, { behave: () => ({ raw, contentType: 'application/json' }) });
  const reply = await model.ask(aRequest({ tools: [readTool] }));
  assert.equal(reply.finish, 'tool_calls');
  assert.deepEqual(
    reply.toolCalls.map((each) => [each.id, each.arguments]),
    [
      ['call_1', '{"path":"a"}'],
      ['call_2', '{"path":"a"}'],
    ],
  );
});

test('the allowance is the smallest share that the rate-limit headers leave', async (t) => {
  const headers = {
    'x-ratelimit-limit-requests': '100',
    'x-ratelimit-remaining-requests': '90',
    'x-ratelimit-limit-tokens': '1000',
    'x-ratelimit-remaining-tokens': '200',
  };
  const { model } = await serveModel(t, { behave: () => ({ text: 'x', headers }) });
  assert.equal((await model.ask(aRequest())).allowance, 0.2);
});

test('what other programs put into the environment changes neither address nor headers', async (t) => {
  t.after(() => {
    delete process.env.OPENAI_ORG_ID;
    delete process.env.OPENAI_BASE_URL;
  });
  process.env.OPENAI_ORG_ID = 'org-other';
  process.env.OPENAI_BASE_URL = 'http://127.0.0.1:1/v1';
  const { model, server } = await serveModel(t, {});
  await model.ask(aRequest());
  const [request] = server.requests;
  assert.equal(request?.headers.authorization, 'Bearer test-key-123');
  assert.equal(request?.headers['openai-organization'], undefined);
  assert.deepEqual(Object.keys(request?.body ?? {}).sort(), [
    'max_completion_tokens',
    'messages',
    'model',
    'stream',
    'stream_options',
  ]);
});
