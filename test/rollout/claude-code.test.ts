import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { temporaryFolder } from '../support/repository.ts';
import { brief, claudeId, claudeLine, readSpec, samples, sessionOf } from '../support/sessions.ts';

test('a session with a correction and a compaction', async () => {
  const session = await recorded('-home-dana-src-orders-api/5d2ce5b0-6d2d-4d1b-bd33-55c096097c25.jsonl');
  assert.deepEqual(brief(session.items, 30), [
    '3 human/text Add a discount(cents, pct) hel',
    "23 commentary/text I'll add a discount helper tha",
    '24 tool/call {"file_path":"~/src/orders-api',
    '25 tool/output File created successfully at:',
    '31 tool/call npx jest --version',
    '32 tool/output 0 npm warn exec The following pa',
    '34 assistant/text Added src/discount.js.',
    "39 human/text No - don't use jest here, we u",
    "43 commentary/text You're right - rounding to int",
    '44 tool/call {"replace_all":false,"file_pat',
    '45 tool/output 1 <tool_use_error>String to repl',
    '47 tool/call {"replace_all":false,"file_pat',
    '48 tool/output The file ~/src/orders-api/src/',
    '50 tool/call git checkout -q -b feat/discou',
    '51 tool/output 0 00e0e12 feat: discount in inte',
    '53 assistant/text `discount()` now returns integ',
    '63 harness/text This session is being continue',
    '64 harness/text <local-command-caveat>The comm',
    '65 harness/text /compact',
    '66 harness/text <local-command-stdout>Compacte',
  ]);
  assert.deepEqual([session.origin, session.kind, session.branch], ['sdk', 'root', 'feat/discount']);
  assert.deepEqual(session.items[2]?.files, ['/home/dana/src/orders-api/src/discount.js']);
});

test("a message typed while the agent works is the person's", async () => {
  const { items } = await recorded('-home-dana-src-orders-api/28c2e4cf-4bfe-4ced-95eb-5f06ea865009.jsonl');
  assert.deepEqual(brief(items.filter((item) => item.kind === 'text')), [
    '5 human/text Run the slow check [[scn:i4]]',
    '21 commentary/text Running a slow check.',
    '31 human/text by the way, always use pnpm not npm',
    '41 assistant/text Will use pnpm from now on.',
  ]);
});

test("a sub-agent's prompt and words are another agent's, numbered by their file", async () => {
  const { items, skipped } = await recorded('-home-dana-src-orders-api/28d38402-e2a7-42ff-85af-2b416d73838f.jsonl');
  assert.deepEqual(brief(items.slice(3), 30), [
    '28 other_agent/output <tools-used-before-summary>Bas',
    '31 assistant/text The sub-agent found price used',
    '1:1 other_agent/text Find every use of price in src',
    '1:14 tool/call grep -rn price src',
    '1:15 tool/output 0 src/total.js:2: return items.r',
    '1:18 other_agent/text price is used only in src/tota',
  ]);
  assert.deepEqual(
    items.filter((item) => item.who === 'human').map((item) => item.n),
    ['3'],
  );
  assert.equal(skipped['attachment:skill_listing'], 2);
});

test("a denied permission, a failed command and a program's error", async () => {
  const denied = await recorded('-home-dana-src-orders-api/aa6e0926-7d31-4a04-99fc-491279f1278a.jsonl');
  assert.deepEqual(brief(denied.items.slice(2), 30), [
    '23 tool/call {"file_path":"~/src/orders-api',
    '27 tool/output 0 AGENTS.md CLAUDE.md docs id_te',
    '28 tool/output 1 Claude requested permissions t',
    '33 assistant/text I could not write the file: pe',
  ]);
  const failed = await recorded('-home-dana-src-orders-api/eaab2af9-1cf5-4095-b647-2a9c65e3fbb1.jsonl');
  assert.deepEqual(
    failed.items.filter((item) => item.does === 'shell' && item.kind === 'output').map((item) => item.exit),
    [1, 0],
  );
  assert.ok(
    !failed.items.some(
      (item) => item.text.includes('MARK-RULE') || item.text.includes('The test fails because reduce'),
    ),
  );
  const error = await recorded('-home-dana-src-orders-api/e79ca341-dcba-4e97-9a69-7ba72371a159.jsonl');
  assert.deepEqual(brief(error.items, 20), [
    '3 human/text hello api error [[sc',
    '26 harness/text API Error: Connectio',
  ]);
});

test("an image is named, never held; a local command is the harness's", async () => {
  const image = await recorded('-home-dana-src-orders-api/80f6911a-4bca-4bc1-bb94-925175af701e.jsonl');
  assert.equal(image.items[0]?.text, 'See this screenshot [[scn:s8]]\n[image omitted]');
  assert.deepEqual(
    image.items.map((item) => item.who),
    ['human', 'harness', 'assistant'],
  );
  const local = await recorded('-home-dana-src-orders-api/a51632fc-6a01-4c0a-8627-092d4c0a0b32.jsonl');
  assert.deepEqual(
    local.items.map((item) => item.who),
    ['harness', 'harness'],
  );
});

