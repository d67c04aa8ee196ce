import { htmlText } from '../../shared/escape.ts';
import { shown } from '../text.ts';
import type { Drawn } from './figures.ts';
import { growthPanel } from './growth-panel.ts';

const width = 860;
/** Where each panel's title stands. */
const top = 26;
const barsWidth = 330;
const rowHeight = 68;
const least = 250;

/**
 * The figures as an SVG that needs nothing else: readable on light and dark ground, with a title and a description of
 * all its figures for who does not see it. Equal figures give equal bytes.
 */
export function chartOf(drawn: Drawn): string {
  const { comparison, growth } = drawn;
  const rows = comparison?.rows ?? [];
  const height = Math.max(least, top + 14 + rows.length * rowHeight) + 34;
  const left = comparison === null ? 20 : 480;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${htmlText(titleOf(drawn))}</title>`,
    `<desc id="description">${htmlText(describe(drawn))}</desc>`,
    style,
    ...(comparison === null ? [] : bars(comparison)),
    ...(growth.length === 0 ? [] : growthPanel(growth, { left, top, right: width - 20, bottom: height - 62 })),
    `<text x="20" y="${height - 12}" class="small">${htmlText(`${drawn.day}, ${drawn.cores} cores. Made by npm run bench.`)}</text>`,
    '</svg>',
  ].join('\n')}\n`;
}

function titleOf({ comparison, growth }: Drawn): string {
  const parts = [
    ...(comparison === null ? [] : [`beside ${comparison.other}`]),
    ...(growth.length === 0 ? [] : ['how time grows with the work']),
  ];
  return `commit-to-memory ${parts.join(', and ')}`;
}

function describe({ comparison, growth, day, cores }: Drawn): string {
  const compared = (comparison?.rows ?? []).map(
    ({ name, unit, ours, theirs, ratio }) =>
      `${name}: ours ${shown(ours)} ${unit}, theirs ${shown(theirs)} ${unit}, ${shown(ratio)} times as much.`,
  );
  const grown = growth.map(
    ({ name, exponent, points }) =>
      `${name}: ${points.map(({ size, ms }) => `${shown(ms)} ms for ${size}`).join(', ')}; exponent ${exponent.toFixed(2)}.`,
  );
  return [...compared, ...grown, `Measured on ${day} on ${cores} cores.`].join(' ');
}

/** A figure a group: its name, our bar, theirs. Each group has a scale of its own. */
function bars({ other, rows }: NonNullable<Drawn['comparison']>): string[] {
  return [
    `<text x="20" y="${top}" class="head">Beside ${htmlText(shortened(other))}: less is better</text>`,
    ...rows.flatMap(({ name, unit, ours, theirs, ratio }, index) => {
      const y = top + 14 + index * rowHeight;
      const most = Math.max(ours, theirs);
      const bar = (value: number, at: number, kind: 'ours' | 'theirs', words: string) => {
        const length = Math.max(2, (value / most) * barsWidth * 0.62);
        return [
          `<rect x="20" y="${y + at}" width="${length.toFixed(1)}" height="14" rx="2" class="${kind}"/>`,
          `<text x="${(28 + length).toFixed(1)}" y="${y + at + 11.5}" class="value">${htmlText(words)}</text>`,
        ];
      };
      return [
        `<text x="20" y="${y + 12}" class="name">${htmlText(name)}</text>`,
        ...bar(ours, 19, 'ours', `ours ${shown(ours)} ${unit}`),
        ...bar(theirs, 37, 'theirs', `theirs ${shown(theirs)} ${unit} (${shown(ratio)} ×)`),
      ];
    }),
  ];
}

function shortened(text: string): string {
  return text.length <= 36 ? text : `${text.slice(0, 35)}…`;
}

/** No ground of its own; the colours change with the reader's scheme. */
const style = `<style>
text { font-family: system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 12px; fill: #1f2328; }
.head { font-size: 14px; font-weight: 600; }
.name { font-weight: 600; }
.small { font-size: 11px; fill: #59636e; }
.ours { fill: #0969da; }
.theirs { fill: #8c959f; }
.grid { stroke: #59636e; stroke-opacity: 0.25; }
.linear { stroke: #59636e; stroke-dasharray: 3 4; fill: none; }
.line { fill: none; stroke-width: 2; }
.c0 { stroke: #0969da; } .c1 { stroke: #bc4c00; } .c2 { stroke: #1a7f37; } .c3 { stroke: #8250df; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.small { fill: #9198a1; }
.ours { fill: #4493f8; }
.theirs { fill: #656c76; }
.grid, .linear { stroke: #9198a1; }
.c0 { stroke: #4493f8; } .c1 { stroke: #f0883e; } .c2 { stroke: #3fb950; } .c3 { stroke: #ab7df8; }
}
</style>`;
