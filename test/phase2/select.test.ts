import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SelectionPolicy, selectInputs } from '../../scripts/phase2/select.ts';
import type { OutputView, SelectionRow } from '../../scripts/state/types.ts';
import { anOutput, aThreadRow, day } from '../support/rows.ts';

const nobody: ReadonlySet<string> = new Set();

function aPolicy(more: Partial<SelectionPolicy> = {}): SelectionPolicy {
  return { maxRawMemories: 256, maxUnusedDays: 30, maxNewPerNight: 40, ...more };
}

function before(...ids: string[]): SelectionRow[] {
  return ids.map((threadId) => ({
    scope: 's',
    threadId,
    extractorClass: 'llm',
    sourceUpdatedAt: day(80),
    selectedAt: day(81),
  }));
}

function ids(selection: { readonly chosen: readonly OutputView[] }): string[] {
  return selection.chosen.map((output) => output.threadId);
}

test('a memory that is cited outlives a newer one that is not', () => {
  const cited = anOutput('a', { sourceUpdatedAt: day(80), usageCount: 3, lastUsage: day(90) });
  const outputs = [anOutput('c'), anOutput('b'), cited];
  const { chosen } = selectInputs(outputs, before('a', 'b', 'c'), nobody, aPolicy({ maxRawMemories: 2 }), day(100));
  assert.deepEqual(ids({ chosen }), ['a', 'c']);
});

test('what was only read ranks below what was cited, above what was not, and ages like it', () => {
  const outputs = [
    anOutput('cited', { usageCount: 1, lastUsage: day(85) }),
    anOutput('read', { readCount: 9, sourceUpdatedAt: day(85) }),
    anOutput('neither', { sourceUpdatedAt: day(95) }),
    anOutput('old', { readCount: 9, sourceUpdatedAt: day(69) }),
  ];
  const known = before('cited', 'read', 'neither', 'old');
  const chosen = (maxRawMemories: number) =>
    ids(selectInputs(outputs, known, nobody, aPolicy({ maxRawMemories }), day(100)));
  assert.deepEqual(chosen(1), ['cited']);
  assert.deepEqual(chosen(2), ['cited', 'read']);
  assert.deepEqual(chosen(256), ['cited', 'neither', 'read']);
});

test('what nobody used for the allowed days is forgotten, at the boundary and not before', () => {
  const outputs = [
    anOutput('at', { sourceUpdatedAt: day(70) }),
    anOutput('over', { sourceUpdatedAt: day(70) - 1 }),
    anOutput('used', { sourceUpdatedAt: day(10), usageCount: 1, lastUsage: day(70) }),
  ];
  const selection = selectInputs(outputs, before('at', 'over', 'used'), nobody, aPolicy(), day(100));
  assert.deepEqual(ids(selection), ['at', 'used']);
  assert.deepEqual(selection.forgotten, ['over']);
});

test('a row that was never used counts from the night that made it', () => {
  const late = anOutput('late', { sourceUpdatedAt: day(60), generatedAt: day(85) });
  assert.deepEqual(ids(selectInputs([late], [], nobody, aPolicy(), day(100))), ['late']);
});

test('a thread behind a standing human line stays, however old, and takes no slot', () => {
  const old = anOutput('old', { sourceUpdatedAt: day(1) });
  const outputs = [old, anOutput('b'), anOutput('c')];
  const selection = selectInputs(
    outputs,
    before('old', 'b', 'c'),
    new Set(['old']),
    aPolicy({ maxRawMemories: 2 }),
    day(100),
  );
  assert.deepEqual(ids(selection), ['b', 'c', 'old']);
});

test('half of the slots are kept for rows never consolidated, however much the old ones are cited', () => {
  const old = ['a', 'b', 'c', 'd'].map((id) => anOutput(id, { usageCount: 9, lastUsage: day(99) }));
  const fresh = ['w', 'x', 'y'].map((id, index) => anOutput(id, { sourceUpdatedAt: day(95 + index) }));
  const selection = selectInputs(
    [...old, ...fresh],
    before('a', 'b', 'c', 'd'),
    nobody,
    aPolicy({ maxRawMemories: 4 }),
    day(100),
  );
  assert.deepEqual(ids(selection), ['c', 'd', 'w', 'x']);
  assert.equal(selection.waiting, 1);
});

