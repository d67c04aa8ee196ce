import { day, type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import type { State } from '../state/database.ts';
import { listRuns } from '../state/runs.ts';
import type { RunRow } from '../state/types.ts';

/** Tokens and money of one or more runs. `cached` is the part of `input` that a server had cached. */
export interface Spent {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Millionths of a dollar. */
  readonly microUsd: number;
  /** Input and output of what has no configured price. */
  readonly unpriced: number;
}

/** What a run, or a month of runs, used. Phases in binary order; `unfinished` is the whole allowance of a lost run. */
export interface Spending {
  readonly phases: ReadonlyMap<string, Spent>;
  readonly total: Spent;
}

export interface Cost {
  /** Runs that asked a model, the latest first. */
  readonly nights: readonly (Spending & { readonly runId: string; readonly startedAt: EpochSeconds })[];
  /** Calendar months (UTC) in which a model was asked, the latest first, and how many runs did. */
  readonly months: readonly (Spending & { readonly month: string; readonly nights: number })[];
  /** This month so far, an empty one too. */
  readonly now: Spending;
  /** Dollars that a month may cost; null without limit. */
  readonly usdPerMonth: number | null;
  /** null where nothing was spent lately: there is nothing to reckon with. */
  readonly forecast: Forecast | null;
}

/** What this month comes to if the days that are left cost as much as the last ones did. */
export interface Forecast {
  readonly tokens: number;
  readonly usd: number;
  /** Days that the mean is of, today included, and the runs in them that asked a model. */
  readonly days: number;
  readonly nights: number;
  readonly tokensPerDay: number;
  readonly usdPerDay: number;
  /** Days of this month after today. */
  readonly daysLeft: number;
  /** `YYYY-MM-DD` on which the month's limit is reached, at this rate; null if it is not. */
  readonly reachedOn: string | null;
}

/** What memory costs, from the ledger. A run that asked nobody is no row of it. */
export function costOf(state: State, usdPerMonth: number | null, now: EpochSeconds): Cost {
  const runs = listRuns(state, mostRuns).filter((run) => run.startedAt <= now && tokensOf(spentIn([run]).total) > 0);
  const month = monthOf(now);
  const names = [...new Set(runs.map(({ startedAt }) => monthOf(startedAt)))].sort((a, b) => byBinary(b, a));
  const ofMonth = (name: string) => runs.filter(({ startedAt }) => monthOf(startedAt) === name);
  const thisMonth = spentIn(ofMonth(month));
  return {
    nights: runs.map((run) => ({ runId: run.runId, startedAt: run.startedAt, ...spentIn([run]) })),
    months: names.map((name) => ({ month: name, nights: ofMonth(name).length, ...spentIn(ofMonth(name)) })),
    now: thisMonth,
    usdPerMonth,
    forecast: forecastOf(runs, thisMonth.total, usdPerMonth, now),
  };
}

export function tokensOf({ input, output }: Spent): number {
  return input + output;
}

export function usdOf({ microUsd }: Spent): number {
  return microUsd / 1_000_000;
}

/** A server's cache answered this share of the input; null where nothing was sent. */
export function cachedShare({ input, cached }: Spent): number | null {
  return input === 0 ? null : cached / input;
}

/** More than the ledger ever holds. */
const mostRuns = 100_000;

/** What came before says little of what comes. */
const recentDays = 14;

const nothing: Spent = { requests: 0, input: 0, cached: 0, output: 0, microUsd: 0, unpriced: 0 };

function spentIn(runs: readonly RunRow[]): Spending {
  const phases = new Map<string, Spent>();
  for (const { usage } of runs)
    for (const [phase, sums] of Object.entries(usage)) phases.set(phase, added(phases.get(phase) ?? nothing, sums));
  const ordered = [...phases].filter(([, spent]) => tokensOf(spent) > 0).sort(([a], [b]) => byBinary(a, b));
  return { phases: new Map(ordered), total: ordered.reduce((sum, [, spent]) => plus(sum, spent), nothing) };
}

function added(before: Spent, sums: Readonly<Record<string, number>>): Spent {
  const { requests = 0, input = 0, cached = 0, output = 0, micro_usd: microUsd = 0 } = sums;
  const unpriced = microUsd === 0 ? input + output : 0;
  return plus(before, { requests, input, cached, output, microUsd, unpriced });
}

function plus(a: Spent, b: Spent): Spent {
  return {
    requests: a.requests + b.requests,
    input: a.input + b.input,
    cached: a.cached + b.cached,
    output: a.output + b.output,
    microUsd: a.microUsd + b.microUsd,
    unpriced: a.unpriced + b.unpriced,
  };
}

function forecastOf(
  runs: readonly RunRow[],
  spent: Spent,
  usdPerMonth: number | null,
  now: EpochSeconds,
): Forecast | null {
  const today = startOfDay(now);
  const recent = runs.filter(({ startedAt }) => startedAt >= today - (recentDays - 1) * day);
  const first = recent.at(-1);
  if (first === undefined) return null;
  const days = (today - startOfDay(first.startedAt)) / day + 1;
  const { total } = spentIn(recent);
  const [tokensPerDay, usdPerDay] = [tokensOf(total) / days, usdOf(total) / days];
  const daysLeft = daysLeftAfter(now);
  const usd = usdOf(spent) + usdPerDay * daysLeft;
  return {
    tokens: Math.round(tokensOf(spent) + tokensPerDay * daysLeft),
    usd,
    days,
    nights: recent.length,
    tokensPerDay: Math.round(tokensPerDay),
    usdPerDay,
    daysLeft,
    reachedOn:
      usdPerMonth !== null && usd > usdPerMonth ? dateAfter(now, (usdPerMonth - usdOf(spent)) / usdPerDay) : null,
  };
}

/** @param days until the limit, which may be passed already. */
function dateAfter(now: EpochSeconds, days: number): string {
  return isoTime(now + Math.max(0, Math.floor(days)) * day).slice(0, 10);
}

function monthOf(at: EpochSeconds): string {
  return isoTime(at).slice(0, 7);
}

function startOfDay(at: EpochSeconds): EpochSeconds {
  return Math.floor(at / day) * day;
}

function daysLeftAfter(now: EpochSeconds): number {
  const [year = 0, month = 0] = monthOf(now).split('-').map(Number);
  const next = month === 12 ? `${year + 1}-01-01` : `${year}-${String(month + 1).padStart(2, '0')}-01`;
  return Math.round(((parseIsoTime(next) ?? now) - startOfDay(now)) / day) - 1;
}
