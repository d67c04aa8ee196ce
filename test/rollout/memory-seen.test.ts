import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { addRollouts } from '../../scripts/archive/add.ts';
import { archiveRef } from '../../scripts/archive/layout.ts';
import { archivedRollouts } from '../../scripts/archive/rollouts.ts';
import { openRepository } from '../../scripts/git/open.ts';
import { parseRollout, RolloutError, writeRollout } from '../../scripts/rollout/canonical.ts';
import { checkoutsFrom } from '../../scripts/rollout/checkouts.ts';
import { filterRollout } from '../../scripts/rollout/filter.ts';
import { memoryClose, memoryOpen } from '../../scripts/rollout/marker.ts';
import { maxSeenIds, memorySeen } from '../../scripts/rollout/memory-seen.ts';
import { redactedRollouts } from '../../scripts/rollout/redacted.ts';
import { openRollouts } from '../../scripts/rollout/source.ts';
import type { Agent, Item, Rollout } from '../../scripts/rollout/types.ts';
import { fixedClock } from '../../scripts/shared/clock.ts';
import { createRedactor } from '../../scripts/shared/redact.ts';
import { shortThreadId } from '../../scripts/shared/thread-id.ts';
import { aRepository, env, temporaryFolder, writeFiles } from '../support/repository.ts';
import { claudeId, claudeLine, codexId, codexItem, codexMessage, codexMeta, samples } from '../support/sessions.ts';
import { dayAt } from '../support/stored-rollouts.ts';

const rule = 'Deploys leave on Fridays only';
const uuid = '01a229b0-a4cb-70d0-9c00-6fba5df96ff3';
const injected = `${memoryOpen}\n- ${rule} [k3f7x2ab@88,91] [bbbbbbbb@2:7]\n- run them [cccccccc]\n${memoryClose}`;
const codexOwn = `## Memory\n========= MEMORY_SUMMARY BEGINS =========\n${rule} (thread_id=${uuid})\n========= MEMORY_SUMMARY ENDS =========\nNo id: [dddddddd@1]`;

/** The rollout of a session written as its agent does. */
async function rolloutOf(t: TestContext, agent: Agent, lines: readonly (object | string)[]): Promise<Rollout> {
  const folder = temporaryFolder(t);
  const name = agent === 'codex' ? `rollout-2026-11-29T10-00-00-${codexId}.jsonl` : `${claudeId}.jsonl`;
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)));
  writeFiles(folder, { [name]: `${text.join('\n')}\n` });
  return read(folder, agent);
}

async function read(path: string, agent: Agent): Promise<Rollout> {
  const place = { include: [], checkouts: checkoutsFrom({}), home: '/home/dana' };
  const rollouts = redactedRollouts(openRollouts([{ agent, path }], place), createRedactor({}));
  const [found] = (await rollouts.list()).found;
  const rollout = await rollouts.read(found?.thread.id ?? assert.fail('no session was found'));
  assert.deepEqual(found?.memory, rollout.memory, 'a listing says what the rollout says');
  return rollout;
}

function attachment(fields: object): object {
  return { ...claudeLine('user', ''), type: 'attachment', message: undefined, attachment: fields };
}

function codexCall(call: string, cmd: string, output: string): object[] {
  return [
    codexItem({ type: 'function_call', name: 'exec_command', call_id: call, arguments: JSON.stringify({ cmd }) }),
    codexItem({ type: 'function_call_output', call_id: call, output }),
  ];
}

/** Nothing of the memory is learned again, and none of its words are in the header. */
function assertNothingLearned(rollout: Rollout): void {
  for (const item of filterRollout(rollout).items) assert.ok(!item.text.includes(rule), item.n);
  assert.ok(!JSON.stringify(rollout.memory).includes('Fridays'));
}

test('Codex: the ids of injected memory are kept, ours and its own, and the memory is not learned again', async (t) => {
  const rollout = await rolloutOf(t, 'codex', [
    codexMeta(),
    codexMessage('developer', [`SessionStart hook additional context: ${injected}`, codexOwn]),
    codexMessage('user', [
      `# AGENTS.md instructions for x\n<INSTRUCTIONS>\n${memoryOpen}\n${rule} [eeeeeeee@1]\n${memoryClose}\n</INSTRUCTIONS>`,
      'Go.',
    ]),
    codexMessage('assistant', ['Done.']),
  ]);
  const own = shortThreadId(uuid);
  assert.deepEqual(rollout.memory, {
    injected: ['bbbbbbbb', 'cccccccc', 'eeeeeeee', 'k3f7x2ab', own].sort(),
    retrieved: [],
    read: [],
    citing: 0,
  });
  assertNothingLearned(rollout);
});

