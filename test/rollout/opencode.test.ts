import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { memoryClose, memoryOpen, ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { brief, furtherSamples, joints, readSpec, sessionOf } from '../support/sessions.ts';

test('a recorded fix and a correction: who said what, which command failed, which file changed', async () => {
  const { items, ...session } = sessionOf(await readers.opencode.read(furtherSamples[3].path, { home: '/root' }));
  assert.deepEqual(brief(items, 34), [
    '1 human/text The total() test fails, fix it. [[',
    "2.3 commentary/text I'll run the tests.",
    '2.4 tool/call node --test; exit 3',
    '2.5 tool/output 3 TAP version 13 # Subtest: total no',
    '3.2 tool/call {"filePath":"~/src/multi-oc/src/to',
    '3.3 tool/output 0 <path>~/src/multi-oc/src/total.js<',
    '4.2 tool/call {"filePath":"~/src/multi-oc/src/to',
    '4.3 tool/output 0 Edit applied successfully.',
    '5.2 assistant/text Fixed: accumulator now starts at 0',
    '6 human/text No, money is integer cents only. [',
    '7.2 assistant/text Understood: integer cents only.',
  ]);
  assert.deepEqual(joints(items), [
    '2.4 bash shell call_mockmx2hns2f11',
    '2.5 bash shell call_mockmx2hns2f11',
    '3.2 read read call_mockmx2hnvfg13',
    '3.3 read read call_mockmx2hnvfg13',
    '4.2 edit edit call_mockmx2hnwm515',
    '4.3 edit edit call_mockmx2hnwm515',
  ]);
  assert.deepEqual(
    [items[0]?.text, items[9]?.text],
    ['The total() test fails, fix it. [[scn:oc1]]', 'No, money is integer cents only. [[scn:oc2]]'],
  );
  assert.deepEqual(items[6]?.files, ['/home/dana/src/multi-oc/src/total.js']);
  assert.deepEqual(
    items.map(({ at }) => (at ?? 0) - session.startedAt),
    [1, 10, 10, 12, 14, 15, 16, 16, 17, 150, 167],
  );
  const { source, ...facts } = session;
  assert.deepEqual(facts, {
    id: 'ses_dd64baf82ffejwkbVSQ0wkClD1',
    origin: 'exec',
    kind: 'root',
    cwd: '/home/dana/src/multi-oc',
    branch: null,
    commit: null,
    remote: null,
    startedAt: 1795996012,
    parents: [],
    skipped: {},
  });
  assert.deepEqual([source.agent, source.lines, source.bytes], ['opencode', 7, 16410]);
});

test('spec: what the program puts into a person’s message is told apart, and only the quotes of `run` are taken off', async (t) => {
  const session = await read(t, [
    user('a', text('Fix it'), text('Called the Read tool', { synthetic: true }), text('Hidden', { ignored: true })),
    user(
      'b',
      text('"say \\"hi\\" twice"'),
      { type: 'file', mime: 'image/png', url: 'data:x' },
      { type: 'file', mime: 'text/plain' },
    ),
    user('c', text('"a" and "b"'), { type: 'agent', name: 'x' }),
    user('d', { type: 'subtask', prompt: 'Review it', agent: 'x' }, { type: 'compaction', auto: true }),
    user('e', text(`${memoryOpen}\nUse pnpm.\n${memoryClose}\nGo on`)),
  ]);
  assert.deepEqual(brief(session.items, 24), [
    '1 human/text Fix it',
    '1.2 harness/text Called the Read tool',
    '1.3 harness/text Hidden',
    '2 human/text say "hi" twice',
    '2.2 human/text [image omitted]',
    '3 human/text "a" and "b"',
    '4 other_agent/text Review it',
    '5 harness/text <commit-to-memory v="1">',
    '5.2 human/text Go on',
  ]);
  assert.equal(session.origin, 'cli');
});

test('spec: a tool takes two places whether it has ended or not, and says how it ended', async (t) => {
  const tool = (callID: string, name: string, state: object) => ({ type: 'tool', tool: name, callID, state });
  const session = await read(t, [
    user('a', text('Go')),
    model('b', { finish: 'tool-calls' }, [
      tool('c1', 'bash', { status: 'running', input: { command: 'make' } }),
      tool('c2', 'bash', { status: 'completed', input: { command: 'ls' }, output: 'a', metadata: {} }),
      tool('c3', 'write', { status: 'error', input: { filePath: 'a.ts' }, error: 'no such folder' }),
      tool('c4', 'bash', {
        status: 'error',
        input: { command: 'rm x' },
        error:
          'The user rejected permission to use this specific tool call with the following feedback: Never delete x.',
      }),
      tool('c5', 'question', {
        status: 'completed',
        input: { questions: [{ question: 'Which?' }, { question: 'When?' }] },
        output: 'answered',
        metadata: { answers: [['Postgres', 'Redis'], []] },
      }),
      tool('c6', 'apply_patch', {
        status: 'completed',
        input: { patchText: '*** Begin Patch\n*** Add File: b.ts\n*** End Patch' },
        output: 'ok',
      }),
      tool('c7', 'commit-to-memory_search', { status: 'completed', input: {}, output: 'x' }),
    ]),
  ]);
  assert.deepEqual(brief(session.items, 44), [
    '1 human/text Go',
    '2 tool/call make',
    '2.3 tool/call ls',
    '2.4 tool/output 0 a',
    '2.5 tool/call {"filePath":"a.ts"}',
    '2.6 tool/output 1 no such folder',
    '2.7 tool/call rm x',
    '2.8 human/text Never delete x.',
    '2.9 tool/call {"questions":[{"question":"Which?"},{"questi',
    '2.10 human/text Asked: Which? Answer: Postgres; Redis',
    '2.11 tool/call {"patchText":"*** Begin Patch\\n*** Add File:',
    '2.12 tool/output 0 ok',
    '2.13 tool/call {}',
    '2.14 tool/output 0 x',
  ]);
  assert.deepEqual(
    session.items.flatMap(({ files }) => files ?? []),
    ['a.ts', 'b.ts'],
  );
});

test('spec: typed commands, summaries and interruptions have their authors', async (t) => {
  const session = await read(t, [
    user('a', text('The following tool was executed by the user', { synthetic: true })),
    model('b', { parentID: 'a' }, [
      {
        type: 'tool',
        tool: 'bash',
        callID: 'c1',
        state: { status: 'completed', input: { command: 'git status' }, output: 'clean', metadata: { exit: 0 } },
      },
    ]),
    model('c', { summary: true, finish: 'stop' }, [text('We looked at it.')]),
    user('d', text('Go')),
    model('e', { error: { name: 'MessageAbortedError' } }, [text('I beg'), { type: 'hologram' }]),
    model('f', { finish: 'stop' }, [text('Done.')]),
  ]);
  assert.deepEqual(brief(session.items), [
    '1 harness/text The following tool was executed by the u',
    '2 human/call git status',
    '2.2 tool/output 0 clean',
    '3 harness/text We looked at it.',
    '4 human/text Go',
    '5 commentary/text I beg',
    '5.3 harness/text [Request interrupted by user]',
    '6 assistant/text Done.',
  ]);
  assert.deepEqual(session.skipped, { 'unknown:hologram': 1 });
});

test('spec: sub-agents and our own runs are told apart', async (t) => {
  const kind = async (info: object, words: string) => (await read(t, [user('a', text(words))], info)).kind;
  assert.equal(await kind({}, 'Hello'), 'root');
  assert.equal(await kind({ parentID: 'ses_x' }, 'Hello'), 'sub_agent');
  const prompt = `${ownRun}\nx\n${memoryClose}`;
  assert.equal(await kind({}, prompt), 'own');
  assert.equal(await kind({}, `"${prompt.replaceAll('"', '\\"')}"`), 'own');
});

test('spec: an export that was cut keeps its whole messages; words before it are passed over', async (t) => {
  const whole = JSON.stringify(
    { info, messages: [user('a', text('Say "]}" and {')), user('b', text('Two')), user('c', text('Three'))] },
    null,
    1,
  );
  const cut = sessionOf(
    await readSpec(t, 'opencode', [`Exporting session: x\n${whole.slice(0, whole.indexOf('Three'))}`]),
  );
  assert.deepEqual(brief(cut.items), ['1 human/text Say "]}" and {', '2 human/text Two']);
  assert.deepEqual([cut.source.lines, cut.skipped], [2, { bad_json: 1 }]);
  const early = await readSpec(t, 'opencode', [whole.slice(0, 40)]);
  assert.deepEqual(early, { outcome: 'ignored', reason: 'not an OpenCode export' });
});

test('spec: messages and parts of other kinds are counted, never fatal', async (t) => {
  const session = await read(t, [
    null as unknown as object,
    { info: { role: 'oracle' }, parts: [] },
    { info: null, parts: 5 },
    { info: { role: 'user' }, parts: [null, 5, { type: 7 }, { type: 'text', text: 5 }] },
    user('z', text('Hello')),
  ]);
  assert.deepEqual(brief(session.items), ['5 human/text Hello']);
  assert.deepEqual(session.skipped, { bad_json: 1, 'unknown:oracle': 1, 'unknown:?': 4, user: 1 });
});

const info = {
  id: 'ses_spec1',
  directory: '/home/dana/src/app',
  version: '1.18.33',
  time: { created: 1795946400000, updated: 1795946401000 },
};

async function read(t: TestContext, messages: readonly object[], fields: object = {}) {
  return sessionOf(await readSpec(t, 'opencode', [{ info: { ...info, ...fields }, messages }]));
}

function user(id: string, ...parts: readonly object[]): object {
  return { info: { id, role: 'user', time: { created: 1795946401000 } }, parts };
}

function model(id: string, fields: object, parts: readonly object[]): object {
  return { info: { id, role: 'assistant', time: { created: 1795946402000 }, ...fields }, parts };
}

function text(words: string, fields: object = {}): object {
  return { type: 'text', text: words, ...fields };
}
