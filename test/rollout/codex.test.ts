import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryClose, memoryOpen, ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import {
  brief,
  codexId,
  codexItem,
  codexMessage,
  codexMeta,
  readSpec,
  samples,
  sessionOf,
} from '../support/sessions.ts';

const exec = (name: string) => join(samples, 'codex', name);

test('a correction: who said what, and how each command ended', async () => {
  const session = await recorded(
    'exec/04-user-correction/rollout-2026-11-29T23-44-06-01a229b1-c5f6-7ca0-8a1d-0d4b795e591b.jsonl',
  );
  assert.deepEqual(brief(session.items.slice(2), 30), [
    '8 human/text Add retries with exponential b',
    '10 tool/call cat fetch.py requirements.txt',
    '13 tool/output 0 import json import urllib.requ',
    '16 commentary/text I’ll use tenacity for the back',
    '17 tool/call *** Begin Patch *** Update Fil',
    '20 tool/output 0 Success. Updated the following',
    '22 tool/call python3 -c "import fetch"',
    '25 tool/output 1 Traceback (most recent call la',
    '28 assistant/text Added `tenacity`-based retries',
    "35 human/text No, that's wrong. requirements",
    '38 commentary/text Reverting the dependency and w',
    '39 tool/call git checkout -- requirements.t',
    '42 tool/output 0',
    '44 tool/call *** Begin Patch *** Update Fil',
    '47 tool/output 0 Success. Updated the following',
    "49 tool/call python3 - <<'PY' import time,",
    '52 tool/output 0 URLError after 0.3 s: [Errno 1',
    '55 assistant/text Reverted the dependency and re',
  ]);
  assert.deepEqual(session.items[6]?.files, ['requirements.txt', 'fetch.py']);
  assert.deepEqual(
    [session.id, session.origin, session.kind, session.branch, session.remote],
    ['01a229b1-c5f6-7ca0-8a1d-0d4b795e591b', 'exec', 'root', 'main', 'https://git.example.test/acme/etl-job.git'],
  );
});

test('events beside response items say nothing twice, in the paginated and the older history', async () => {
  const paginated = await recorded(
    'exec/01-py-bugfix/rollout-2026-11-29T23-42-52-01a229b0-a4cb-70d0-9c00-6fba5df96ff3.jsonl',
  );
  const legacy = await recorded(
    'legacy/01-py-bugfix/rollout-2026-11-30T00-19-38-01a229d2-4e67-7ee3-a545-ebc8a286abdb.jsonl',
  );
  for (const { items } of [paginated, legacy]) {
    assert.equal(items.filter((item) => item.who === 'human').length, 1);
    assert.equal(items.filter((item) => item.who === 'assistant').length, 1);
    assert.equal(new Set(items.map((item) => `${item.who} ${item.kind} ${item.text} ${item.call}`)).size, items.length);
  }
  assert.deepEqual(
    paginated.items.filter((item) => item.kind === 'output').map((item) => item.exit),
    legacy.items.filter((item) => item.kind === 'output').map((item) => item.exit),
  );
});

test("instruction files and the environment are the harness's, part by part", async () => {
  const { items } = await recorded(
    'exec/01-py-bugfix/rollout-2026-11-29T23-42-52-01a229b0-a4cb-70d0-9c00-6fba5df96ff3.jsonl',
  );
  assert.deepEqual(brief(items.slice(1, 4), 24), [
    '4 harness/text # AGENTS.md instructions',
    '4.2 harness/text <environment_context> <c',
    '8 human/text Two tests in tests/test_',
  ]);
});

test("nothing after a compaction is lost, and its summary is nobody's final words", async () => {
  const { items } = await recorded(
    'exec/09-compaction/rollout-2026-11-29T23-45-40-01a229b3-34e7-7e93-a23a-f6b7f2456ff4.jsonl',
  );
  assert.equal(items.find((item) => item.text.startsWith('HANDOFF:'))?.who, 'harness');
  assert.equal(items.filter((item) => item.who === 'human').length, 1);
  assert.deepEqual(
    items.filter((item) => item.who === 'assistant').map((item) => item.n),
    ['48'],
  );
  const large = items.find((item) => item.n === '18');
  assert.ok((large?.text.length ?? 0) < 33_000 && large?.text.includes('bytes omitted …]'));
});