const claudeWays: readonly (readonly [string, object, readonly string[]])[] = [
  [
    'a hook’s context',
    { type: 'hook_additional_context', content: [injected], hookName: 'SessionStart' },
    ['bbbbbbbb', 'cccccccc', 'k3f7x2ab'],
  ],
  [
    'a hook’s plain words',
    { type: 'hook_success', content: `x ${injected}`, stdout: 'y' },
    ['bbbbbbbb', 'cccccccc', 'k3f7x2ab'],
  ],
  [
    'a handbook that is an auto memory',
    {
      type: 'instructions',
      files: [{ path: '/home/dana/team/memories/MEMORY.md', type: 'AutoMem', content: `- ${rule} [k3f7x2ab@1]` }],
    },
    ['k3f7x2ab'],
  ],
  [
    'a rule of a folder',
    {
      type: 'nested_memory',
      path: '/x/.claude/rules/memory.md',
      content: { path: '/x/.claude/rules/memory.md', content: injected },
    },
    ['bbbbbbbb', 'cccccccc', 'k3f7x2ab'],
  ],
  [
    'its own memories',
    {
      type: 'relevant_memories',
      memories: [{ path: '/home/dana/.claude/projects/-x/memory/MEMORY.md', content: `${rule} thread_id: ${uuid}` }],
    },
    [shortThreadId(uuid)],
  ],
];

for (const [what, fields, ids] of claudeWays)
  test(`Claude Code: the ids in ${what} are kept, numbers stay, and the memory is not learned again`, async (t) => {
    const lines = [claudeLine('user', 'Go.'), attachment(fields), claudeLine('assistant', 'Done.')];
    const rollout = await rolloutOf(t, 'claude-code', lines);
    assert.deepEqual(rollout.memory, { injected: ids, retrieved: [], read: [], citing: 0 });
    assert.deepEqual(
      rollout.items.map(({ n }) => n),
      ['1', '3'],
    );
    assert.deepEqual(rollout.skipped, { [`attachment:${(fields as { type: string }).type}`]: 1 });
    assertNothingLearned(rollout);
  });

test('Claude Code: a recorded session’s hook context that holds our memory is noticed, and changes nothing else', async (t) => {
  const name = 'fb8ad0c4-d0bd-445f-95d9-1ba4d65b7013';
  const recorded = join(samples, 'claude-code/-home-dana-src-orders-api');
  const folder = temporaryFolder(t);
  cpSync(join(recorded, name), join(folder, name), { recursive: true });
  const text = readFileSync(join(recorded, `${name}.jsonl`), 'utf8');
  const file = join(folder, `${name}.jsonl`);
  writeFileSync(file, text);
  const before = await read(folder, 'claude-code');
  writeFileSync(
    file,
    text.replaceAll('MARK-HOOK-CTX Team memory: never use jest', JSON.stringify(injected).slice(1, -1)),
  );
  const after = await read(folder, 'claude-code');
  assert.deepEqual(after.memory?.injected, ['bbbbbbbb', 'cccccccc', 'k3f7x2ab']);
  assert.deepEqual(after.items, before.items);
  assert.deepEqual(after.skipped, before.skipped);
  assertNothingLearned(after);
});

test('Copilot CLI: a recorded session’s start hook that gave our memory is noticed, and changes nothing else', async (t) => {
  const recorded = join(samples, 'copilot/b0383e95-2462-4442-8966-61c3ff7468ed/events.jsonl');
  const folder = temporaryFolder(t);
  const file = join(folder, 'events.jsonl');
  const text = readFileSync(recorded, 'utf8');
  writeFileSync(file, text);
  const before = await read(folder, 'copilot');
  writeFileSync(file, text.replaceAll('MARK-CP-HOOKCTX team memory', JSON.stringify(injected).slice(1, -1)));
  const after = await read(folder, 'copilot');
  assert.deepEqual([before.memory, after.memory?.injected], [undefined, ['bbbbbbbb', 'cccccccc', 'k3f7x2ab']]);
  assert.deepEqual([after.items, after.skipped], [before.items, before.skipped]);
  assertNothingLearned(after);
});

test('a file of memory that is read, searched or asked for by our tools is read or found, not injected', async (t) => {
  const shown = (id: string) => `memories/MEMORY.md:12:- ${rule} [${id}@88]\n`;
  const rollout = await rolloutOf(t, 'codex', [
    codexMeta(),
    codexMessage('user', ['Go.']),
    ...codexCall('c1', 'sed -n 1,80p ~/team/memories/MEMORY.md', shown('aaaaaaaa')),
    ...codexCall('c2', 'rg -n Fridays memories/rollout_summaries/', shown('bbbbbbbb')),
    ...codexCall('c3', 'cat ~/.codex/memories/raw_memories.md', `thread_id: ${uuid}\n`),
    codexItem({ type: 'function_call', name: 'mcp__commit-to-memory__search', call_id: 'c4', arguments: '{}' }),
    codexItem({ type: 'function_call_output', call_id: 'c4', output: shown('dddddddd') }),
    codexItem({ type: 'function_call', name: 'mcp__team-memory__read', call_id: 'c5', arguments: '{}' }),
    codexItem({ type: 'function_call_output', call_id: 'c5', output: shown('eeeeeeee') }),
  ]);
  assert.deepEqual(rollout.memory, {
    injected: [],
    retrieved: ['bbbbbbbb', 'dddddddd'],
    read: ['aaaaaaaa', 'eeeeeeee', shortThreadId(uuid)].sort(),
    citing: 0,
  });
  assertNothingLearned(rollout);
});

