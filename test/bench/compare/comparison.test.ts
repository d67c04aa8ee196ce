import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figuresOf } from '../../../scripts/bench/compare/codex.ts';
import { codexRows, isMissed } from '../../../scripts/bench/compare/comparison.ts';
import { type Figures, parseFigures } from '../../../scripts/bench/compare/figures.ts';
import { comparisonText } from '../../../scripts/bench/compare/report.ts';
import { MemoryError } from '../../../scripts/shared/errors.ts';

const ours: Figures = {
  rollouts: 1_000,
  phase1CpuMs: 5_000,
  wholeCpuMs: 6_000,
  preparationMs: 300,
  peakBytes: 150_000_000,
};
const theirs: Figures = {
  rollouts: 1_000,
  phase1CpuMs: 25_000,
  wholeCpuMs: 26_000,
  preparationMs: 1_200,
  peakBytes: 200_000_000,
};

test('five times less, five times faster and less memory are held or missed one by one', () => {
  const rows = codexRows([{ ours, theirs }], true);
  assert.deepEqual(
    rows.map(({ ratio, verdict }) => [ratio.toFixed(3), verdict]),
    [
      ['5.000', 'held'],
      ['4.333', 'reported'],
      ['4.000', 'missed'],
      ['1.333', 'held'],
    ],
  );
  assert.equal(isMissed(rows), true);
  const text = comparisonText({ other: 'Codex 0.171.0', corpus: 'some', rounds: 1, rows });
  assert.match(text, /phase 2, preparation at 1000 outputs +300 ms +1200 ms +4\.00 × +≥ 5 × +missed/);
});

test('each counts its own rollouts, and of several rounds the middle', () => {
  const slow = { ours: { ...ours, phase1CpuMs: 90_000 }, theirs };
  const fast = { ours: { ...ours, phase1CpuMs: 3_000 }, theirs: { ...theirs, rollouts: 500 } };
  const [cpu] = codexRows([slow, { ours, theirs }, fast], true);
  assert.deepEqual([cpu?.ours, cpu?.theirs], [5, 25]);
});

test('nothing was promised about a corpus that somebody names', () => {
  const rows = codexRows([{ ours: theirs, theirs: ours }], false);
  assert.equal(isMissed(rows), false);
});

test('a pass that finds nothing to read says what a turn takes without memories, and that is taken off', () => {
  const passes = [
    { extractions: 128, cpuMs: 1_300, preparationMs: 100 },
    { extractions: 72, cpuMs: 800, preparationMs: 150 },
    { extractions: 0, cpuMs: 20, preparationMs: null },
  ];
  assert.deepEqual(figuresOf(passes, 500, 7), {
    rollouts: 200,
    phase1CpuMs: 2_060,
    wholeCpuMs: 2_560,
    preparationMs: 150,
    peakBytes: 7,
  });
});

test('without a rollout, and without a consolidation after the last, there is nothing to compare', () => {
  const nothing = { extractions: 0, cpuMs: 20, preparationMs: null };
  assert.throws(() => figuresOf([nothing], 0, 0), MemoryError);
  const unprepared = { extractions: 3, cpuMs: 20, preparationMs: null };
  assert.throws(() => figuresOf([unprepared, nothing], 0, 0), /no consolidation after its last rollout/);
});

test('what a measuring process says is believed only if it is figures', () => {
  assert.deepEqual(parseFigures(JSON.stringify(ours)), ours);
  for (const text of [
    '',
    '{}',
    'null',
    JSON.stringify({ ...ours, peakBytes: '1' }),
    JSON.stringify({ ...ours, rollouts: -1 }),
  ])
    assert.throws(() => parseFigures(text), MemoryError, text);
});