test("an interruption is the harness's, a refused command and a failed patch are failures", async () => {
  const interrupted = await recorded(
    'exec/12-interrupted/rollout-2026-11-29T23-46-11-01a229b3-b12f-7100-95c2-e3b54b89b471.jsonl',
  );
  assert.deepEqual(brief(interrupted.items.slice(-3), 18), [
    '12 tool/call sleep 60 && echo f',
    '14 tool/output Wall time: 7.0 sec',
    '16 harness/text <turn_aborted> The',
  ]);
  const refused = await recorded(
    'exec/13-shell-fix/rollout-2026-11-29T23-46-21-01a229b3-d5bf-73b3-bd40-05adfb3131ea.jsonl',
  );
  assert.deepEqual(
    refused.items.filter((item) => item.kind === 'output').map((item) => [item.n, item.exit]),
    [
      ['13', 0],
      ['17', 1],
      ['22', 0],
      ['26', 1],
      ['33', 0],
    ],
  );
});

test("an editor's session is of origin ide", async () => {
  const session = await recorded(
    'vscode/08-trivial/rollout-2026-11-29T23-49-44-01a229b6-f0df-7de0-aac2-3a9cacd6d4e5.jsonl',
  );
  assert.deepEqual([session.origin, session.remote], ['ide', null]);
});

test("spec: the first versions' lines are the items themselves, under a header without a type", async (t) => {
  const session = sessionOf(
    await readSpec(t, 'codex', [
      {
        id: codexId,
        timestamp: '2025-08-01T10:00:00.000Z',
        instructions: null,
        git: { branch: 'main', repository_url: 'git@git.example.test:acme/app.git' },
      },
      { record_type: 'state' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: '<environment_context>\n<cwd>/home/dana/src/app</cwd>\n</environment_context>' },
        ],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Run the tests' }] },
      { type: 'reasoning', summary: [], encrypted_content: 'x' },
      { type: 'function_call', name: 'shell', arguments: '{"command":["bash","-lc","npm test"]}', call_id: 'c1' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: '{"output":"1 failing","metadata":{"exit_code":1,"duration_seconds":2}}',
      },
      { type: 'local_shell_call', call_id: 'c2', action: { type: 'exec', command: ['git', 'commit', '-m', "it's"] } },
      {
        type: 'function_call',
        name: 'shell',
        arguments: '{"command":["apply_patch","*** Begin Patch\\n*** Update File: a.ts\\n*** End Patch"]}',
        call_id: 'c3',
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'One fails.' }] },
    ]),
  );
  assert.deepEqual(brief(session.items), [
    '3 harness/text <environment_context> <cwd>~/src/app</cw',
    '4 human/text Run the tests',
    '6 tool/call npm test',
    '7 tool/output 1 1 failing',
    "8 tool/call git commit -m 'it'\\''s'",
    '9 tool/call *** Begin Patch *** Update File: a.ts **',
    '10 assistant/text One fails.',
  ]);
  assert.deepEqual([session.items[5]?.does, session.items[5]?.files], ['edit', ['a.ts']]);
  assert.deepEqual([session.cwd, session.remote], ['/home/dana/src/app', 'git@git.example.test:acme/app.git']);
});

test('spec: without kinds, what a message begins with tells whose it is', async (t) => {
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      codexMessage('developer', ['Be brief.']),
      codexMessage('user', [
        '# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>',
        'Fix the build',
      ]),
      codexMessage('user', ['<skill>\n<name>deploy</name>\nSteps\n</skill>']),
      codexMessage('user', ['<subagent_notification>\n{"agent":"x"}\n</subagent_notification>']),
      codexMessage('user', ['Message Type: task\nTask name: a\nSender: root\nPayload:\nlook at it']),
      codexMessage('user', [
        '# Context from my IDE setup:\n\n## Active file: a.ts\n\n## My request for Codex:\nRename it\n',
      ]),
      codexMessage('user', ['What does <skill> mean in a sentence?']),
      codexMessage('user', [`${memoryOpen}\nUse pnpm.\n${memoryClose}\n\nGo on`]),
      codexMessage('user', [
        '<user_shell_command>\n<command>\nls\n</command>\n<result>\nExit code: 2\nDuration: 0.1 seconds\nOutput:\nno such file\n</result>\n</user_shell_command>',
      ]),
    ]),
  );
  assert.deepEqual(brief(session.items, 30), [
    '2 harness/text Be brief.',
    '3 harness/text # AGENTS.md instructions for /',
    '3.2 human/text Fix the build',
    '4 harness/text <skill> <name>deploy</name> St',
    '5 other_agent/text <subagent_notification> {"agen',
    '6 other_agent/text Message Type: task Task name:',
    '7 harness/text # Context from my IDE setup: #',
    '7.2 human/text Rename it',
    '8 human/text What does <skill> mean in a se',
    '9 harness/text <commit-to-memory v="1"> Use p',
    '9.2 human/text Go on',
    '10 human/call ls',
    '10.2 tool/output 2 no such file',
  ]);
});

