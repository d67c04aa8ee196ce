import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { memoryClose, memoryOpen, ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { temporaryFolder, writeFiles } from '../support/repository.ts';
import { brief, furtherSamples, joints, readSpec, sessionOf } from '../support/sessions.ts';

test('a recorded fix: each message once, in its last form, under the number of its first', async () => {
  const { items, ...session } = sessionOf(await readers.gemini.read(furtherSamples[2].path, { home: '/root' }));
  assert.deepEqual(brief(items, 34), [
    '2 harness/text <session_context> This is the Gemi',
    '3 human/text The total() test fails, fix it. [[',
    "5 commentary/text I'll run the tests.",
    '5.2 tool/call node --test; exit 3',
    '5.3 tool/output 3 TAP version 13 # Subtest: total no',
    '10.2 tool/call {"file_path":"~/src/multi-gm/src/t',
    '10.3 tool/output 0 export function total(items) { ret',
    '15.2 tool/call {"file_path":"~/src/multi-gm/src/t',
    '15.3 tool/output 0 Successfully modified file: ~/src/',
    '20 assistant/text Fixed: accumulator now starts at 0',
  ]);
  assert.deepEqual(joints(items), [
    '5.2 run_shell_command shell run_shell_command__fcmockmx2hp2uu24',
    '5.3 run_shell_command shell run_shell_command__fcmockmx2hp2uu24',
    '10.2 read_file read read_file__fcmockmx2hp4ew26',
    '10.3 read_file read read_file__fcmockmx2hp4ew26',
    '15.2 replace edit replace__fcmockmx2hp4l628',
    '15.3 replace edit replace__fcmockmx2hp4l628',
  ]);
  assert.ok(items[4]?.text.endsWith('# duration_ms 595.261339'), 'the lines around an output are none of it');
  assert.deepEqual(items[7]?.files, ['/home/dana/src/multi-gm/src/total.js']);
  assert.deepEqual(
    items.map(({ at }) => (at ?? 0) - session.startedAt),
    [0, 0, 1, 1, 1, 3, 3, 3, 3, 3],
  );
  const { source, ...facts } = session;
  assert.deepEqual(facts, {
    id: 'bceb1b1d-169c-4b8a-bff9-c7847189b924',
    origin: 'cli',
    kind: 'root',
    cwd: '/home/dana/src/multi-gm',
    branch: null,
    commit: null,
    remote: null,
    startedAt: 1795996082,
    parents: [],
    skipped: { header: 1, $set: 8, written_again: 3, output_again: 3 },
  });
  assert.deepEqual([source.agent, source.lines, source.bytes], ['gemini', 21, 11866]);
});

test('spec: the older single file is numbered by its messages', async (t) => {
  const messages = [
    user('a', 'Run the tests'),
    model('b', 'I run them.', [
      call(
        'c1',
        'run_shell_command',
        { command: 'npm test' },
        'Output: 1 failing\nExit Code: 1\nProcess Group PGID: 7',
        'success',
      ),
    ]),
    { id: 'i', timestamp, type: 'info', content: 'Update available' },
    'garbage',
    model('d', 'One fails.'),
  ];
  const text = JSON.stringify({ ...header(), messages }, null, 2);
  const session = sessionOf(await readSpec(t, 'gemini', [text], 'session-2026-11-29T10-00-5d2ce5b0.json'));
  assert.deepEqual(brief(session.items), [
    '1 human/text Run the tests',
    '2 commentary/text I run them.',
    '2.2 tool/call npm test',
    '2.3 tool/output 1 1 failing',
    '3 harness/text Update available',
    '5 assistant/text One fails.',
  ]);
  assert.deepEqual([session.source.lines, session.skipped], [5, { bad_json: 1 }]);
});

test('spec: a checkpoint changes messages and takes none away; masked outputs keep what they showed', async (t) => {
  const asked = model('b', '', [call('c1', 'read_file', { file_path: 'a.ts' }, 'let a = 1;', 'success')]);
  const masked = model('b', '', [
    call('c1', 'read_file', { file_path: 'a.ts' }, '<tool_output_masked>\nlet\n</tool_output_masked>', 'success'),
  ]);
  const session = await read(t, [
    header(),
    user('a', 'Look at a.ts'),
    asked,
    {
      $set: {
        messages: [
          user('s', '<state_snapshot>\nWe look.\n</state_snapshot>'),
          model('g', 'Got it.'),
          masked,
          user('a', 'Look at a.ts, please'),
        ],
      },
    },
    user('c', 'Go on'),
    { $rewindTo: 'c' },
    user('d', 'Stop'),
  ]);
  assert.deepEqual(brief(session.items), [
    '2 human/text Look at a.ts, please',
    '3.2 tool/call {"file_path":"a.ts"}',
    '3.3 tool/output 0 let a = 1;',
    '4 harness/text <state_snapshot> We look. </state_snapsh',
    '4.2 assistant/text Got it.',
    '5 human/text Go on',
    '7 human/text Stop',
  ]);
  assert.deepEqual(session.skipped, { header: 1, $rewindTo: 1, written_again: 2 });
});

test('spec: a message that is written again with more calls keeps its numbers', async (t) => {
  const one = call('c1', 'glob', { pattern: '*' }, 'a.ts', 'success');
  const two = call('c2', 'glob', { pattern: 'b*' }, 'b.ts', 'error');
  const before = await read(t, [
    header(),
    user('a', 'Look'),
    model('b', 'So', [{ ...one, result: null, status: 'executing' }]),
  ]);
  const after = await read(t, [
    header(),
    user('a', 'Look'),
    model('b', 'So', [{ ...one, result: null, status: 'executing' }]),
    model('b', 'So', [one, two]),
  ]);
  const numbers = (session: typeof before) => session.items.map(({ n }) => n);
  assert.deepEqual(numbers(before), ['2', '3', '3.2']);
  assert.deepEqual(numbers(after), ['2', '3', '3.2', '3.3', '3.4', '3.5']);
  assert.deepEqual([after.items[3]?.exit, after.items[5]?.exit], [0, 1]);
});

test('spec: what stands in the user’s place is told apart', async (t) => {
  const file = [
    { text: 'Explain @a.ts' },
    { text: '\n--- Content from referenced files ---' },
    { text: '\nContent from @a.ts:\n' },
    { text: 'let a = 1;' },
    { text: '\n--- End of content ---' },
  ];
  const session = await read(t, [
    header(),
    user('a', '<hook_context>Team memory</hook_context>\n\nFix it'),
    user('b', [
      { text: 'And this' },
      { text: '<hook_context>More</hook_context>' },
      { inlineData: { mimeType: 'image/png', data: 'x' } },
    ]),
    user('c', file),
    { ...user('d', file), displayContent: [{ text: 'Explain it' }] },
    user('e', 'Please continue.'),
    user('f', 'User hints:\n<user_input>\n- use pnpm\n</user_input>\n\nDo as they say.'),
    user('g', [{ functionResponse: { id: 'x', name: 'glob', response: { error: 'no such' } } }, { text: 'Injected' }]),
    user('h', `${memoryOpen}\nUse pnpm.\n${memoryClose}`),
    user('i', '========= MEMORY_SUMMARY BEGINS =========\nx\n========= MEMORY_SUMMARY ENDS =========\nGo'),
    user('j', 'Background execution update:\n<background_output>\nok\n</background_output>'),
  ]);
  assert.deepEqual(brief(session.items, 30), [
    '2 harness/text <hook_context>Team memory</hoo',
    '2.2 human/text Fix it',
    '3 human/text And this',
    '3.2 harness/text <hook_context>More</hook_conte',
    '3.3 human/text [image omitted]',
    '4 human/text Explain @a.ts',
    '4.2 harness/text --- Content from referenced fi',
    '5 human/text Explain it',
    '6 harness/text Please continue.',
    '7 human/text - use pnpm',
    '8 tool/output no such',
    '8.2 harness/text Injected',
    '9 harness/text <commit-to-memory v="1"> Use p',
    '10 harness/text ========= MEMORY_SUMMARY BEGIN',
    '10.2 human/text Go',
    '11 harness/text Background execution update: <',
  ]);
});

test('spec: outputs, answers and calls in every form that versions give them', async (t) => {
  const shell = (id: string, said: string, status = 'success') =>
    call(id, 'run_shell_command', { command: 'x' }, said, status);
  const session = await read(t, [
    header(),
    model(
      'b',
      [
        { thought: true, text: 'Hm' },
        { text: 'So' },
        { functionCall: { id: 'f1', name: 'write_file', args: { file_path: 'b.ts' } } },
      ],
      [
        shell(
          'c1',
          '<untrusted_context>\nOutput: (empty)\nSignal: 15\n</untrusted_context>\n\n<hook_context>x</hook_context>',
        ),
        shell('c2', 'Output: a\nError: spawn x ENOENT\nExit Code: 127', 'error'),
        call('c3', 'ask_user', { questions: [{ question: 'Which?' }] }, '{"answers":{"0":"Postgres"}}', 'success'),
        { ...shell('c4', ''), result: undefined, status: 'cancelled', resultDisplay: 'Cancelled' },
      ],
    ),
    user('r', [{ functionResponse: { id: 'f1', name: 'write_file', response: { output: 'written' } } }]),
  ]);
  assert.deepEqual(brief(session.items, 50), [
    '2 commentary/text So',
    '2.2 tool/call x',
    '2.3 tool/output 1',
    '2.4 tool/call x',
    '2.5 tool/output 127 a Error: spawn x ENOENT',
    '2.6 tool/call {"questions":[{"question":"Which?"}]}',
    '2.7 human/text Asked: Which? Answer: Postgres',
    '2.8 tool/call x',
    '2.9 tool/output 1 Cancelled',
    '2.10 tool/call {"file_path":"b.ts"}',
    '3 tool/output written',
  ]);
  assert.deepEqual(session.items[9]?.files, ['b.ts']);
});

test('spec: the folder comes from the marker beside the chats, else from the registry, else from nowhere', async (t) => {
  const lines = (fields: object = {}) =>
    `${[header(fields), user('a', 'Hello')].map((line) => JSON.stringify(line)).join('\n')}\n`;
  const hash = createHash('sha256').update('/home/dana/src/old').digest('hex');
  const home = temporaryFolder(t);
  writeFiles(home, {
    'projects.json': JSON.stringify({
      projects: {
        '/home/dana/src/app': 'app',
        '/home/dana/src/old': 'else',
        '/home/dana/one': 'twice',
        '/home/dana/two': 'twice',
      },
    }),
    'tmp/marked/.project_root': '/home/dana/src/marked\n',
    'tmp/marked/chats/session-a.jsonl': lines(),
    'tmp/app/.project_root': 'no path',
    'tmp/app/chats/session-a.jsonl': lines(),
    'tmp/app/chats/5d2ce5b0/sub.jsonl': lines({ kind: 'subagent' }),
    [`tmp/${hash}/chats/session-a.jsonl`]: lines({ projectHash: hash }),
    'tmp/twice/chats/session-a.jsonl': lines(),
    'tmp/linked/chats/session-a.jsonl': lines(),
    'elsewhere/session-a.jsonl': lines(),
    secret: '/home/dana/secret',
  });
  symlinkSync(join(home, 'secret'), join(home, 'tmp/linked/.project_root'));
  const at = async (path: string) => sessionOf(await readers.gemini.read(join(home, path), { home: '/root' }));
  assert.equal((await at('tmp/marked/chats/session-a.jsonl')).cwd, '/home/dana/src/marked');
  assert.equal((await at('tmp/app/chats/session-a.jsonl')).cwd, '/home/dana/src/app');
  assert.equal((await at(`tmp/${hash}/chats/session-a.jsonl`)).cwd, '/home/dana/src/old');
  for (const path of [
    'tmp/twice/chats/session-a.jsonl',
    'tmp/linked/chats/session-a.jsonl',
    'elsewhere/session-a.jsonl',
  ])
    assert.equal((await at(path)).cwd, null, path);
  const side = await at('tmp/app/chats/5d2ce5b0/sub.jsonl');
  assert.deepEqual([side.cwd, side.kind], ['/home/dana/src/app', 'sub_agent']);
});

test('spec: a journal whose header was lost is known by its file’s name', async (t) => {
  const lines = ['{"sessionId":"5d2ce5b0-0000-4000-80\n', user('a', 'Hello')];
  const session = sessionOf(await readSpec(t, 'gemini', lines));
  assert.deepEqual([session.id, session.skipped], ['session-2026-11-29T10-00-5d2ce5b0', { bad_json: 1 }]);
  assert.equal((await readSpec(t, 'gemini', lines, 'notes.jsonl')).outcome, 'ignored');
});

test('spec: our own runs are told apart; records of other kinds are counted', async (t) => {
  const session = await read(t, [
    header(),
    user('a', `${ownRun}\nx\n${memoryClose}`),
    { id: 'b', type: 'hologram' },
    { $set: { lastUpdated: timestamp } },
    { $set: { messages: [null, { id: 5 }] } },
    {},
  ]);
  assert.equal(session.kind, 'own');
  assert.deepEqual(session.skipped, { header: 1, 'unknown:hologram': 1, $set: 1, bad_json: 1, 'unknown:?': 2 });
});

const timestamp = '2026-11-29T10:00:01.000Z';

async function read(t: TestContext, lines: readonly object[]) {
  return sessionOf(await readSpec(t, 'gemini', lines));
}

function header(fields: object = {}): object {
  return {
    sessionId: '5d2ce5b0-0000-4000-8000-000000000001',
    projectHash: 'abc',
    startTime: '2026-11-29T10:00:00.000Z',
    lastUpdated: timestamp,
    kind: 'main',
    ...fields,
  };
}

function user(id: string, content: unknown): object {
  return { id, timestamp, type: 'user', content: typeof content === 'string' ? [{ text: content }] : content };
}

function model(id: string, content: unknown, toolCalls?: readonly object[]): object {
  return { id, timestamp, type: 'gemini', content, thoughts: [], ...(toolCalls === undefined ? {} : { toolCalls }) };
}

function call(id: string, name: string, args: object, output: string, status: string): object {
  return { id, name, args, status, timestamp, result: [{ functionResponse: { id, name, response: { output } } }] };
}
