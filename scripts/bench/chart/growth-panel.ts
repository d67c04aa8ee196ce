import { htmlText } from '../../shared/escape.ts';
import type { Point } from '../types.ts';
import type { Drawn } from './figures.ts';

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const legendLine = 16;

/** Lines on logarithmic axes, so that what grows with its size rises as the dashed line does; each with its exponent. */
export function growthPanel(growth: Drawn['growth'], { left, top, right, bottom }: Box): string[] {
  const sizes = decades(growth.flatMap(({ points }) => points.map(({ size }) => size)));
  const times = decades(growth.flatMap(({ points }) => points.map(({ ms }) => ms)));
  const from = left + 56;
  const above = top + 14 + legendLine * growth.length;
  const x = (size: number) => place(size, sizes, from, right);
  const y = (ms: number) => place(ms, times, bottom, above);
  const path = (points: readonly Point[]) =>
    points
      .map(({ size, ms }, index) => `${index === 0 ? 'M' : 'L'}${x(size).toFixed(1)} ${y(ms).toFixed(1)}`)
      .join(' ');
  const sides = [from, right].map((side) => side.toFixed(1));
  return [
    `<text x="${left}" y="${top}" class="head">How time grows with the work</text>`,
    ...growth.map(({ name, exponent }, index) => legend(name, exponent, index, left, top + 20 + index * legendLine)),
    ...ticks(times).flatMap((ms) => [
      `<line x1="${sides[0]}" x2="${sides[1]}" y1="${y(ms).toFixed(1)}" y2="${y(ms).toFixed(1)}" class="grid"/>`,
      `<text x="${from - 8}" y="${(y(ms) + 4).toFixed(1)}" text-anchor="end" class="small">${timeText(ms)}</text>`,
    ]),
    ...ticks(sizes).map(
      (size) => `<text x="${x(size).toFixed(1)}" y="${bottom + 18}" text-anchor="middle" class="small">${size}</text>`,
    ),
    `<path d="${path(linear(sizes, times))}" class="linear"/>`,
    ...growth.map(({ points }, index) => `<path d="${path(points)}" class="line c${index % 4}"/>`),
  ];
}

/** Where the first and the last power of ten stand: from, to. */
type Range = readonly [from: number, to: number];

function decades(values: readonly number[]): Range {
  const from = Math.floor(Math.log10(Math.min(...values)));
  return [from, Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

function place(value: number, [from, to]: Range, start: number, end: number): number {
  return start + ((Math.log10(value) - from) / (to - from)) * (end - start);
}

function ticks([from, to]: Range): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => Number(`1e${from + index}`));
}

/** From the lower left corner up, a decade of time for a decade of work. */
function linear([left, right]: Range, [low, high]: Range): Point[] {
  const steps = Math.min(right - left, high - low);
  return [0, steps].map((step) => ({ size: Number(`1e${left + step}`), ms: Number(`1e${low + step}`) }));
}

function legend(name: string, exponent: number, index: number, left: number, y: number): string {
  const words = `${name.replace(/^scaling-/, '')}: exponent ${exponent.toFixed(2)}`;
  return `<path d="M${left} ${y - 4} h18" class="line c${index % 4}"/><text x="${left + 26}" y="${y}">${htmlText(words)}</text>`;
}

function timeText(ms: number): string {
  return ms >= 1_000 ? `${ms / 1_000} s` : `${ms} ms`;
}
