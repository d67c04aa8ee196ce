import { scaleBand, scaleLinear, scaleUtc } from 'd3-scale';
import { type Html, html } from './html.ts';
import { shortDay } from './words.ts';

/** Bars of one day. */
export interface Bar {
  /** Midnight, epoch seconds; days follow each other. */
  readonly day: number;
  readonly up: number;
  /** Drawn below the line, hatched. */
  readonly down?: number;
}

export interface Frame {
  /** Units of the view box: CSS pixels where it is shown as wide as it is. */
  readonly width: number;
  readonly height: number;
}

/**
 * Bars over days as an SVG without a script or a style of its own: classes give the colours, so that dark, light and
 * print have theirs. It says nothing to a screen reader: a table beside it holds the figures.
 * @param pattern id of a hatch that stands in the page. @param label of a value on the axis.
 */
export function barChart(
  bars: readonly Bar[],
  { width, height }: Frame,
  pattern: string,
  label: (value: number) => string,
): Html {
  const most = Math.max(1e-9, ...bars.map(({ up }) => up));
  const least = Math.max(0, ...bars.map(({ down = 0 }) => down));
  const x = scaleBand<number>()
    .domain(bars.map(({ day }) => day))
    .range([margin.left, width - margin.right])
    .paddingInner(0.25)
    .paddingOuter(0.1);
  const y = scaleLinear()
    .domain([-least, most])
    .nice(3)
    .range([height - margin.bottom, margin.top]);
  const zero = y(0);
  const thick = Math.min(x.bandwidth(), widestBar);
  const left = (day: number) => round((x(day) ?? 0) + (x.bandwidth() - thick) / 2);
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" aria-hidden="true" focusable="false">
${y
  .ticks(3)
  .map(
    (value) =>
      html`<line class="grid" x1="${margin.left}" x2="${width - margin.right}" y1="${round(y(value))}" y2="${round(y(value))}"/><text class="tick" x="${margin.left - 8}" y="${round(y(value) + 4)}" text-anchor="end">${label(Math.abs(value))}</text>`,
  )}
${bars.map(({ day, up }) => (up > 0 ? html`<rect class="up" x="${left(day)}" y="${round(y(up))}" width="${round(thick)}" height="${round(zero - y(up))}" rx="1.5"/>` : null))}
${bars.map(({ day, down = 0 }) => (down > 0 ? html`<rect class="down" fill="url(#${pattern})" x="${left(day)}" y="${round(zero)}" width="${round(thick)}" height="${round(y(-down) - zero)}"/>` : null))}
<line class="axis" x1="${margin.left}" x2="${width - margin.right}" y1="${round(zero)}" y2="${round(zero)}"/>
${dayTicks(bars, width).map((day) => html`<text class="tick" x="${round((x(day) ?? 0) + x.bandwidth() / 2)}" y="${height - 6}" text-anchor="middle">${shortDay(day)}</text>`)}
</svg>`;
}

const margin = { top: 10, right: 22, bottom: 24, left: 52 } as const;
const widestBar = 26;
/** Room that a day's label takes. */
const labelWidth = 72;

/** Round days, as many as there is room for. */
function dayTicks(bars: readonly Bar[], width: number): number[] {
  const [first, last] = [bars[0]?.day, bars.at(-1)?.day];
  if (first === undefined || last === undefined) return [];
  const room = Math.max(1, Math.floor((width - margin.left - margin.right) / labelWidth));
  if (bars.length <= room) return bars.map(({ day }) => day);
  const days = new Set(bars.map(({ day }) => day));
  return scaleUtc()
    .domain([new Date(first * 1000), new Date(last * 1000)])
    .ticks(room)
    .map((date) => date.getTime() / 1000)
    .filter((day) => days.has(day));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
