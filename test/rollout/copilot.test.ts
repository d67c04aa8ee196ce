import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryClose, memoryOpen, ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { brief, furtherSamples, joints, readSpec, sessionOf } from '../support/sessions.ts';

const id = 'ff2e5fd5-0000-4000-8000-000000000001';

test('a recorded fix: who said what, which command failed, which file changed', async () => {
  const { items, ...session } = sessionOf(await readers.copilot.read(furtherSamples[0].path, { home: '/root' }));
  assert.deepEqual(brief(items, 34), [
    '2 human/text The total() test fails, fix it. [[',
    "6 commentary/text I'll run the tests.",
    '6.2 tool/call node --test; exit 3',
    '8 tool/output 3 TAP version 13 # Subtest: total no',
    '12.2 tool/call {"path":"~/src/multi/src/total.js"',
    '14 tool/output 0 export function total(items) { ret',
    '18.2 tool/call {"path":"~/src/multi/src/total.js"',
    '20 tool/output 0 File ~/src/multi/src/total.js upda',
    '24 assistant/text Fixed: accumulator now starts at 0',
  ]);
  assert.deepEqual(joints(items), [
    '6.2 bash shell call_mockmx2hmw442',
    '8 bash shell call_mockmx2hmw442',
    '12.2 view read call_mockmx2hmy454',
    '14 view read call_mockmx2hmy454',
    '18.2 edit edit call_mockmx2hmy786',
    '20 edit edit call_mockmx2hmy786',
  ]);
  assert.ok(items[3]?.text.endsWith('# duration_ms 983.139258'), 'the line with the exit code is no output');
  assert.deepEqual(
    items.map(({ files }) => files),
    items.map(({ n }) => (n === '18.2' ? ['/home/dana/src/multi/src/total.js'] : undefined)),
  );
  assert.deepEqual(
    items.map(({ at }) => (at ?? 0) - session.startedAt),
    [2, 3, 3, 5, 5, 5, 5, 5, 5],
  );
  assert.equal(items[0]?.src.id, '6e39f87a-30c0-4503-907f-d1dec1b8a1ce');
  const { source, ...facts } = session;
  assert.deepEqual(facts, {
    id: 'ff2e5fd5-d029-4eec-b9b6-0a77c6f74065',
    origin: 'cli',
    kind: 'root',
    cwd: '/home/dana/src/multi',
    branch: 'main',
    commit: '223aea38ab7d15edce457274420b53c60a2f358f',
    remote: 'https://github.com/acme/orders-api',
    startedAt: 1795995978,
    parents: [],
    injected: [],
    skipped: {
      'session.start': 1,
      'system.message': 1,
      'assistant.turn_start': 4,
      'session.usage_record': 4,
      'tool.execution_start': 3,
      'assistant.turn_end': 4,
      'session.shutdown': 1,
    },
  });
  assert.deepEqual([source.agent, source.lines, source.bytes], ['copilot', 26, 18886]);
});

test('what a hook adds and what the program wraps around a prompt are nobody’s words', async () => {
  const { items, skipped } = sessionOf(await readers.copilot.read(furtherSamples[1].path, { home: '/root' }));
  assert.deepEqual(brief(items), ['5 human/text hi [[scn:oc2]]', '10 assistant/text Understood: integer cents only.']);
  assert.deepEqual([skipped['hook.start'], skipped['hook.end']], [4, 4]);
});

test('spec: a message’s source tells a person from the program and from another agent', async (t) => {
  const session = await read(t, [
    start(),
    event('user.message', {
      content: 'Fix it',
      transformedContent: '<current_datetime>x</current_datetime>\n\nFix it',
    }),
    event('user.message', { content: 'Use pnpm', source: 'user', delivery: 'steering' }),
    event('user.message', { content: 'PDF steps', source: 'skill-pdf' }),
    event('user.message', { content: 'Updated', source: 'system' }),
    event('user.message', { content: 'Reviewed', source: 'agent-reviewer' }),
    event('user.message', { content: 'Go on.', isAutopilotContinuation: true }),
    event('user.message', { content: `${memoryOpen}\nUse pnpm.\n${memoryClose}\n\nGo on` }),
    event('user.message', { content: '<system-reminder>\nx\n</system-reminder>\nThanks' }),
  ]);
  assert.deepEqual(brief(session.items, 24), [
    '2 human/text Fix it',
    '3 human/text Use pnpm',
    '4 harness/text PDF steps',
    '5 harness/text Updated',
    '6 other_agent/text Reviewed',
    '7 harness/text Go on.',
    '8 harness/text <commit-to-memory v="1">',
    '8.2 human/text Go on',
    '9 harness/text <system-reminder> x </sy',
    '9.2 human/text Thanks',
  ]);
});

