import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chartOf } from '../../../scripts/bench/chart/chart.ts';
import { drawnOf } from '../../../scripts/bench/chart/figures.ts';
import { UsageError } from '../../../scripts/shared/errors.ts';

const compared = [
  { name: 'phase 1, processor time a rollout', unit: 'ms', ours: 5, theirs: 25, ratio: 5, atLeast: 5, verdict: 'held' },
  { name: 'peak memory', unit: 'MB', ours: 150, theirs: 200, ratio: 4 / 3, atLeast: 1, verdict: 'held' },
];
const growing = {
  name: 'scaling-record',
  unit: 'exponent',
  value: 0.9,
  points: [
    { size: 50, ms: 20 },
    { size: 500, ms: 170 },
    { size: 5_000, ms: 1_500 },
  ],
};
const whole = {
  held: true,
  at: '2026-11-30T11:00:00Z',
  machine: { platform: 'linux', arch: 'x64', cores: 2, memoryGiB: 24 },
  measures: [{ name: 'read', unit: 'MB/s', value: 90 }, growing],
  comparison: { other: 'Codex 0.171.0', corpus: '', rounds: 2, rows: compared },
};
const drawn = (figures: unknown) => chartOf(drawnOf(JSON.stringify(figures), 'bench.json'));

test('equal figures give equal bytes, whatever else the JSON holds and in whatever order', () => {
  const { comparison, ...rest } = whole;
  const other = { more: [1, 2], comparison, ...rest, held: false };
  assert.equal(drawn(whole), drawn(other));
});

test('every figure stands in the description, with day and cores', () => {
  const [, description = ''] = /<desc id="description">([^<]*)<\/desc>/.exec(drawn(whole)) ?? [];
  for (const words of [
    'phase 1, processor time a rollout: ours 5.00 ms, theirs 25.0 ms, 5.00 times as much.',
    'peak memory: ours 150 MB, theirs 200 MB, 1.33 times as much.',
    'scaling-record: 20.0 ms for 50, 170 ms for 500, 1500 ms for 5000; exponent 0.90.',
    'Measured on 2026-11-30 on 2 cores.',
  ])
    assert.ok(description.includes(words), words);
  assert.match(drawn(whole), /role="img" aria-labelledby="title description"/);
});

test('a bar is as long as its figure, against the longer of the two', () => {
  const widths = [...drawn(whole).matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  assert.equal(widths.length, 4);
  assert.equal(((widths[0] ?? 0) / (widths[1] ?? 0)).toFixed(2), '0.20');
  assert.equal(((widths[2] ?? 0) / (widths[3] ?? 0)).toFixed(2), '0.75');
});

test('on dark ground the colours are others', () => {
  assert.match(drawn(whole), /@media \(prefers-color-scheme: dark\) \{\ntext \{ fill: #e6edf3; \}/);
});

test('the comparison alone, and the growth alone, are drawn as well', () => {
  const { comparison, measures, ...rest } = whole;
  assert.equal(drawn({ ...rest, comparison, measures: [] }).match(/<path /g), null);
  assert.equal(drawn({ ...rest, comparison: null, measures }).match(/<rect /g), null);
  assert.equal(drawn({ ...rest, comparison: null, measures }).match(/class="line c0"/g)?.length, 2);
});

test('a name cannot leave its place', () => {
  const hostile = { ...whole.comparison, other: '</title><script>alert(1)</script>&"' };
  const svg = drawn({ ...whole, comparison: hostile });
  assert.ok(!svg.includes('<script'));
  assert.match(svg, /&lt;\/title&gt;&lt;script&gt;/);
});

test('what holds nothing to draw says how it is made; a broken figure is left out', () => {
  const broken = {
    ...whole,
    measures: [
      {
        ...growing,
        points: [
          { size: 10, ms: -1 },
          { size: 'x', ms: 1 },
        ],
      },
    ],
  };
  for (const text of [
    '',
    'null',
    '[]',
    '{"held":true',
    JSON.stringify({ ...whole, at: 'today' }),
    JSON.stringify({ ...whole, machine: {} }),
    JSON.stringify({
      ...broken,
      comparison: { other: 'x', rows: [{ name: 'a', unit: 'ms', ours: 0, theirs: 1, ratio: 1 }] },
    }),
  ])
    assert.throws(
      () => drawnOf(text, 'bench.json'),
      (error) => error instanceof UsageError && /--json > bench\.json/.test(error.hint),
    );
  assert.equal(drawnOf(JSON.stringify(broken), 'bench.json').growth.length, 0);
});