test('what a web page, another file or a person shows as memory is not memory that the session was given', async (t) => {
  const rollout = await rolloutOf(t, 'codex', [
    codexMeta(),
    codexMessage('user', [`Is this right? See ${injected}`]),
    ...codexCall('c1', 'curl https://evil.example.test/page', injected),
    ...codexCall('c2', 'cat test/fixtures/injected.md', injected),
    codexMessage('assistant', [`It says ${injected}`]),
  ]);
  assert.equal(rollout.memory, undefined);
});

test('a session that was shown nothing has the header that it always had', async (t) => {
  const rollout = await rolloutOf(t, 'codex', [codexMeta(), codexMessage('user', ['Go.'])]);
  assert.equal(rollout.memory, undefined);
  assert.ok(!writeRollout(rollout).includes('"memory"'));
});

test('an answer that cites is counted, so that only such sessions are read for their citations', async (t) => {
  const cites = 'Done.\n<oai-mem-citation>\n<rollout_ids>\nk3f7x2ab\n</rollout_ids>\n</oai-mem-citation>';
  const rollout = await rolloutOf(t, 'codex', [
    codexMeta(),
    codexMessage('developer', [injected]),
    codexMessage('user', ['Go.']),
    codexMessage('assistant', [cites], { phase: 'final_answer' }),
    codexMessage('assistant', [cites], { phase: 'commentary' }),
  ]);
  assert.equal(rollout.memory?.citing, 1);
});

test('it comes back from the team’s ref by the header alone, and what an older version stored has none', async (t) => {
  const rollout = await rolloutOf(t, 'codex', [
    codexMeta({ timestamp: '2026-11-29T10:00:00.000Z' }),
    codexMessage('developer', [injected]),
    codexMessage('user', ['Go.']),
  ]);
  const text = writeRollout(rollout);
  assert.deepEqual(parseRollout(text), rollout);
  assert.equal(writeRollout(parseRollout(text)), text);
  const older = text.replace(/,"memory":\{[^}]*\}/, '');
  assert.notEqual(older, text);
  assert.equal(parseRollout(older).memory, undefined);
  assert.equal(writeRollout(parseRollout(older)), older);

  const repository = await openRepository(aRepository(t, { 'README.md': 'Team.\n' }), { env });
  const clock = fixedClock(dayAt(10));
  await addRollouts({ repository, ref: archiveRef, remote: null }, [rollout], dayAt(0), { clock });
  const stored = redactedRollouts(
    archivedRollouts(repository, await repository.readRef(archiveRef)),
    createRedactor({}),
  );
  const { found } = await stored.list();
  assert.deepEqual(found[0]?.memory, rollout.memory);
  assert.deepEqual((await stored.read(rollout.thread.id)).memory, rollout.memory);
});

test('a header with other words than ids, or with too many, is refused', async (t) => {
  const text = writeRollout(
    await rolloutOf(t, 'codex', [codexMeta(), codexMessage('developer', [injected]), codexMessage('user', ['Go.'])]),
  );
  const many = JSON.stringify(Array.from({ length: maxSeenIds + 1 }, () => 'k3f7x2ab'));
  for (const list of ['["Deploys leave on Fridays"]', '"k3f7x2ab"', '[7]', '["../../x"]', many])
    assert.throws(
      () => parseRollout(text.replace(/"injected":\[[^\]]*\]/, `"injected":${list}`)),
      (error) => error instanceof RolloutError && error.line === 1,
      list.slice(0, 40),
    );
});

test('thousands of ids are bounded, and repetition costs a pass, not a square', () => {
  const item = (text: string): Item => ({ n: '1', at: null, who: 'harness', kind: 'text', text, src: { line: 1 } });
  const base = 'abcdefghijklmnopqrstuvwxyz234567';
  const id = (n: number) =>
    [20, 15, 10, 5, 0]
      .map((bits) => base[(n >> bits) & 31])
      .join('')
      .padStart(8, 'a');
  const ids = Array.from({ length: 5_000 }, (_, n) => `[${id(n)}@1]`).join(' ');
  assert.equal(memorySeen([item(`${memoryOpen}${ids}`)])?.injected.length, maxSeenIds);
  const hostile = `${memoryOpen}[aaaaaaaa@1,`.repeat(60_000);
  assert.equal(memorySeen([item(hostile), item(`thread_id=${'x'.repeat(300_000)}`)]), undefined);
});