test('spec: a sub-agent’s words are no person’s, and its calls are calls', async (t) => {
  const side = (type: string, data: object) => ({ ...event(type, data), agentId: 'a1' });
  const session = await read(t, [
    start(),
    event('user.message', { content: 'Look around' }),
    event('assistant.message', { content: '', toolRequests: [request('c1', 'task', { prompt: 'Look' })] }),
    side('user.message', { content: 'Look' }),
    side('assistant.message', { content: 'Looking', toolRequests: [request('c2', 'bash', { command: 'ls' })] }),
    side('tool.execution_complete', { toolCallId: 'c2', success: true, result: { content: 'a.ts' } }),
    event('assistant.message', { parentToolCallId: 'c1', content: 'I saw a.ts', toolRequests: [] }),
    event('tool.execution_complete', { toolCallId: 'c1', success: true, result: { content: 'a.ts is there' } }),
    event('assistant.message', { content: 'There is a.ts.', toolRequests: [] }),
  ]);
  assert.deepEqual(brief(session.items), [
    '2 human/text Look around',
    '3.2 tool/call {"prompt":"Look"}',
    '4 other_agent/text Look',
    '5 other_agent/text Looking',
    '5.2 tool/call ls',
    '6 tool/output 0 a.ts',
    '7 other_agent/text I saw a.ts',
    '8 tool/output 0 a.ts is there',
    '9 assistant/text There is a.ts.',
  ]);
});

test('spec: refusals, answers, typed commands and interruptions are the person’s doing', async (t) => {
  const session = await read(t, [
    start(),
    event('tool.user_requested', { toolCallId: 'u1', toolName: 'bash', arguments: { command: 'git status' } }),
    event('tool.execution_start', { toolCallId: 'u1', toolName: 'bash', arguments: { command: 'git status' } }),
    event('tool.execution_complete', {
      toolCallId: 'u1',
      success: true,
      result: { content: 'clean\n<exited with exit code 0>' },
    }),
    event('assistant.message', {
      content: '',
      toolRequests: [
        request('c1', 'ask_user', { question: 'Which "database"?' }),
        request('c2', 'bash', { command: 'rm -rf x' }),
        request('c3', 'ask_user', { question: 'Now?' }),
      ],
    }),
    event('tool.execution_complete', {
      toolCallId: 'c1',
      success: true,
      result: { content: 'User responded: Postgres' },
    }),
    event('permission.completed', {
      requestId: 'r',
      toolCallId: 'c2',
      result: { kind: 'denied-interactively-by-user', feedback: 'Never delete x.' },
    }),
    event('tool.execution_complete', {
      toolCallId: 'c2',
      success: false,
      error: { code: 'denied', message: 'Rejected' },
    }),
    event('tool.execution_complete', {
      toolCallId: 'c3',
      success: true,
      result: { content: 'The user is not there.' },
    }),
    event('abort', { reason: 'user_initiated' }),
    event('abort', { reason: 'autopilot_credit_limit' }),
  ]);
  assert.deepEqual(brief(session.items, 60), [
    '2 human/call git status',
    '4 tool/output 0 clean',
    '5.2 tool/call {"question":"Which \\"database\\"?"}',
    '5.3 tool/call rm -rf x',
    '5.4 tool/call {"question":"Now?"}',
    '6 human/text Asked: Which "database"? Answer: Postgres',
    '7 human/text Never delete x.',
    '8 tool/output 1 Rejected',
    '9 tool/output 0 The user is not there.',
    '10 harness/text [Request interrupted by user]',
  ]);
});

test('spec: a call that no message asked for, an edit’s files and a tool of a server', async (t) => {
  const session = await read(t, [
    start(),
    event('tool.execution_start', {
      toolCallId: 'c1',
      toolName: 'apply_patch',
      arguments: '*** Begin Patch\n*** Update File: a.ts\n*** End Patch',
    }),
    event('tool.execution_complete', {
      toolCallId: 'c1',
      success: true,
      fileEdits: [{ path: 'b.ts', kind: 'edit' }, {}],
      result: { content: 'ok' },
    }),
    event('tool.execution_start', {
      toolCallId: 'c2',
      toolName: 'github-list',
      mcpServerName: 'github',
      arguments: { a: 1 },
    }),
    event('tool.execution_complete', { toolCallId: 'c2', success: false, shellExecution: { exitCode: 7 }, result: {} }),
    event('session.compaction_complete', { success: true, summaryContent: 'We fixed a.ts.' }),
  ]);
  assert.deepEqual(brief(session.items, 30), [
    '2 tool/call *** Begin Patch *** Update Fil',
    '3 tool/output 0 ok',
    '4 tool/call {"a":1}',
    '5 tool/output 7',
    '6 harness/text We fixed a.ts.',
  ]);
  assert.deepEqual(session.items[0]?.files, ['a.ts', 'b.ts']);
  assert.equal(session.items[2]?.does, 'mcp');
});

