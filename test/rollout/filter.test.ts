import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Filtered, filterRollout } from '../../scripts/rollout/filter.ts';
import { memoryClose, memoryOpen } from '../../scripts/rollout/marker.ts';
import type { Item } from '../../scripts/rollout/types.ts';

test('what programs put in is left out, an interruption stays', () => {
  const { items, dropped } = filterItems([
    an('1', { who: 'harness', text: '<environment_context>\n<cwd>~/x</cwd>\n</environment_context>' }),
    an('2', { who: 'harness', text: '# AGENTS.md instructions for x\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>' }),
    an('3', { text: 'Fix the build' }),
    an('4', { who: 'harness', text: '[Request interrupted by user for tool use]' }),
    an('5', { who: 'harness', text: '<turn_aborted>\nThe user interrupted.\n</turn_aborted>' }),
  ]);
  assert.deepEqual(numbers(items), ['3', '4', '5']);
  assert.equal(dropped.harness, 2);
});

test('a session whose human says nothing of their own has nothing human left', () => {
  const quoted = `${memoryOpen}\nUse pnpm.\n${memoryClose}`;
  const filtered = filterItems([an('1', { text: quoted }), an('2', { who: 'assistant', text: 'Done.' })]);
  assert.equal(filtered.hasHuman, false);
  assert.deepEqual(numbers(filtered.items), ['2']);
});

test('injected memory inside a message goes, the words around it stay', () => {
  const texts = [
    `Before\n${memoryOpen}\nRemembered rule\n${memoryClose}\nAfter`,
    'Before\n========= MEMORY_SUMMARY BEGINS =========\nRemembered rule\n========= MEMORY_SUMMARY ENDS =========\nAfter',
    'Before\n<system-reminder>\nContents of memory/MEMORY.md: Remembered rule\n</system-reminder>\nAfter',
    'Before\n<oai-mem-citation>\nMEMORY.md:1-2|note=[Remembered rule]\n</oai-mem-citation>\nAfter',
    'Before\n<skill>\nRemembered rule\n</skill>\nAfter',
  ];
  for (const text of texts)
    for (const who of ['human', 'assistant', 'tool'] as const) {
      const [item] = filterItems([an('1', { who, text })]).items;
      assert.match(item?.text ?? '', /Before\s+After/, `${who}: ${text}`);
    }
});

test('a sentence about a skill tag, or one that never closes, keeps its words', () => {
  const text = `Why does <skill> end at </skill> here, and what does ${memoryOpen} mean?`;
  assert.equal(filterItems([an('1', { text })]).items[0]?.text, text);
});

test('an output that was cut inside our memory shows nothing behind the opening', () => {
  const [item] = filterItems([an('1', { who: 'tool', kind: 'output', text: `ok\n${memoryOpen}\nUse pnpm` })]).items;
  assert.equal(item?.text, 'ok\n');
});

test('a tool that prints memory teaches nothing new', () => {
  const commands = [
    'cat memories/MEMORY.md',
    'sed -n 1,80p ../team/memories/memory_summary.md',
    'rg pnpm memories/rollout_summaries/',
    'cat ~/.codex/memories/MEMORY.md',
    'cat ~/.claude/projects/-x-y/memory/no-jest.md',
  ];
  for (const command of commands) {
    const { items, dropped } = filterItems([
      an('1', { text: 'go' }),
      an('2', { who: 'tool', kind: 'call', does: 'shell', call: 'c', text: command }),
      an('3', { who: 'tool', kind: 'output', call: 'c', text: 'Always use pnpm' }),
      an('4', { who: 'tool', kind: 'output', call: 'other', text: 'tests pass' }),
    ]);
    assert.deepEqual(numbers(items), ['1', '2', '4'], command);
    assert.equal(dropped.memory_read, 1);
  }
});

test('our own tools and Codex’s memory tools are memory as well', () => {
  for (const tool of ['mcp__commit-to-memory__read', 'commit_to_memory.search', 'memories__read'])
    assert.deepEqual(filterItems([an('1', { who: 'tool', kind: 'output', tool, text: 'Use pnpm' })]).items, []);
});

test('handbook bullets are recognised by their evidence, wherever they are shown', () => {
  const bullet = '- Use pnpm here [Task 1] [k3f7x2ab@88,91]';
  const shown = `$ git diff\n+${bullet}\nmemories/MEMORY.md:12:${bullet}\n- said "x" (@12,15)\nok`;
  assert.equal(filterItems([an('1', { who: 'tool', text: shown })]).items[0]?.text, '$ git diff\nok');
  assert.equal(filterItems([an('1', { text: `See:\n${bullet}` })]).items[0]?.text, 'See:');
});

test('a person who corrects a line of memory is heard', () => {
  const text = 'The line about pnpm [k3f7x2ab@88] is wrong: we use npm.';
  assert.equal(filterItems([an('1', { text })]).items[0]?.text, text);
});

test('an edit of a memory file and ordinary files are untouched', () => {
  const items = [
    an('1', { who: 'tool', kind: 'call', does: 'edit', call: 'e', text: 'memories/MEMORY.md' }),
    an('2', { who: 'tool', kind: 'output', call: 'e', text: 'edited' }),
    an('3', { who: 'tool', kind: 'call', does: 'shell', call: 's', text: 'cat docs/memory/layout.md' }),
    an('4', { who: 'tool', kind: 'output', call: 's', text: 'how the heap is laid out' }),
  ];
  assert.deepEqual(filterItems(items).items, items);
});

test('hostile repetition costs a pass, not a square', () => {
  const openings = '<skill> <system-reminder> # AGENTS.md instructions - [aaaaaaaa@1 (@1'.repeat(40_000);
  const items = filterItems([an('1', { text: openings }), an('2', { who: 'tool', text: `${openings}\n`.repeat(2) })]);
  assert.equal(items.items[0]?.text, openings);
});

function an(n: string, given: Partial<Item> = {}): Item {
  return { n, at: null, who: 'human', kind: 'text', text: 'words', src: { line: Number(n) }, ...given };
}

function filterItems(items: readonly Item[]): Filtered {
  return filterRollout({ items });
}

function numbers(items: readonly Item[]): string[] {
  return items.map((item) => item.n);
}