test('real sessions of older versions: no line says how a message ended', async () => {
  const plan = await real('2a80b8d9-b65a-4c2e-8bf4-0df4958640fd');
  const words = plan.items.filter((item) => item.kind === 'text' && item.who !== 'commentary');
  assert.deepEqual(brief(words, 30), [
    '6 other_agent/text Implement the following plan:',
    "124 assistant/text All passing. Here's a summary",
    '130 human/text TestCheckAndNotify_SkipsHidden',
    '174 harness/text [Request interrupted by user f',
  ]);
  assert.equal(plan.items.at(-2)?.exit, 1);
  const other = await real('775a7e0f-d6d5-47fe-a4c9-61f814abeae3');
  assert.equal(other.items.at(-1)?.who, 'assistant');
  assert.equal(other.items.filter((item) => item.who === 'assistant').length, 1);
});

test("spec: what stands in the user's place and is not theirs", async (t) => {
  const user = (content: unknown, fields: object = {}) => claudeLine('user', content, fields);
  const session = sessionOf(
    await readSpec(t, 'claude-code', [
      user('Fix it'),
      user('Base directory for this skill: /x', { isMeta: true }),
      user('Summary of everything', { isCompactSummary: true }),
      user([{ type: 'text', text: '[Request interrupted by user]' }]),
      user(
        '<command-name>/review</command-name>\n<command-message>review</command-message>\n<command-args>only the tests</command-args>',
      ),
      user('<command-name>/model</command-name>\n<command-args>opus</command-args>'),
      user('<bash-input>git status</bash-input>'),
      user('<bash-stdout>clean</bash-stdout><bash-stderr>warn</bash-stderr>'),
      user('<task-notification>done</task-notification>'),
      user('Look here\n<system-reminder>\nRules\n</system-reminder>'),
      user('from a bot', { origin: { kind: 'channel' } }),
      user('Find the uses', { isSidechain: true }),
      claudeLine(
        'assistant',
        [{ type: 'text', text: 'Found' }],
        { isSidechain: true },
        { id: 'm', stop_reason: 'end_turn' },
      ),
    ]),
  );
  assert.deepEqual(brief(session.items), [
    '1 human/text Fix it',
    '2 harness/text Base directory for this skill: /x',
    '3 harness/text Summary of everything',
    '4 harness/text [Request interrupted by user]',
    '5 human/text /review only the tests',
    '6 harness/text /model opus',
    '7 human/call git status',
    '8 tool/output clean warn',
    '9 harness/text <task-notification>done</task-notificati',
    '10 human/text Look here',
    '10.2 harness/text <system-reminder> Rules </system-reminde',
    '11 harness/text from a bot',
    '12 other_agent/text Find the uses',
    '13 other_agent/text Found',
  ]);
  assert.equal(session.items[6]?.call, session.items[7]?.call);
});

test('spec: what the person says when refusing a tool, and when asked, is theirs', async (t) => {
  const result = (text: string, fields: object = {}, isError = true) =>
    claudeLine('user', [{ type: 'tool_result', tool_use_id: 'c', content: text, is_error: isError }], fields);
  const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected (…). ";
  const session = sessionOf(
    await readSpec(t, 'claude-code', [
      claudeLine('assistant', [{ type: 'tool_use', id: 'c', name: 'Bash', input: { command: 'npm i left-pad' } }]),
      result(
        `${refused}To tell you how to proceed, the user said:\nNo new packages, please\n\nNote: The user's next message may contain more`,
        { toolDenialKind: 'user-rejected' },
      ),
      result(`${refused}STOP what you are doing`, { toolDenialKind: 'user-rejected' }),
      result('Your questions were answered', { toolUseResult: { answers: { 'Which port?': '8080' } } }, false),
    ]),
  );
  assert.deepEqual(brief(session.items, 44), [
    '1 tool/call npm i left-pad',
    "2 tool/output 1 The user doesn't want to proceed with this t",
    '2.2 human/text No new packages, please',
    "3 tool/output 1 The user doesn't want to proceed with this t",
    '4 tool/output 0 Your questions were answered',
    '4.2 human/text Asked: Which port? Answer: 8080',
  ]);
});