test('one night brings in at most so many new rows, the oldest first, and says how many wait', () => {
  const fresh = Array.from({ length: 50 }, (_, index) =>
    anOutput(`n${String(index).padStart(2, '0')}`, { sourceUpdatedAt: day(80) + index }),
  );
  const selection = selectInputs(fresh, [], nobody, aPolicy(), day(100));
  assert.equal(selection.chosen.length, 40);
  assert.equal(ids(selection)[0], 'n00');
  assert.equal(selection.waiting, 10);
});

test('an output without words is no input', () => {
  assert.deepEqual(
    ids(selectInputs([anOutput('a', { rawMemory: ' \n', rolloutSummary: '' })], [], nobody, aPolicy(), day(91))),
    [],
  );
});

test('what left by its rank takes no place of what has never been there, and comes back where there is room', () => {
  const made = (id: string, at: number) => anOutput(id, { sourceUpdatedAt: day(at), generatedAt: day(at) + 60 });
  const outputs = [made('left', 85), made('there', 90), made('new', 95)];
  const known = [
    { scope: 's', threadId: 'there', extractorClass: 'llm', sourceUpdatedAt: day(90), selectedAt: day(91) } as const,
  ];
  const chosen = (more: Partial<SelectionPolicy>) => selectInputs(outputs, known, nobody, aPolicy(more), day(100));
  assert.deepEqual(ids(chosen({ maxRawMemories: 2, maxNewPerNight: 1 })), ['new', 'there']);
  assert.deepEqual(ids(chosen({ maxRawMemories: 3 })), ['left', 'new', 'there']);
  assert.deepEqual(ids(chosen({ maxRawMemories: 3, maxNewPerNight: 1 })), ['new', 'there']);
  assert.equal(chosen({ maxRawMemories: 2 }).waiting, 0, 'it has had its turn');
});

test('what comes late from a laptop has not had its turn, however old it is', () => {
  const late = anOutput('late', { sourceUpdatedAt: day(85), generatedAt: day(99) });
  const known = [
    { scope: 's', threadId: 'there', extractorClass: 'llm', sourceUpdatedAt: day(90), selectedAt: day(91) } as const,
  ];
  const policy = aPolicy({ maxRawMemories: 2, maxNewPerNight: 1 });
  assert.deepEqual(ids(selectInputs([late, anOutput('there')], known, nobody, policy, day(100))), ['late', 'there']);
});

test('the order of the rows decides nothing', () => {
  const outputs = ['d', 'a', 'c', 'b'].map((id) => anOutput(id));
  const policy = aPolicy({ maxRawMemories: 2 });
  const one = ids(selectInputs(outputs, before('a', 'b', 'c', 'd'), nobody, policy, day(100)));
  const other = ids(selectInputs([...outputs].reverse(), before('d', 'c', 'b', 'a'), nobody, policy, day(100)));
  assert.deepEqual(one, other);
});

test('what used the web or MCP servers comes last or not at all, if the configuration says so', () => {
  const outside = anOutput('a', {
    usageCount: 9,
    lastUsage: day(99),
    thread: aThreadRow('a', { memoryMode: 'polluted' }),
  });
  const outputs = [outside, anOutput('b'), anOutput('c')];
  const chosen = (more: Partial<SelectionPolicy>) =>
    ids(selectInputs(outputs, before('a', 'b', 'c'), nobody, aPolicy({ maxRawMemories: 2, ...more }), day(100)));
  assert.deepEqual(chosen({}), ['a', 'c']);
  assert.deepEqual(chosen({ outside: 'downrank' }), ['b', 'c']);
  assert.deepEqual(chosen({ outside: 'downrank', maxRawMemories: 3 }), ['a', 'b', 'c'], 'where there is room it stays');
  assert.deepEqual(chosen({ outside: 'exclude', maxRawMemories: 3 }), ['b', 'c']);
});