test('spec: kinds decide where a version gives them', async (t) => {
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      codexMessage('user', ['Use tabs.', 'Now fix it'], {}, ['agents_md.instructions', 'user.text']),
      codexMessage('user', ['look into a.ts'], {}, ['multi_agent.task']),
      codexMessage('assistant', ['On it.'], { phase: 'commentary' }, ['unknown']),
      codexMessage('assistant', ['Done.'], { phase: 'final_answer' }, ['unknown']),
      codexItem({
        type: 'agent_message',
        author: 'b',
        recipient: 'a',
        content: [{ type: 'input_text', text: 'I looked' }],
      }),
    ]),
  );
  assert.deepEqual(brief(session.items), [
    '2 harness/text Use tabs.',
    '2.2 human/text Now fix it',
    '3 other_agent/text look into a.ts',
    '4 commentary/text On it.',
    '5 assistant/text Done.',
    '6 other_agent/text I looked',
  ]);
});

test("spec: a person's answer to a question is theirs, an empty one is nobody's", async (t) => {
  const ask = (id: string) =>
    codexItem({
      type: 'function_call',
      name: 'request_user_input',
      call_id: id,
      arguments: '{"questions":[{"id":"db","question":"Which database?"}]}',
    });
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      codexMessage('user', ['Set it up']),
      ask('c1'),
      codexItem({ type: 'function_call_output', call_id: 'c1', output: '{"answers":{"db":{"answers":["Postgres"]}}}' }),
      ask('c2'),
      codexItem({ type: 'function_call_output', call_id: 'c2', output: '{"answers":{"db":{"answers":[" "]}}}' }),
    ]),
  );
  assert.deepEqual(
    brief(session.items, 60).filter((line) => !line.includes('/call')),
    [
      '2 human/text Set it up',
      '4 human/text Asked: Which database? Answer: Postgres',
      '6 tool/output {"answers":{"db":{"answers":[" "]}}}',
    ],
  );
});

test('spec: events count where no response item says it', async (t) => {
  const event = (payload: object) => ({ timestamp: '2026-11-29T10:00:03Z', type: 'event_msg', payload });
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      event({ type: 'user_message', message: 'Fix the login' }),
      event({ type: 'agent_message', message: 'Fixed.' }),
      codexItem({ type: 'function_call', name: 'shell', call_id: 'c', arguments: '{"command":["make"]}' }),
      codexItem({ type: 'function_call_output', call_id: 'c', output: 'boom' }),
      event({ type: 'exec_command_end', call_id: 'c', exit_code: 2 }),
    ]),
  );
  assert.deepEqual(brief(session.items), [
    '2 human/text Fix the login',
    '3 assistant/text Fixed.',
    '4 tool/call make',
    '5 tool/output 2 boom',
  ]);
});

test('spec: sub-agents, ephemeral sessions and our own runs are told apart from root sessions', async (t) => {
  const kind = async (fields: object, text = 'Hello') =>
    sessionOf(await readSpec(t, 'codex', [codexMeta(fields), codexMessage('user', [text])])).kind;
  assert.equal(await kind({}), 'root');
  assert.equal(await kind({ source: { subagent: { thread_spawn: { parent_thread_id: 'x' } } } }), 'sub_agent');
  assert.equal(await kind({ thread_source: 'subagent' }), 'sub_agent');
  assert.equal(await kind({ ephemeral: true }), 'ephemeral');
  assert.equal(await kind({}, `${ownRun}\nConsolidate.\n${memoryClose}`), 'own');
  assert.equal(await kind({}, `${memoryOpen}\nUse pnpm.\n${memoryClose}\nHello`), 'root');
});

test("without metadata the file's name gives id and time; without both the file is refused", async (t) => {
  const lines = [codexMessage('user', ['Hello'])];
  const named = sessionOf(await readSpec(t, 'codex', lines));
  assert.deepEqual([named.id, named.startedAt], [codexId, 1795946400]);
  assert.deepEqual(await readSpec(t, 'codex', lines, 'notes.jsonl'), {
    outcome: 'ignored',
    reason: 'no session metadata, and the file name holds no id',
  });
});

test('files that are no rollout are told why', async (t) => {
  const reason = async (lines: (object | string)[]) => {
    const reading = await readSpec(t, 'codex', lines, 'x.jsonl');
    return reading.outcome === 'ignored' ? reading.reason : 'read';
  };
  assert.equal(await reason([]), 'empty');
  assert.equal(await reason(['\n\n']), 'not a Codex rollout');
  assert.equal(await reason([{ hook_event_name: 'Stop', session_id: 'x' }]), 'not a Codex rollout');
  assert.equal(await reason(['not json\n']), 'not a Codex rollout');
});

