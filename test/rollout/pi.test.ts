import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryClose, ownRun } from '../../scripts/rollout/marker.ts';
import { readers } from '../../scripts/rollout/readers.ts';
import { temporaryFolder } from '../support/repository.ts';
import { brief, furtherSamples, joints, openSamples, piId, readSpec, sessionOf } from '../support/sessions.ts';

test('a recorded fix: who said what, which command failed, which file changed', async () => {
  const { items, ...session } = sessionOf(await readers.pi.read(furtherSamples[4].path, { home: '/root' }));
  assert.deepEqual(brief(items, 34), [
    '4 human/text The total() test fails, fix it. [[',
    "5.2 commentary/text I'll run the tests.",
    '5.3 tool/call node --test; exit 3',
    '6 tool/output 3 TAP version 13 # Subtest: total no',
    '7 tool/call {"path":"~/src/multi-pi/src/total.',
    '8 tool/output 0 export function total(items) { ret',
    '9 tool/call {"path":"~/src/multi-pi/src/total.',
    '10 tool/output 0 Successfully replaced 1 block(s) i',
    '11 assistant/text Fixed: accumulator now starts at 0',
  ]);
  assert.deepEqual(joints(items), [
    '5.3 bash shell call_mockmx2hooq518',
    '6 bash shell call_mockmx2hooq518',
    '7 read read call_mockmx2hopmu20',
    '8 read read call_mockmx2hopmu20',
    '9 edit edit call_mockmx2hopqr22',
    '10 edit edit call_mockmx2hopqr22',
  ]);
  assert.ok(items[3]?.text.endsWith('# duration_ms 577.808282'), 'the line with the exit code is no output');
  assert.deepEqual(items[6]?.files, ['/home/dana/src/multi-pi/src/total.js']);
  assert.deepEqual(
    items.map(({ at }) => (at ?? 0) - session.startedAt),
    [0, 0, 0, 1, 2, 2, 2, 2, 2],
  );
  const { source, ...facts } = session;
  assert.deepEqual(facts, {
    id: '01a229b5-1a9c-76d3-aaac-f76d841a2efb',
    origin: 'cli',
    kind: 'root',
    cwd: '/home/dana/src/multi-pi',
    branch: null,
    commit: null,
    remote: null,
    startedAt: 1795996064,
    parents: [],
    skipped: { session: 1, model_change: 1, thinking_level_change: 1 },
  });
  assert.deepEqual([source.agent, source.lines, source.bytes], ['pi', 11, 5104]);
});

test('spec: every branch of the tree is read, in the order of the file', async (t) => {
  const session = await read(t, [
    header(),
    entry('a', null, { role: 'user', content: 'Use npm' }),
    entry('b', 'a', says('Done with npm.')),
    { type: 'branch_summary', id: 'c', parentId: 'a', timestamp, fromId: 'b', summary: 'We tried npm.' },
    entry('d', 'c', {
      role: 'user',
      content: [
        { type: 'text', text: 'No, use pnpm' },
        { type: 'image', data: 'x' },
      ],
    }),
    entry('e', 'd', says('Done with pnpm.')),
    { type: 'label', id: 'f', parentId: 'e', timestamp, targetId: 'a', label: 'x' },
    { type: 'compaction', id: 'g', parentId: 'e', timestamp, summary: 'pnpm it is.', firstKeptEntryId: 'd' },
    { type: 'model_change', id: 'h', parentId: 'g', timestamp, provider: 'p', modelId: 'm' },
    entry('i', 'h', { role: 'user', content: 'And test' }),
  ]);
  assert.deepEqual(brief(session.items), [
    '2 human/text Use npm',
    '3 assistant/text Done with npm.',
    '4 harness/text We tried npm.',
    '5 human/text No, use pnpm [image omitted]',
    '6 assistant/text Done with pnpm.',
    '8 harness/text pnpm it is.',
    '10 human/text And test',
  ]);
  assert.deepEqual(session.skipped, { session: 1, label: 1, model_change: 1 });
});

