import { type EpochSeconds, isoTime, parseIsoTime } from '../shared/clock.ts';
import { byBinary } from '../shared/files.ts';
import { integer, oneOf, text } from './columns.ts';
import type { Row, State } from './database.ts';
import type { RunRow } from './types.ts';

/** By phase: `{requests, input, cached, output, micro_usd}`. */
export type UsageByPhase = RunRow['usage'];

/** Writes the night's line of the ledger; a night that is continued writes it anew. */
export function recordRun(state: State, run: RunRow): void {
  const usage = Object.entries(run.usage).map(([phase, sums]): [string, unknown] => [phase, sorted(integers(sums))]);
  state.run(
    `insert or replace into runs (run_id, started_at, finished_at, outcome, counts, usage, models, prompts_hash)
     values (:run_id, :started_at, :finished_at, :outcome, :counts, :usage, :models, :prompts_hash)`,
    {
      run_id: run.runId,
      started_at: run.startedAt,
      finished_at: run.finishedAt,
      outcome: run.outcome,
      counts: JSON.stringify(sorted(integers(run.counts))),
      usage: JSON.stringify(sorted(Object.fromEntries(usage))),
      models: run.models,
      prompts_hash: run.promptsHash,
    },
  );
}

/** Whether the ledger has a run's row. */
export function hasRun(state: State, runId: string): boolean {
  return state.all('select 1 from runs where run_id = :run_id', { run_id: runId }).length > 0;
}

/** The latest first. */
export function listRuns(state: State, limit: number): RunRow[] {
  const rows = state.all(
    `select run_id, started_at, finished_at, outcome, counts, usage, models, prompts_hash
     from runs order by started_at desc, run_id desc limit :limit`,
    { limit },
  );
  return rows.map(runFrom);
}

/** What the nights that started in `now`'s calendar month (UTC) used, by phase. */
export function usageThisMonth(state: State, now: EpochSeconds): UsageByPhase {
  const from = parseIsoTime(`${isoTime(now).slice(0, 7)}-01`) ?? now;
  const rows = state.all('select usage from runs where started_at >= :from and started_at <= :now', { from, now });
  const totals: Record<string, Record<string, number>> = {};
  for (const row of rows) {
    for (const [phase, sums] of Object.entries(usageFrom(row))) {
      const total = totals[phase] ?? {};
      totals[phase] = total;
      for (const [name, count] of Object.entries(sums)) total[name] = (total[name] ?? 0) + count;
    }
  }
  return totals;
}

/** Equal records are equal texts. */
function sorted(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => byBinary(a, b)));
}

function integers(counts: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  for (const [name, count] of Object.entries(counts))
    if (!Number.isSafeInteger(count)) throw new RangeError(`The ledger counts in integers: ${name} is ${count}.`);
  return counts;
}

function runFrom(row: Row): RunRow {
  return {
    runId: text(row, 'run_id'),
    startedAt: integer(row, 'started_at'),
    finishedAt: integer(row, 'finished_at'),
    outcome: oneOf(row, 'outcome', ['done', 'partly', 'failed', 'quiet']),
    counts: countsFrom(JSON.parse(text(row, 'counts'))),
    usage: usageFrom(row),
    models: text(row, 'models'),
    promptsHash: text(row, 'prompts_hash'),
  };
}

function usageFrom(row: Row): Record<string, Record<string, number>> {
  const parsed: unknown = JSON.parse(text(row, 'usage'));
  if (typeof parsed !== 'object' || parsed === null) return {};
  return Object.fromEntries(Object.entries(parsed).map(([phase, sums]) => [phase, countsFrom(sums)]));
}

function countsFrom(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  const entries: [string, unknown][] = Object.entries(value);
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}