test("spec: a large output is read from the session's own folder and from nowhere else", async (t) => {
  const folder = temporaryFolder(t);
  const large = `first line\n${'x'.repeat(100)}\n`.repeat(2000);
  mkdirSync(join(folder, claudeId, 'tool-results'), { recursive: true });
  writeFileSync(join(folder, claudeId, 'tool-results', 'big.txt'), large);
  writeFileSync(join(folder, 'outside.txt'), 'OUTSIDE');
  symlinkSync(join(folder, 'outside.txt'), join(folder, claudeId, 'tool-results', 'link.txt'));
  const saved = (path: string) =>
    claudeLine('user', [
      {
        type: 'tool_result',
        tool_use_id: 'c',
        is_error: false,
        content: `<persisted-output>\nOutput too large (200 KB). Full output saved to: ${path}\n\nPreview (first 2 KB):\nfirst\n</persisted-output>`,
      },
    ]);
  const lines = [
    claudeLine('user', 'Show it'),
    saved(join(folder, claudeId, 'tool-results', 'big.txt')),
    saved('../../outside.txt'),
    saved(join(folder, claudeId, 'tool-results', 'link.txt')),
    saved('C:\\x\\tool-results\\gone.txt'),
  ];
  const path = join(folder, `${claudeId}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { items } = sessionOf(await readers['claude-code'].read(path, { home: '/root' }));
  assert.match(items[1]?.text ?? '', /^Output too large \(200 KB\)[^\n]*\nfirst line\n[\s\S]*bytes omitted …\]/);
  assert.ok((items[1]?.text.length ?? 0) < 34_000);
  assert.ok(items.every((item) => !item.text.includes('OUTSIDE')));
  assert.equal(items.length, 5);
});

test("spec: thinking gives no item and moves nobody's number", async (t) => {
  const session = sessionOf(
    await readSpec(t, 'claude-code', [
      claudeLine('user', 'Go'),
      claudeLine('assistant', [
        { type: 'thinking', thinking: 'SECRET PLAN' },
        { type: 'text', text: 'Going' },
        { type: 'tool_use', id: 'c', name: 'mcp__db__query', input: { sql: 'select 1' } },
      ]),
    ]),
  );
  assert.deepEqual(brief(session.items), [
    '1 human/text Go',
    '2.2 commentary/text Going',
    '2.3 tool/call {"sql":"select 1"}',
  ]);
  assert.equal(session.items[2]?.does, 'mcp');
});

test('spec: our own run is known by its first words', async (t) => {
  const own = sessionOf(await readSpec(t, 'claude-code', [claudeLine('user', `${ownRun} consolidate`)]));
  assert.equal(own.kind, 'own');
  const quoting = sessionOf(
    await readSpec(t, 'claude-code', [claudeLine('user', 'Hello'), claudeLine('user', `${ownRun} x`)]),
  );
  assert.equal(quoting.kind, 'root');
});

test("a side file found alone is a sub-agent's session, never a root one", async (t) => {
  const line = claudeLine('user', 'Find it', { isSidechain: true, agentId: 'a1' });
  const session = sessionOf(await readSpec(t, 'claude-code', [line], 'agent-a1.jsonl'));
  assert.deepEqual([session.kind, session.id, session.items[0]?.who], ['sub_agent', 'agent-a1', 'other_agent']);
});

test('files that are no session are told why', async (t) => {
  const reason = async (...lines: (object | string)[]) => {
    const reading = await readSpec(t, 'claude-code', lines, 'x.jsonl');
    return reading.outcome === 'ignored' ? reading.reason : 'read';
  };
  assert.equal(await reason(), 'empty');
  assert.equal(await reason({ session_id: 's', hook_event_name: 'Stop' }), 'not a Claude Code session');
  assert.equal(await reason({ type: 'summary', summary: 'x', leafUuid: 'y' }), 'not a Claude Code session');
  assert.equal(await reason(claudeLine('user', 'Hello', { timestamp: '1970-01-01T00:00:00Z' })), 'no valid time');
});

test('300,000 lines are read, most of them unparsed', async (t) => {
  const noise = `${JSON.stringify({ type: 'progress', data: { text: 'x'.repeat(20) }, sessionId: claudeId })}\n`;
  const session = sessionOf(
    await readSpec(t, 'claude-code', [claudeLine('user', 'Go'), noise.repeat(299_998), claudeLine('user', 'Stop')]),
  );
  assert.deepEqual([session.source.lines, session.skipped.progress], [300_000, 299_998]);
  assert.deepEqual(brief(session.items), ['1 human/text Go', '300000 human/text Stop']);
});

test('bad lines are counted and the rest is read', async (t: TestContext) => {
  const session = sessionOf(
    await readSpec(t, 'claude-code', [
      '\uFEFF{"type":"mode","mode":"normal"}\r\n',
      claudeLine('user', 'Go'),
      '{"type":"user","message":{"content":"half\n',
      { type: 'hologram', sessionId: claudeId },
      { type: 'attachment', attachment: { type: 'brand_new' }, sessionId: claudeId },
      claudeLine('user', [null, 7, { type: 'text' }]),
      claudeLine('assistant', null, { message: null }),
      `${JSON.stringify(claudeLine('user', 'One'))}${JSON.stringify(claudeLine('user', 'Two'))}\n`,
    ]),
  );
  assert.deepEqual(brief(session.items), ['2 human/text Go', '8 human/text One', '8.2 human/text Two']);
  assert.deepEqual(session.skipped, {
    mode: 1,
    bad_json: 1,
    'unknown:hologram': 1,
    'unknown:attachment:brand_new': 1,
    user: 1,
    assistant: 1,
  });
});

async function recorded(path: string) {
  return sessionOf(await readers['claude-code'].read(join(samples, 'claude-code', path), { home: '/root' }));
}

async function real(id: string) {
  return sessionOf(
    await readers['claude-code'].read(join(samples, 'claude-code-real', `${id}.jsonl`), { home: '/root' }),
  );
}
