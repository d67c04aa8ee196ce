import { barChart } from './chart.ts';
import type { Report } from './gather.ts';
import { type Html, html } from './html.ts';
import { byDay, type Night, type NightsOfDay } from './nights.ts';
import { counted, dayText, numberText, shortNumber, timeText, usdText } from './words.ts';

/** The time line of nights: three small charts with one scale of days, and the same figures as a table. */
export function nightsSection({ nights }: Report): Html {
  if (nights.length === 0)
    return html`<section id="nights" aria-labelledby="nights-title"><h2 id="nights-title">Nights</h2><p class="empty">No night has run here yet.</p></section>`;
  const days = byDay(nights, widest.days);
  return html`<section id="nights" aria-labelledby="nights-title">
<h2 id="nights-title">Nights</h2>
<svg class="patterns" aria-hidden="true" focusable="false" width="0" height="0"><defs>${[widest, narrow].map(({ name }) => html`<pattern id="${hatch(name)}" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch-back" width="5" height="5"/><line class="hatch" x1="0" y1="0" x2="0" y2="5"/></pattern>`)}</defs></svg>
<div class="charts">
${figure('Sessions learned, and memories forgotten', html`<span class="key up">above the line: learned</span> <span class="key down">below, hatched: forgotten</span>`, days, ({ day, learned, forgotten }) => ({ day, up: learned, down: forgotten }), shortNumber)}
${figure('Tokens', html`<span class="key up">read and written</span>`, days, ({ day, input, output }) => ({ day, up: input + output }), shortNumber)}
${figure('Cost', html`<span class="key up">US dollars</span>`, days, ({ day, usd }) => ({ day, up: usd }), usdText)}
</div>
${tableOf(nights)}
</section>`;
}

/** A wide drawing and one for a phone, whose letters keep their size. */
const widest = { name: 'wide', days: 60, width: 860, height: 170 } as const;
const narrow = { name: 'narrow', days: 21, width: 340, height: 160 } as const;

/** Nights in the table. */
const shownNights = 120;

function figure(
  title: string,
  key: Html,
  days: readonly NightsOfDay[],
  bar: (day: NightsOfDay) => { day: number; up: number; down?: number },
  label: (value: number) => string,
): Html {
  const bars = days.map(bar);
  if (bars.every(({ up, down = 0 }) => up + down === 0))
    return html`<figure><figcaption><strong>${title}</strong></figcaption><p class="empty">None in the last ${counted(days.length, 'day')}.</p></figure>`;
  return html`<figure><figcaption><strong>${title}</strong> ${key}</figcaption>
${[widest, narrow].map(({ name, days: most, ...frame }) => html`<div class="${name}-only">${barChart(bars.slice(-most), frame, hatch(name), label)}</div>`)}
</figure>`;
}

function hatch(name: string): string {
  return `hatch-${name}`;
}

function tableOf(nights: readonly Night[]): Html {
  const shown = nights.slice(0, shownNights);
  return html`<details class="table"><summary>The nights as a table</summary>
<div class="wide" role="region" aria-label="The nights" tabindex="0"><table>
<caption>${nights.length > shown.length ? `The latest ${shown.length} of ${counted(nights.length, 'night')}` : counted(nights.length, 'night')}, times in UTC</caption>
<thead><tr><th scope="col">Night</th><th scope="col">Outcome</th><th scope="col" class="number">Learned</th><th scope="col" class="number">Forgotten</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Tokens in</th><th scope="col" class="number">Tokens out</th><th scope="col" class="number">Cost</th><th scope="col" class="number">Took</th><th scope="col">Models</th></tr></thead>
<tbody>${shown.map(
    (night) =>
      html`<tr><th scope="row"><span class="day">${dayText(night.at)}</span> <span class="facts">${timeText(night.at).slice(-5)}</span></th><td>${outcomes[night.outcome]}</td>${[night.learned, night.forgotten, night.failed, night.input, night.output].map((count) => html`<td class="${count === 0 ? 'number zero' : 'number'}">${numberText(count)}</td>`)}<td class="number">${usdText(night.usd)}</td><td class="number">${tookText(night.seconds)}</td><td>${night.models}</td></tr>`,
  )}</tbody>
</table></div></details>`;
}

const outcomes: Readonly<Record<Night['outcome'], string>> = {
  done: 'done',
  partly: 'partly failed',
  failed: 'failed',
  quiet: 'quiet',
};

function tookText(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}