test('spec: typed commands, extensions, skills, failures and interruptions have their authors', async (t) => {
  const session = await read(t, [
    header(),
    entry('a', null, { role: 'bashExecution', command: 'make', output: 'boom', exitCode: 2 }),
    entry('b', 'a', { role: 'bashExecution', command: 'sleep 9', output: '', cancelled: true }),
    entry('c', 'b', { role: 'custom', customType: 'x', content: 'Injected' }),
    {
      type: 'custom_message',
      id: 'd',
      parentId: 'c',
      timestamp,
      customType: 'x',
      content: [{ type: 'text', text: 'More' }],
    },
    entry('e', 'd', { role: 'user', content: '<skill name="deploy" location="/x">\nSteps\n</skill>\n\nDeploy it' }),
    entry('f', 'e', {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'x' },
        { type: 'text', text: 'I begin' },
      ],
      stopReason: 'aborted',
    }),
    entry('g', 'f', { role: 'toolResult', toolCallId: 'c1', toolName: 'read', content: [], isError: true }),
    entry('h', 'g', { role: 'hookMessage', content: 'Old hook' }),
    entry('i', 'h', { role: 'oracle', content: 'x' }),
    { type: 'custom', id: 'j', parentId: 'i', timestamp, customType: 'x', data: {} },
    { type: 'new_thing', id: 'k', parentId: 'j', timestamp },
  ]);
  assert.deepEqual(brief(session.items, 30), [
    '2 human/call make',
    '2.2 tool/output 2 boom',
    '3 human/call sleep 9',
    '3.2 tool/output 1',
    '4 harness/text Injected',
    '5 harness/text More',
    '6 harness/text <skill name="deploy" location=',
    '6.2 human/text Deploy it',
    '7.2 commentary/text I begin',
    '7.3 harness/text [Request interrupted by user]',
    '8 tool/output 1',
    '9 harness/text Old hook',
  ]);
  assert.deepEqual(session.skipped, { session: 1, 'unknown:message:oracle': 1, custom: 1, 'unknown:new_thing': 1 });
});

test('spec: the first version’s entries have no ids, and a header that was lost is made up for by the file’s name', async (t) => {
  const old = await read(t, [
    { type: 'session', id: piId, timestamp, cwd: '/home/dana/src/app', provider: 'p', modelId: 'm' },
    { type: 'message', timestamp, message: { role: 'user', content: 'Hello' } },
  ]);
  assert.deepEqual([old.id, brief(old.items)], [piId, ['2 human/text Hello']]);
  const headless = sessionOf(
    await readSpec(t, 'pi', ['{"type":"session","ver\n', entry('a', null, { role: 'user', content: 'Hello' })]),
  );
  assert.deepEqual([headless.id, headless.cwd, headless.skipped], [piId, null, { bad_json: 1 }]);
});

test('spec: our own runs are told apart', async (t) => {
  const own = await read(t, [header(), entry('a', null, { role: 'user', content: `${ownRun}\nx\n${memoryClose}` })]);
  assert.equal(own.kind, 'own');
});

test('spec: what a fork copies counts once, in the session that it comes from, and the same id elsewhere is no copy', async (t) => {
  const folder = temporaryFolder(t);
  const parent = '01a229b5-0000-7000-8000-00000000000a';
  const fork = '01a229b5-0000-7000-8000-00000000000b';
  const stranger = '01a229b5-0000-7000-8000-00000000000c';
  const name = (id: string) => join(folder, `--x--/2026-11-29T10-00-00-000Z_${id}.jsonl`);
  const write = (id: string, lines: readonly object[]): void => {
    mkdirSync(join(folder, '--x--'), { recursive: true });
    writeFileSync(name(id), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  };
  const first = entry('aaaaaaaa', null, { role: 'user', content: 'Use pnpm' });
  const answer = entry('bbbbbbbb', 'aaaaaaaa', says('Done.'));
  write(parent, [
    header({ id: parent }),
    first,
    answer,
    entry('cccccccc', 'bbbbbbbb', { role: 'user', content: 'Left' }),
  ]);
  write(fork, [
    header({ id: fork, parentSession: name(parent) }),
    first,
    answer,
    entry('dddddddd', 'bbbbbbbb', { role: 'user', content: 'And yarn?' }),
  ]);
  write(stranger, [header({ id: stranger }), { ...first, timestamp: '2026-11-29T11:00:00.000Z' }]);
  const rollouts = openSamples([{ agent: 'pi', path: folder }]);
  const { found } = await rollouts.list();
  assert.deepEqual(
    found.map(({ thread, items, humanItems }) => [thread.id, items, humanItems]),
    [
      [parent, 3, 2],
      [fork, 1, 1],
      [stranger, 1, 1],
    ],
  );
  assert.deepEqual(brief((await rollouts.read(fork)).items), ['4 human/text And yarn?']);
});

const timestamp = '2026-11-29T10:00:01.000Z';

async function read(t: Parameters<typeof readSpec>[0], lines: readonly object[]) {
  return sessionOf(await readSpec(t, 'pi', lines));
}

function header(fields: object = {}): object {
  return {
    type: 'session',
    version: 3,
    id: piId,
    timestamp: '2026-11-29T10:00:00.000Z',
    cwd: '/home/dana/src/app',
    ...fields,
  };
}

function entry(id: string, parentId: string | null, message: object): object {
  return { type: 'message', id, parentId, timestamp, message };
}

function says(text: string): object {
  return { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' };
}