test('wrong clocks: a time that cannot be is none', async (t) => {
  const at = async (timestamp: unknown) => {
    const said = { ...codexMessage('user', ['Hello']), timestamp };
    return sessionOf(await readSpec(t, 'codex', [codexMeta(), said])).items[0]?.at;
  };
  assert.equal(await at('2026-11-29T10:00:01.999Z'), 1795946401);
  assert.equal(await at('2026-11-29T11:00:01+01:00'), 1795946401);
  assert.equal(await at(1795946401), 1795946401);
  assert.equal(await at(1795946401999), 1795946401);
  assert.equal(await at('1795946401999'), 1795946401);
  for (const wrong of [
    '1970-01-01T00:00:00Z',
    0,
    '2150-01-01T00:00:00Z',
    '9999-12-31T23:59:59Z',
    'yesterday',
    null,
    {},
    -5,
    '',
  ])
    assert.equal(await at(wrong), null, JSON.stringify(wrong));
});

test('unknown types, bad lines and odd fields are counted, never fatal', async (t) => {
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      { timestamp: '2026-11-29T10:00:00Z', type: 'hologram', payload: {} },
      { timestamp: '2026-11-29T10:00:00Z', type: 'event_msg', payload: { type: 'brand_new' } },
      { type: 5, payload: null },
      { type: `bad type\n${'x'.repeat(100)}` },
      'garbage\n',
      codexMessage('user', ['Hello']),
      codexItem({ type: 'message', role: 'user', content: null }),
      codexItem({ type: 'function_call', name: 7, arguments: {} }),
      codexItem({ type: 'message', role: 'user', content: [null, 5, { type: 'input_text' }] }),
      '{"timestamp":"2026-11-29T10:00:00Z","type":"response_item","payl',
    ]),
  );
  assert.deepEqual(session.skipped, {
    session_meta: 1,
    'unknown:hologram': 1,
    'unknown:event_msg:brand_new': 1,
    'unknown:?': 2,
    bad_json: 2,
    'response_item:message': 2,
  });
  assert.deepEqual(brief(session.items), ['7 human/text Hello', '9 tool/call']);
});

test('the number of reasons that are counted has a bound', async (t) => {
  const lines = Array.from({ length: 500 }, (_, index) => ({ timestamp: 'x', type: `type${index}`, payload: {} }));
  const session = sessionOf(await readSpec(t, 'codex', [codexMeta(), ...lines]));
  assert.ok(Object.keys(session.skipped).length <= 61);
  assert.equal(
    Object.values(session.skipped).reduce((sum, count) => sum + count, 0),
    501,
  );
});

test('a doubled line gives both records, one number', async (t) => {
  const first = JSON.stringify(codexMessage('user', ['First']));
  const second = JSON.stringify(codexMessage('assistant', ['Second']));
  const session = sessionOf(
    await readSpec(t, 'codex', [codexMeta(), `${first}${second}\n`, `${first.slice(0, 60)}${second}\n`]),
  );
  assert.deepEqual(brief(session.items), [
    '2 human/text First',
    '2.2 assistant/text Second',
    '3 assistant/text Second',
  ]);
  assert.equal(session.skipped.bad_json, 1);
});

test('NUL, lone surrogates, control characters and wrong bytes reach nobody', async (t) => {
  const session = sessionOf(
    await readSpec(t, 'codex', [
      codexMeta(),
      '{"timestamp":"2026-11-29T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"a\\u0000b\\ud800c\\u001b[31m \u2028 d"}]}}\r\n',
      Buffer.concat([
        Buffer.from(
          '{"timestamp":"2026-11-29T10:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":"x',
        ),
        Buffer.from([0xe9]),
        Buffer.from('"}}\n'),
      ]),
    ]),
  );
  assert.deepEqual(
    session.items.map((item) => item.text),
    ['ab\uFFFDc[31m \n d', 'x\uFFFD'],
  );
  assert.equal(session.skipped.bad_utf8, 1);
});

test('arguments nested without end do not stop the reading', async (t) => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000);
  const line = `{"timestamp":"2026-11-29T10:00:01Z","type":"response_item","payload":{"type":"tool_search_call","call_id":"c","arguments":${deep}}}\n`;
  const session = sessionOf(await readSpec(t, 'codex', [codexMeta(), line, codexMessage('user', ['Hello'])]));
  assert.equal(session.items.at(-1)?.text, 'Hello');
});

async function recorded(path: string) {
  return sessionOf(await readers.codex.read(exec(path), { home: '/root' }));
}