test('spec: words are final where nothing that follows in the turn calls a tool', async (t) => {
  const says = (content: string, apiCallId: string, ...tools: object[]) =>
    event('assistant.message', { content, apiCallId, toolRequests: tools });
  const session = await read(t, [
    start(),
    event('user.message', { content: 'Go' }),
    says('First piece.', 'x1'),
    says('Second piece.', 'x1', request('c1', 'bash', { command: 'ls' })),
    says('Between.', 'x2'),
    says('Done.', 'x3'),
    event('user.message', { content: 'Thanks' }),
  ]);
  assert.deepEqual(brief(session.items.filter(({ kind, who }) => kind === 'text' && who !== 'human')), [
    '3 commentary/text First piece.',
    '4 commentary/text Second piece.',
    '5 commentary/text Between.',
    '6 assistant/text Done.',
  ]);
});

test('spec: the repository’s host comes from the event, the branch is the last one', async (t) => {
  const remote = async (context: object) => (await read(t, [start(context)])).remote;
  assert.equal(await remote({ repository: 'acme/app', hostType: 'github' }), 'https://github.com/acme/app');
  assert.equal(
    await remote({ repository: 'acme/app', hostType: 'github', repositoryHost: 'git.example.test' }),
    'https://git.example.test/acme/app',
  );
  assert.equal(
    await remote({ repository: 'acme/shop/app', hostType: 'ado' }),
    'https://dev.azure.com/acme/shop/_git/app',
  );
  for (const wrong of [{}, { repository: 'acme/app' }, { repository: 'app', hostType: 'github' }, { repository: 5 }])
    assert.equal(await remote(wrong), null, JSON.stringify(wrong));
  const session = await read(t, [
    start({ cwd: '/home/dana/src/app', pendingGitContext: true }),
    event('session.context_changed', {
      cwd: '/tmp',
      branch: 'main',
      headCommit: 'abc',
      repository: 'acme/app',
      hostType: 'github',
    }),
    event('session.resume', { context: { branch: 'feat/x', headCommit: 'def' } }),
  ]);
  const { cwd, branch, commit, remote: url } = session;
  assert.deepEqual([cwd, branch, commit, url], ['/home/dana/src/app', 'feat/x', 'abc', 'https://github.com/acme/app']);
});

test('spec: our own runs and what the program starts by itself are told apart', async (t) => {
  const kind = async (fields: object, content: string) =>
    (await read(t, [start({}, fields), event('user.message', { content })])).kind;
  assert.equal(await kind({}, 'Hello'), 'root');
  assert.equal(await kind({}, `${ownRun}\nConsolidate.\n${memoryClose}`), 'own');
  assert.equal(await kind({ detachedFromSpawningParentSessionId: 'x' }, 'Hello'), 'sub_agent');
});

test('spec: unknown events, odd fields and a missing start are counted, never fatal', async (t) => {
  const session = await read(t, [
    start(),
    event('session.brand_new_thing', {}),
    event('hologram.shown', {}),
    { type: 5, data: null, id: null },
    event('user.message', { content: 7 }),
    event('assistant.message', { content: null, toolRequests: [null, 5, {}] }),
    event('tool.execution_complete', {}),
  ]);
  assert.deepEqual(brief(session.items), ['6.2 tool/call {}', '6.3 tool/call {}', '6.4 tool/call {}', '7 tool/output']);
  assert.deepEqual(session.skipped, {
    'session.start': 1,
    'session.brand_new_thing': 1,
    'unknown:hologram.shown': 1,
    'unknown:?': 1,
    'user.message': 1,
  });
  assert.deepEqual(await readSpec(t, 'copilot', [event('user.message', { content: 'Hello' })]), {
    outcome: 'ignored',
    reason: 'not a Copilot CLI session',
  });
});

async function read(t: Parameters<typeof readSpec>[0], lines: readonly object[]) {
  return sessionOf(await readSpec(t, 'copilot', lines));
}

function start(context: object = {}, fields: object = {}): object {
  return event('session.start', {
    sessionId: id,
    version: 1,
    producer: 'copilot-agent',
    startTime: '2026-11-29T10:00:00.000Z',
    context,
    ...fields,
  });
}

function event(type: string, data: object): object {
  return { type, data, id: `e-${JSON.stringify(data).length}`, timestamp: '2026-11-29T10:00:01.000Z', parentId: null };
}

function request(toolCallId: string, name: string, args: object): object {
  return { toolCallId, name, arguments: args, type: 'function' };
}
