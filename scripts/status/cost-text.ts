import { isoTime } from '../shared/clock.ts';
import { type TableColumn, textTable } from '../shared/text-table.ts';
import { type Cost, cachedShare, type Forecast, type Spending, type Spent, tokensOf, usdOf } from './cost.ts';

/** What memory costs, in tables for a person. */
export function costText(cost: Cost): string {
  const { nights, months } = cost;
  if (nights.length === 0)
    return 'Nothing was spent: no night has asked a model. `npm run nightly -- --dry-run` estimates one.';
  const more = nights.length - shownNights;
  return [
    ...textTable(
      columns('month'),
      months.slice(0, shownMonths).flatMap(({ month, ...spent }) => rowsOf(month, spent)),
      60,
    ),
    '',
    ...textTable(
      columns('night'),
      nights.slice(0, shownNights).flatMap(({ startedAt, ...spent }) => rowsOf(isoTime(startedAt), spent)),
      60,
    ),
    ...(more > 0 ? [`… and ${more} earlier; --json names all`] : []),
    '',
    ...limitLines(cost),
  ].join('\n');
}

/** The same for machines: times are epoch seconds, shares from 0 to 1. */
export function costJson({ nights, months, now, usdPerMonth, forecast }: Cost): Record<string, unknown> {
  return {
    month: { ...spendingJson(now), usd_per_month: usdPerMonth, usd_left: leftOf(now, usdPerMonth) },
    forecast: forecast && {
      usd: forecast.usd,
      tokens: forecast.tokens,
      usd_per_day: forecast.usdPerDay,
      tokens_per_day: forecast.tokensPerDay,
      rests_on: { days: forecast.days, nights: forecast.nights },
      days_left: forecast.daysLeft,
      limit_reached_on: forecast.reachedOn,
    },
    months: months.map(({ month, nights: count, ...spent }) => ({ month, nights: count, ...spendingJson(spent) })),
    nights: nights.map(({ runId, startedAt, ...spent }) => ({
      run_id: runId,
      started_at: startedAt,
      ...spendingJson(spent),
    })),
  };
}

/** As many as a terminal shows; --json has all. */
const shownNights = 14;
const shownMonths = 6;

function columns(name: string): readonly TableColumn[] {
  const numbers = ['requests', 'input', 'cached', 'output', 'cost'];
  return [
    { name, align: 'left' },
    { name: 'phase', align: 'left' },
    ...numbers.map((each): TableColumn => ({ name: each, align: 'right' })),
  ];
}

/** A line a phase, and one for all of them where there are several. */
function rowsOf(name: string, { phases, total }: Spending): string[][] {
  const lines = [...phases].map(([phase, spent]) => ['', phaseNames.get(phase) ?? phase, ...cellsOf(spent)]);
  const all = lines.length > 1 ? [['', 'all', ...cellsOf(total)]] : [];
  return [...lines, ...all].map(([, ...cells], index) => [index === 0 ? name : '', ...cells]);
}

const phaseNames: ReadonlyMap<string, string> = new Map([
  ['phase1', 'phase 1'],
  ['phase2', 'phase 2'],
  ['unfinished', 'lost (at most)'],
]);

function cellsOf(spent: Spent): string[] {
  const share = cachedShare(spent);
  const { requests, input, output } = spent;
  return [String(requests), tokens(input), share === null ? '' : percent(share), tokens(output), money(spent)];
}

function limitLines({ now, usdPerMonth, forecast }: Cost): string[] {
  const left = leftOf(now, usdPerMonth);
  const used = `${money(now.total)} for ${tokens(tokensOf(now.total))} tokens`;
  return [
    `this month ${used}; ${left === null ? 'no limit is set (budget.usd_per_month)' : `of $${usdPerMonth}, so $${left.toFixed(2)} are left`}`,
    forecast === null
      ? 'forecast   none: the last two weeks cost nothing'
      : `forecast   ${forecastWords(forecast, now.total.unpriced > 0)}`,
    ...(now.total.unpriced > 0
      ? [`           ${tokens(now.total.unpriced)} tokens have no price: write model.prices into .github/memory.yml`]
      : []),
  ];
}

function forecastWords({ usd, tokens: all, days, nights, daysLeft, reachedOn }: Forecast, isUnpriced: boolean): string {
  const sum = isUnpriced ? `${tokens(all)} tokens` : `$${usd.toFixed(2)}, ${tokens(all)} tokens`;
  const span = days === 1 ? 'today alone' : `the last ${days} days`;
  const basis = `${nights} ${nights === 1 ? 'night' : 'nights'} of ${span}`;
  const limit = reachedOn === null ? '' : `; at this rate the limit is reached on ${reachedOn}`;
  return `${sum} by the end of the month, if the ${daysLeft} days left cost what a day did on the mean of ${basis}${limit}`;
}

function leftOf({ total }: Spending, usdPerMonth: number | null): number | null {
  return usdPerMonth === null ? null : Math.max(0, usdPerMonth - usdOf(total));
}

function spendingJson({ phases, total }: Spending): Record<string, unknown> {
  return {
    ...spentJson(total),
    phases: Object.fromEntries([...phases].map(([phase, spent]) => [phase, spentJson(spent)])),
  };
}

function spentJson(spent: Spent): Record<string, unknown> {
  const { requests, input, cached, output, unpriced } = spent;
  const usd = usdOf(spent);
  return { requests, input, cached, output, cached_share: cachedShare(spent), usd, unpriced_tokens: unpriced };
}

function money(spent: Spent): string {
  const usd = usdOf(spent);
  if (usd === 0 && spent.unpriced > 0) return 'no price';
  return `$${usd < 1 ? usd.toFixed(4) : usd.toFixed(2)}`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** Three digits are enough: `950`, `12.3 k`, `4.56 M`. */
function tokens(count: number): string {
  if (count < 1_000) return String(count);
  const [unit, value] = count < 999_500 ? ['k', count / 1_000] : ['M', count / 1_000_000];
  return `${value < 100 ? Number(value.toPrecision(3)) : Math.round(value)} ${unit}`;
}
